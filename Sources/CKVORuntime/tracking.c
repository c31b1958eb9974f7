// Tracking: what a computed key of a binding reads is what it is derived from.
//
// The derivation of a tracked key has a chain of a single key for each property that its getter
// read last, of whatever object, sorted by object and key. Tracking reads the key, which is the
// user's code and runs without a lock, and replaces the chains under the graph lock afterwards:
// those of what is still read stay, those of what is new are wired by the caller (wiring.c), the
// others end. Of several threads that track one key the one that began last wins, as with links.
//
// What is read may be set before it is stood at, and nobody told. So the derivation is settled only
// when each of its chains had come to stand where it does before the reading began by which they
// were chosen. A chain remembers the ticket of that moment, whichever thread has placed it, and a
// reading that finds anything placed and not yet fenced fences it itself.
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_thread.h"
#include "kvo_wiring.h"

#include <stdlib.h>

// MARK: Reads

static bool make_room(kvo_reads *reads) {
  if (reads->count < reads->capacity) return true;
  kvo_read *items =
      kvo_grow(reads->items, reads->count, reads->count + 8, sizeof *items, &reads->capacity);
  if (items) reads->items = items;
  return items;
}

void kvo_reads_add(kvo_reads *reads, kvo_object *object, const char *interned_key) {
  const kvo_read *last = reads->count ? &reads->items[reads->count - 1] : NULL;
  if (last && last->object == object && last->key == interned_key) return;
  if (!make_room(reads)) {
    reads->is_short = true;
    return;
  }
  if (kvo_class_of(object)
          ->operations->try_retain(object)) // else it is dying: it can't change much
    reads->items[reads->count++] = (kvo_read){object, interned_key};
}

void kvo_reads_destroy(kvo_reads *reads) {
  for (size_t i = 0; i < reads->count; i++) kvo_object_release(reads->items[i].object);
  kvo_free(reads->items);
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
  kvo_object *object; // held
  uint64_t ticket;
  uint64_t placed; // what the derivation had placed by then
} reading;

// Holds the derivation's object, if both live, and takes a ticket.
static bool begin(kvo_wiring *wiring, kvo_derivation *derivation, reading *begun) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->ended || !derivation->operations->try_retain(derivation->object)) return false;
  kvo_wiring_enter_locked(wiring);
  *begun = (reading){derivation->object, ++derivation->issued, derivation->placed};
  if (derivation->placed != derivation->fenced) wiring->has_placed = true;
  return true;
}

// A frame holds the object while the user's code runs: it lets go, should that throw.
static bool read(const kvo_derivation *derivation, kvo_object *object, kvo_reads *reads) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    kvo_object_release(object);
    return false;
  }
  frame->flags |= KVO_FRAME_RETAINED;
  kvo_frame_reads(frame, derivation->accessors->id);
  const kvo_property_description *property = kvo_accessors_current(derivation->accessors)->property;
  uint64_t shortages = kvo_shortages;
  if (property && property->track) property->track(object, property->binding, reads);
  if (kvo_shortages != shortages) reads->is_short = true;
  kvo_frame_pop(frame);
  sort_once(reads);
  return true;
}

// MARK: Chains

static kvo_chain *make_chain(kvo_derivation *derivation, const kvo_read *read) {
  const kvo_key_path *path = kvo_key_path_parse(read->key, NULL, NULL);
  return path ? kvo_chain_make(read->object, path, derivation->accessors, derivation) : NULL;
}

static const char *key_of(const kvo_chain *chain) { return chain->path->components[0].key; }

// Merges what was read with the chains that there are: those that stay are taken over, and gaps are
// left where they were. Where memory runs out a property is not followed.
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
  return compare(left->root, key_of(left), &(kvo_read){right->root, key_of(right)});
}

// What was read before is followed on where it is not known what is read now: the key is read again
// after the next change of any of it.
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

// The new chains are in place before the old ones end, which may end this derivation as well.
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

// With room for both what is read now and what was read before. Without memory all stays as it is.
static bool install(kvo_wiring *wiring, kvo_derivation *derivation, const reading *done) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->ended) return false;
  if (done->placed > derivation->fenced) derivation->fenced = done->placed;
  if (done->ticket <= derivation->installed) return true;
  size_t room = wiring->reads.count + derivation->count;
  kvo_chain **chains = kvo_alloc(room * sizeof *chains + 1);
  if (!chains) return false;
  derivation->installed = done->ticket;
  replace_locked(derivation, &wiring->reads, chains, &wiring->retired);
  return true;
}

bool kvo_wiring_track(kvo_wiring *wiring, kvo_derivation *derivation) {
  reading reading;
  if (!begin(wiring, derivation, &reading)) return false;
  kvo_wiring_settle(wiring);
  return read(derivation, reading.object, &wiring->reads) && install(wiring, derivation, &reading);
}
