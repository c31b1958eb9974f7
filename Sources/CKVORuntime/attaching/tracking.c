// Tracking: a binding's computed key is derived from whatever its getter reads (F5).
//
// The derivation of a tracked key has one chain, of a single key, for each property that its getter read last, of
// whatever object. The chains are sorted by object and key. Tracking reads the key, which is the user's code and runs
// without a lock, and afterwards replaces the chains under the graph lock. Chains of properties that are still read
// stay, new ones are attached by the caller (attachment.c), the others end. If several threads track one key, the one
// that began last wins, as with links.
//
// A property may change after the getter read it but before it has a link. That change would be lost. So the
// derivation is settled only when each of its chains had been placed before the reading that chose the chains began.
// A chain stores the ticket of the moment when it was placed, whichever thread did that. A reading fences itself if
// it finds that something was placed and not yet fenced.
//
// A getter usually reads the same properties in the same order. So a settled derivation keeps that order, and the
// next reading compares each read with it, by address. While they are equal, nothing is recorded, sorted or merged.
// If all are equal and no other thread is working on the derivation, it stays settled, as if this reading had
// installed the same chains. A path of stored properties has a route (route.c), which shows without a reading that
// the path would read the same properties.
#include "attaching/kvo_attachment.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "graph/kvo_route.h"

#include <stdlib.h>
#include <string.h>

// MARK: Reads

static bool make_room(kvo_reads *reads) {
  if (reads->count < reads->capacity) return true;
  kvo_read *items =
      kvo_grow(reads->items, reads->count, reads->count + 8, sizeof *items, &reads->capacity);
  if (items) reads->items = items;
  return items;
}

static void add(kvo_reads *reads, kvo_read read) {
  const kvo_read *last = reads->count ? &reads->items[reads->count - 1] : NULL;
  if (last && last->object == read.object && last->key == read.key) return;
  if (!make_room(reads)) {
    reads->is_short = true;
    return;
  }
  if (read.operations->try_retain(read.object)) // else it is dying and will hardly change
    reads->items[reads->count++] = read;
}

static kvo_sequence *take_expected(kvo_reads *reads) {
  kvo_sequence *expected = reads->expected;
  reads->expected = NULL;
  return expected;
}

// The getter reads something other than last time: the reads that were equal so far are recorded after all.
static void diverge(kvo_reads *reads) {
  kvo_sequence *expected = take_expected(reads);
  for (size_t i = 0; expected && i < reads->matched; i++) add(reads, expected->reads[i]);
  kvo_sequence_free(expected);
}

static bool is_same(const kvo_read *read, const kvo_object *object, const char *key) {
  return read->object == object && read->key == key;
}

// Whether the read is the next one expected, or a repetition of the last one.
static bool is_expected(kvo_reads *reads, const kvo_read *read) {
  kvo_read *next = reads->expected->reads + reads->matched;
  if (reads->matched < reads->expected->count && is_same(next, read->object, read->key)) {
    if (read->token) next->token = read->token;
    reads->matched++;
    return true;
  }
  return reads->matched && is_same(next - 1, read->object, read->key);
}

static void note(kvo_reads *reads, kvo_read read) {
  if (reads->expected && is_expected(reads, &read)) return;
  if (reads->expected) diverge(reads);
  read.operations = kvo_class_of(read.object)->operations;
  add(reads, read);
}

void kvo_reads_add_known(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *token) {
  note(reads, (kvo_read){.object = object, .key = interned_key, .token = token});
}

void kvo_reads_add_step(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *token, const void *place) {
  note(reads, (kvo_read){.object = object, .key = interned_key, .token = token, .place = place});
}

size_t kvo_reads_count(const kvo_reads *reads) {
  return reads->expected ? reads->matched : reads->count;
}

void kvo_reads_are_path(kvo_reads *reads, size_t count, ptrdiff_t offset) {
  reads->path_length = count;
  reads->reference_offset = offset;
}

void kvo_reads_add(kvo_reads *reads, kvo_object *object, const char *interned_key) {
  kvo_reads_add_known(reads, object, interned_key, NULL);
}

bool kvo_reads_follow(kvo_reads *reads, const kvo_object *object, const void *token) {
  const kvo_sequence *expected = reads->expected;
  if (KVO_UNLIKELY(!expected) || KVO_UNLIKELY(reads->matched == expected->count)) return false;
  const kvo_read *next = expected->reads + reads->matched;
  if (KVO_UNLIKELY(next->object != object) || KVO_UNLIKELY(next->token != token)) return false;
  reads->matched++;
  return true;
}

kvo_value *kvo_reads_answer(kvo_reads *reads) {
  kvo_answer *answer = reads->answer;
  if (!answer) return NULL;
  kvo_answer_destroy(answer);
  answer->value = KVO_VALUE_NIL;
  answer->is_read = true;
  return &answer->value;
}

void kvo_answer_destroy(kvo_answer *answer) {
  if (answer->is_read) kvo_value_destroy(&answer->value);
  answer->is_read = false;
}

// Retains the memory of the objects, which the items still hold.
static void hold(kvo_sequence *sequence) {
  for (size_t i = 0; i < sequence->count; i++)
    sequence->reads[i].operations->unowned_retain(sequence->reads[i].object);
}

void kvo_reads_destroy(kvo_reads *reads) {
  for (size_t i = 0; i < reads->count; i++) kvo_object_release(reads->items[i].object);
  kvo_free(reads->items);
  kvo_free(reads->made);
  kvo_sequence_free(reads->expected);
  kvo_route_release(reads->route);
  *reads = (kvo_reads){0};
}

static int compare(const kvo_object *object, const char *key, const kvo_read *read) {
  uintptr_t left = (uintptr_t)object, right = (uintptr_t)read->object;
  if (left == right) left = (uintptr_t)key, right = (uintptr_t)read->key;
  return (left > right) - (left < right);
}

static int compare_reads(const void *a, const void *b) {
  const kvo_read *left = a;
  return compare(left->object, left->key, b);
}

static void sort_once(kvo_reads *reads) {
  if (reads->count) qsort(reads->items, reads->count, sizeof *reads->items, compare_reads);
  size_t count = 0;
  for (size_t i = 0; i < reads->count; i++) {
    bool again = count && !compare_reads(&reads->items[count - 1], &reads->items[i]);
    if (again) kvo_object_release(reads->items[i].object);
    else reads->items[count++] = reads->items[i];
  }
  reads->count = count;
}

// MARK: Reading

typedef struct {
  kvo_object *object; // retained
  uint64_t ticket;
  uint64_t placed;    // the derivation's `placed` when the reading began
  uint64_t installed; // the derivation's `installed` at that time
} reading;

// Begins a reading: retains the derivation's object, if both are alive, and takes a ticket.
static bool begin(kvo_attachment *attachment, kvo_derivation *derivation, reading *begun) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->ended || !derivation->operations->try_retain(derivation->object)) return false;
  kvo_attachment_enter_locked(attachment);
  *begun = (reading){
      derivation->object, ++derivation->issued, derivation->placed, derivation->installed};
  attachment->reads.expected = derivation->sequence;
  attachment->reads.epoch = kvo_classes_now();
  derivation->sequence = NULL;
  if (derivation->placed != derivation->fenced) attachment->has_placed = true;
  return true;
}

// Whether an observer of the key gets its new value. If one asks for distinct changes, the value is read later
// (distinct.c).
static bool is_wanted(kvo_object *object, uintptr_t id) {
  kvo_observers observers = kvo_object_observers(object, id);
  uint32_t options = observers ? kvo_observers_options(observers) : 0;
  return options & KVO_NEW && !(options & KVO_DISTINCT);
}

static bool read(const kvo_derivation *derivation, kvo_object *object, kvo_reads *reads) {
  kvo_frame *frame = kvo_frame_push_held(object);
  if (!frame) return false;
  kvo_frame_reads(frame, derivation->accessors->id);
  const kvo_property_description *property =
      kvo_accessors_property(kvo_accessors_current(derivation->accessors));
  uint64_t shortages = kvo_shortages;
  if (reads->answer) kvo_answer_destroy(reads->answer); // an earlier reading's
  if (!is_wanted(object, derivation->accessors->id)) reads->answer = NULL;
  if (property && property->track) property->track(object, property->binding, reads);
  if (kvo_shortages != shortages) reads->is_short = true;
  if (reads->is_short && reads->answer) kvo_answer_destroy(reads->answer);
  kvo_frame_pop(frame);
  return true;
}

// Copies the reads in their order, before the items are sorted. If memory is out, the next reading is recorded as
// well.
static void note_sequence(kvo_reads *reads) {
  uint64_t shortages = kvo_shortages;
  size_t size = reads->count * sizeof *reads->items;
  reads->made = reads->is_short ? NULL : kvo_alloc(sizeof *reads->made + size);
  kvo_shortages = shortages;
  if (!reads->made) return;
  reads->made->count = reads->count;
  if (size) memcpy(reads->made->reads, reads->items, size);
}

static void drop_route_locked(kvo_derivation *derivation) {
  kvo_route_release(derivation->route);
  derivation->route = NULL;
}

// MARK: Chains

static kvo_chain *make_chain(kvo_derivation *derivation, const kvo_read *read) {
  const kvo_key_path *path = kvo_key_path_of_key(read->key);
  return path ? kvo_chain_make(read->object, path, derivation->accessors, derivation) : NULL;
}

static const char *key_of(const kvo_chain *chain) { return chain->path->components[0].key; }

// Merges the reads with the existing chains. Chains that stay are moved to `chains` and leave gaps in the old array.
// If memory is out, a property is not followed.
static uint32_t merge_locked(kvo_derivation *derivation, kvo_reads *reads, kvo_chain **chains) {
  uint32_t count = 0, old = 0;
  for (size_t i = 0; i < reads->count; i++) {
    const kvo_read *read = &reads->items[i];
    int order = 1;
    for (; old < derivation->count; old++) {
      const kvo_chain *known = derivation->chains[old];
      order = known->ended ? -1 : compare(known->root, key_of(known), read);
      if (order >= 0) break;
    }
    bool stays = old < derivation->count && order == 0;
    kvo_chain *chain = stays ? derivation->chains[old] : make_chain(derivation, read);
    if (stays) derivation->chains[old++] = NULL;
    if (chain) chains[count++] = chain;
    else reads->is_short = true;
  }
  return count;
}

static void end_chain_locked(kvo_chain *chain, kvo_retired **retired) {
  chain->ended = true;
  kvo_link *first = chain->first;
  if (first) kvo_entry_end_locked(&first->entry, retired);
  kvo_chain_release(chain);
}

static int compare_chains(const void *a, const void *b) {
  const kvo_chain *left = *(kvo_chain *const *)a, *right = *(kvo_chain *const *)b;
  return compare(left->root, key_of(left),
      &(kvo_read){.object = right->root, .key = key_of(right)});
}

// If the new reads are not known completely, the old chains are kept: the key is read again at the next change of any
// of them.
static uint32_t keep_old_locked(const kvo_derivation *derivation, kvo_chain **chains,
    uint32_t count) {
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *old = derivation->chains[i];
    if (!old || old->ended) continue;
    chains[count++] = old;
    derivation->chains[i] = NULL;
  }
  qsort(chains, count, sizeof *chains, compare_chains);
  return count;
}

// The new chains are in place before the old ones end, because that may end this derivation too.
static void replace_locked(kvo_derivation *derivation, kvo_reads *reads, kvo_chain **chains,
    kvo_retired **retired) {
  uint32_t count = merge_locked(derivation, reads, chains), old_count = derivation->count;
  if (reads->is_short) count = keep_old_locked(derivation, chains, count);
  kvo_chain **old = derivation->chains;
  derivation->chains = chains;
  derivation->count = count;
  for (uint32_t i = 0; i < old_count; i++)
    if (old[i]) end_chain_locked(old[i], retired);
  kvo_free(old);
}

// Makes room for both the new and the old chains. If memory is out, nothing changes.
static bool install(kvo_attachment *attachment, kvo_derivation *derivation, const reading *done) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->ended) return false;
  if (done->placed > derivation->fenced) derivation->fenced = done->placed;
  if (done->ticket <= derivation->installed) return true;
  size_t room = attachment->reads.count + derivation->count;
  kvo_chain **chains = kvo_alloc(room * sizeof *chains + 1);
  if (!chains) return false;
  derivation->installed = done->ticket;
  drop_route_locked(derivation);
  replace_locked(derivation, &attachment->reads, chains, &attachment->retired);
  return true;
}

// MARK: Unchanged reads

static bool is_whole(const kvo_reads *reads) {
  return reads->expected && reads->matched == reads->expected->count && !reads->is_short;
}

static bool may_stay_locked(const kvo_derivation *derivation, const reading *done) {
  bool is_last = derivation->issued == done->ticket && derivation->installed == done->installed;
  return is_last && derivation->state == KVO_ATTACHED &&
         !kvo_presence_has_others_locked(&derivation->attachers);
}

// Whether the reads are exactly those at which the chains are placed. Then the reading counts as installed.
static bool stays(kvo_attachment *attachment, kvo_derivation *derivation, const reading *done) {
  if (!is_whole(&attachment->reads)) return false;
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->ended || !may_stay_locked(derivation, done)) return false;
  if (done->placed > derivation->fenced) derivation->fenced = done->placed;
  derivation->installed = done->ticket;
  derivation->sequence = take_expected(&attachment->reads);
  if (derivation->route) kvo_route_renew(derivation->route, attachment->reads.epoch);
  return true;
}

static bool stands_at_all(const kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++)
    if (derivation->chains[i]->ended || !derivation->chains[i]->first) return false;
  return true;
}

// Stores the route in the chain at the path's last property, unless that chain has a route already. In that case
// changes of the property take the slow path.
static void keep_route_locked(kvo_derivation *derivation, kvo_route *route) {
  const kvo_sequence *sequence = derivation->sequence;
  const kvo_read *last = &sequence->reads[sequence->count - 1];
  drop_route_locked(derivation);
  derivation->route = route;
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *chain = derivation->chains[i];
    bool is_last = !compare(chain->root, key_of(chain), last);
    if (is_last && !chain->route)
      __atomic_store_n(&chain->route, kvo_route_retain(route), __ATOMIC_RELEASE);
  }
}

void kvo_attachment_keep_sequence_locked(kvo_attachment *attachment, kvo_derivation *derivation) {
  kvo_sequence *made = attachment->reads.made;
  bool is_installed = derivation->installed == attachment->ticket && !derivation->ended;
  if (!made || derivation->sequence || !is_installed || !stands_at_all(derivation)) return;
  hold(made);
  attachment->reads.made = NULL;
  derivation->sequence = made;
  if (attachment->reads.route) keep_route_locked(derivation, attachment->reads.route);
  attachment->reads.route = NULL;
}

bool kvo_derivation_is_current(kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  bool is_settled = derivation->sequence && derivation->state == KVO_ATTACHED &&
                    !derivation->ended && derivation->placed == derivation->fenced;
  return is_settled && derivation->route && kvo_route_is_current(derivation->route);
}

bool kvo_attachment_track(kvo_attachment *attachment, kvo_derivation *derivation) {
  reading reading;
  kvo_reads *reads = &attachment->reads;
  if (!begin(attachment, derivation, &reading)) return false;
  attachment->ticket = reading.ticket;
  reads->answer = attachment->answer;
  kvo_attachment_settle(attachment);
  if (!read(derivation, reading.object, reads)) return false;
  if (attachment->answer) attachment->answer->ticket = reading.ticket;
  if (stays(attachment, derivation, &reading)) return false;
  diverge(reads);
  note_sequence(reads);
  reads->route = kvo_route_make(derivation, reads);
  sort_once(reads);
  return install(attachment, derivation, &reading);
}
