// Tracking: a binding's computed key is derived from whatever its getter reads (F5).
//
// The dependent key of a tracked key has one path observation, of a single key, for each property that its getter read
// last, of whatever object. The path observations are sorted by object and key. Tracking reads the key, which is the
// user's code and runs without a lock, and afterwards replaces the path observations under the graph lock. Path
// observations of properties that are still read stay, new ones are attached by the caller (path_tasks.c), the others
// end. If several threads track one key, the one that began last wins, as with nodes.
//
// A property may change after the getter read it but before it has a node. That change would be lost. So the dependent
// key is settled only when each of its path observations had been placed before the reading that chose the path
// observations began. A path observation stores the ticket of the moment when it was placed, whichever thread did that.
// A reading fences itself if it finds that something was placed and not yet fenced.
//
// A getter usually reads the same properties in the same order. So a settled dependent key keeps that order, and the
// next reading compares each read with it, by address. While they are equal, nothing is recorded, sorted or merged. If
// all are equal and no other thread is working on the dependent key, it stays settled, as if this reading had installed
// the same path observations. A path of stored properties has a path cache (path_cache.c), which shows without a
// reading that the path would read the same properties.
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "graph/kvo_path_cache.h"
#include "paths/kvo_path_worklist.h"

#include <stdlib.h>
#include <string.h>

// MARK: Reads

static bool tracking_make_room(kvo_reads *reads) {
  if (reads->count < reads->capacity) return true;
  kvo_read *items =
      kvo_grow(reads->items, reads->count, reads->count + 8, sizeof *items, &reads->capacity);
  if (items) reads->items = items;
  return items;
}

static void tracking_add(kvo_reads *reads, kvo_read read) {
  const kvo_read *last = reads->count ? &reads->items[reads->count - 1] : NULL;
  if (last && last->object == read.object && last->key == read.key) return;
  if (!tracking_make_room(reads)) {
    reads->ran_out_of_memory = true;
    return;
  }
  if (read.operations->try_retain(read.object)) // else it is dying and will hardly change
    reads->items[reads->count++] = read;
}

static kvo_last_reads *take_expected(kvo_reads *reads) {
  kvo_last_reads *expected = reads->expected;
  reads->expected = NULL;
  return expected;
}

// Records the reads that were equal to last time's so far, because the getter reads something else now, or the reading
// has ended before the last expected one.
static void record_matched(kvo_reads *reads) {
  kvo_last_reads *expected = take_expected(reads);
  for (size_t i = 0; expected && i < reads->matched; i++) tracking_add(reads, expected->reads[i]);
  kvo_last_reads_free(expected);
}

static bool is_same(const kvo_read *read, const kvo_object *object, const char *key) {
  return read->object == object && read->key == key;
}

// Takes the read for the next one expected, or for a repetition of the last one. False if it is neither.
static bool match_expected(kvo_reads *reads, const kvo_read *read) {
  kvo_read *next = reads->expected->reads + reads->matched;
  if (reads->matched < reads->expected->count && is_same(next, read->object, read->key)) {
    if (read->token) next->token = read->token;
    reads->matched++;
    return true;
  }
  return reads->matched && is_same(next - 1, read->object, read->key);
}

static void tracking_note(kvo_reads *reads, kvo_read read) {
  if (reads->expected && match_expected(reads, &read)) return;
  if (reads->expected) record_matched(reads);
  read.operations = kvo_class_of(read.object)->operations;
  tracking_add(reads, read);
}

void kvo_reads_add_known(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *token) {
  tracking_note(reads, (kvo_read){.object = object, .key = interned_key, .token = token});
}

void kvo_reads_add_step(kvo_reads *reads, kvo_object *object, const char *interned_key,
    const void *token, const void *storage) {
  tracking_note(reads,
      (kvo_read){.object = object, .key = interned_key, .token = token, .storage = storage});
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
  const kvo_last_reads *expected = reads->expected;
  if (KVO_UNLIKELY(!expected) || KVO_UNLIKELY(reads->matched == expected->count)) return false;
  const kvo_read *next = expected->reads + reads->matched;
  if (KVO_UNLIKELY(next->object != object) || KVO_UNLIKELY(next->token != token)) return false;
  reads->matched++;
  return true;
}

kvo_value *kvo_reads_result(kvo_reads *reads) {
  kvo_read_result *result = reads->result;
  if (!result) return NULL;
  kvo_read_result_destroy(result);
  result->value = KVO_VALUE_NIL;
  result->is_read = true;
  return &result->value;
}

void kvo_read_result_destroy(kvo_read_result *result) {
  if (result->is_read) kvo_value_destroy(&result->value);
  result->is_read = false;
}

// Retains the memory of the objects, which the items still hold.
static void retain_memory(kvo_last_reads *last_reads) {
  for (size_t i = 0; i < last_reads->count; i++)
    last_reads->reads[i].operations->unowned_retain(last_reads->reads[i].object);
}

void kvo_reads_destroy(kvo_reads *reads) {
  for (size_t i = 0; i < reads->count; i++) kvo_object_release(reads->items[i].object);
  kvo_free(reads->items);
  kvo_free(reads->sequence);
  kvo_last_reads_free(reads->expected);
  kvo_path_cache_release(reads->path_cache);
  *reads = (kvo_reads){0};
}

static int tracking_compare(const kvo_object *object, const char *key, const kvo_read *read) {
  uintptr_t left = (uintptr_t)object, right = (uintptr_t)read->object;
  if (left == right) left = (uintptr_t)key, right = (uintptr_t)read->key;
  return (left > right) - (left < right);
}

static int compare_reads(const void *a, const void *b) {
  const kvo_read *left = a;
  return tracking_compare(left->object, left->key, b);
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
  uint64_t insertions; // the dependent key's `insertions` when the reading began
  uint64_t installed;  // the dependent key's `installed` at that time
} reading;

// Begins a reading: retains the dependent key's object, if both are alive, and takes a ticket.
static bool tracking_begin(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    reading *begun) {
  KVO_LOCKED(&kvo_graph_lock);
  if (dependent_key->ended || !dependent_key->operations->try_retain(dependent_key->object))
    return false;
  kvo_path_worklist_enter_locked(worklist);
  *begun = (reading){dependent_key->object, ++dependent_key->issued, dependent_key->insertions,
      dependent_key->installed};
  worklist->reads.expected = dependent_key->last_reads;
  worklist->reads.epoch = kvo_classes_now();
  dependent_key->last_reads = NULL;
  if (dependent_key->insertions != dependent_key->fenced) worklist->has_inserted = true;
  return true;
}

// Whether an observer of the key gets its new value. If one asks for distinct changes, the value is read later
// (distinct.c).
static bool is_wanted(kvo_object *object, uintptr_t id) {
  kvo_observers observers = kvo_object_observers(object, id);
  uint32_t options = observers ? kvo_observers_options(observers) : 0;
  return options & KVO_NEW && !(options & KVO_DISTINCT);
}

static bool tracking_read(const kvo_dependent_key *dependent_key, kvo_object *object,
    kvo_reads *reads) {
  kvo_frame *frame = kvo_frame_push_held(object);
  if (!frame) return false;
  kvo_frame_reads(frame, dependent_key->accessors->id);
  const kvo_property_description *property =
      kvo_accessors_property(kvo_accessors_current(dependent_key->accessors));
  uint64_t shortages = kvo_shortages;
  if (reads->result) kvo_read_result_destroy(reads->result); // an earlier reading's
  if (!is_wanted(object, dependent_key->accessors->id)) reads->result = NULL;
  if (property && property->track) property->track(object, property->binding, reads);
  if (kvo_shortages != shortages) reads->ran_out_of_memory = true;
  if (reads->ran_out_of_memory && reads->result) kvo_read_result_destroy(reads->result);
  kvo_frame_pop(frame);
  return true;
}

// Copies the reads in their order, before the items are sorted. If there is no memory, the next reading is recorded
// as well.
static void note_last_reads(kvo_reads *reads) {
  uint64_t shortages = kvo_shortages;
  size_t size = reads->count * sizeof *reads->items;
  reads->sequence = reads->ran_out_of_memory ? NULL : kvo_alloc(sizeof *reads->sequence + size);
  kvo_shortages = shortages;
  if (!reads->sequence) return;
  reads->sequence->count = reads->count;
  if (size) memcpy(reads->sequence->reads, reads->items, size);
}

static void drop_path_cache_locked(kvo_dependent_key *dependent_key) {
  kvo_path_cache_release(dependent_key->path_cache);
  dependent_key->path_cache = NULL;
}

// Another thread may have kept its reads after this reading began (I3).
static void drop_last_reads_locked(kvo_dependent_key *dependent_key) {
  kvo_last_reads_free(dependent_key->last_reads);
  dependent_key->last_reads = NULL;
}

// MARK: Path observations

static kvo_path_observation *make_observation(kvo_dependent_key *dependent_key,
    const kvo_read *read) {
  const kvo_key_path *path = kvo_key_path_of_key(read->key);
  return path ? kvo_path_observation_make(read->object, path, dependent_key->accessors,
                    dependent_key)
              : NULL;
}

static const char *tracking_key_of(const kvo_path_observation *observation) {
  return observation->path->components[0].key;
}

// Merges the reads with the existing path observations. Path observations that stay are moved to `path_observations`
// and leave gaps in the old array. If there is no memory, a property is not followed.
static uint32_t merge_observations_locked(kvo_dependent_key *dependent_key, kvo_reads *reads,
    kvo_path_observation **observations) {
  uint32_t count = 0, old = 0;
  for (size_t i = 0; i < reads->count; i++) {
    const kvo_read *read = &reads->items[i];
    int order = 1;
    for (; old < dependent_key->count; old++) {
      const kvo_path_observation *known = dependent_key->path_observations[old];
      order = known->ended ? -1 : tracking_compare(known->root, tracking_key_of(known), read);
      if (order >= 0) break;
    }
    bool stays = old < dependent_key->count && order == 0;
    kvo_path_observation *observation =
        stays ? dependent_key->path_observations[old] : make_observation(dependent_key, read);
    if (stays) dependent_key->path_observations[old++] = NULL;
    if (observation) observations[count++] = observation;
    else reads->ran_out_of_memory = true;
  }
  return count;
}

static void end_observation_locked(kvo_path_observation *observation, kvo_retired **retired) {
  observation->ended = true;
  kvo_path_node *first = observation->first;
  if (first) kvo_entry_end_locked(&first->entry, retired);
  kvo_path_observation_release(observation);
}

static int compare_observations(const void *a, const void *b) {
  const kvo_path_observation *left = *(kvo_path_observation *const *)a,
                             *right = *(kvo_path_observation *const *)b;
  return tracking_compare(left->root, tracking_key_of(left),
      &(kvo_read){.object = right->root, .key = tracking_key_of(right)});
}

// If the new reads are not known completely, the old path observations are kept: the key is read again at the next
// change of any of them.
static uint32_t add_old_observations_locked(const kvo_dependent_key *dependent_key,
    kvo_path_observation **observations, uint32_t count) {
  for (uint32_t i = 0; i < dependent_key->count; i++) {
    kvo_path_observation *old = dependent_key->path_observations[i];
    if (!old || old->ended) continue;
    observations[count++] = old;
    dependent_key->path_observations[i] = NULL;
  }
  qsort(observations, count, sizeof *observations, compare_observations);
  return count;
}

// The new path observations are in place before the old ones end, because that may end this dependent key too.
static void replace_observations_locked(kvo_dependent_key *dependent_key, kvo_reads *reads,
    kvo_path_observation **observations, kvo_retired **retired) {
  uint32_t count = merge_observations_locked(dependent_key, reads, observations),
           old_count = dependent_key->count;
  if (reads->ran_out_of_memory)
    count = add_old_observations_locked(dependent_key, observations, count);
  kvo_path_observation **old = dependent_key->path_observations;
  dependent_key->path_observations = observations;
  dependent_key->count = count;
  for (uint32_t i = 0; i < old_count; i++)
    if (old[i]) end_observation_locked(old[i], retired);
  kvo_free(old);
}

// Replaces the path observations by those of the new reads, unless a later reading has been installed. There is room
// for both the new and the old ones, in case the old ones are kept. If there is no memory, nothing changes.
static bool install_changed(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    const reading *done) {
  KVO_LOCKED(&kvo_graph_lock);
  if (dependent_key->ended) return false;
  if (done->insertions > dependent_key->fenced) dependent_key->fenced = done->insertions;
  if (done->ticket <= dependent_key->installed) return true;
  size_t room = worklist->reads.count + dependent_key->count;
  kvo_path_observation **observations = kvo_alloc(room * sizeof *observations + 1);
  if (!observations) return false;
  dependent_key->installed = done->ticket;
  drop_last_reads_locked(dependent_key);
  drop_path_cache_locked(dependent_key);
  replace_observations_locked(dependent_key, &worklist->reads, observations, &worklist->retired);
  return true;
}

// MARK: Unchanged reads

static bool all_are_matched(const kvo_reads *reads) {
  return reads->expected && reads->matched == reads->expected->count && !reads->ran_out_of_memory;
}

// Whether no other reading has begun since this one, and none has been installed, and no other thread may have placed
// nodes that it has not followed.
static bool is_latest_and_alone_locked(const kvo_dependent_key *dependent_key,
    const reading *done) {
  bool is_last =
      dependent_key->issued == done->ticket && dependent_key->installed == done->installed;
  return is_last && dependent_key->state == KVO_ATTACHED &&
         !kvo_active_threads_have_others_locked(&dependent_key->active_threads);
}

// Keeps the path observations, and counts the reading as installed, if the reads are exactly those at which the path
// observations are placed. Otherwise returns false.
static bool install_unchanged(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    const reading *done) {
  if (!all_are_matched(&worklist->reads)) return false;
  KVO_LOCKED(&kvo_graph_lock);
  if (dependent_key->ended || !is_latest_and_alone_locked(dependent_key, done)) return false;
  if (done->insertions > dependent_key->fenced) dependent_key->fenced = done->insertions;
  dependent_key->installed = done->ticket;
  dependent_key->last_reads = take_expected(&worklist->reads);
  if (dependent_key->path_cache)
    kvo_path_cache_renew(dependent_key->path_cache, worklist->reads.epoch);
  return true;
}

static bool has_all_nodes(const kvo_dependent_key *dependent_key) {
  for (uint32_t i = 0; i < dependent_key->count; i++)
    if (dependent_key->path_observations[i]->ended || !dependent_key->path_observations[i]->first)
      return false;
  return true;
}

// Stores the path cache in the path observation at the path's last property, unless that path observation has a path
// cache already. In that case changes of the property need a general delivery.
static void keep_path_cache_locked(kvo_dependent_key *dependent_key, kvo_path_cache *cache) {
  const kvo_last_reads *last_reads = dependent_key->last_reads;
  const kvo_read *last = &last_reads->reads[last_reads->count - 1];
  drop_path_cache_locked(dependent_key);
  dependent_key->path_cache = cache;
  for (uint32_t i = 0; i < dependent_key->count; i++) {
    kvo_path_observation *observation = dependent_key->path_observations[i];
    bool is_last = !tracking_compare(observation->root, tracking_key_of(observation), last);
    if (is_last && !observation->path_cache)
      __atomic_store_n(&observation->path_cache, kvo_path_cache_retain(cache), __ATOMIC_RELEASE);
  }
}

void kvo_path_worklist_keep_sequence_locked(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key) {
  kvo_last_reads *sequence = worklist->reads.sequence;
  bool is_installed = dependent_key->installed == worklist->ticket && !dependent_key->ended;
  if (!sequence || dependent_key->last_reads || !is_installed || !has_all_nodes(dependent_key))
    return;
  retain_memory(sequence);
  worklist->reads.sequence = NULL;
  dependent_key->last_reads = sequence;
  if (worklist->reads.path_cache) keep_path_cache_locked(dependent_key, worklist->reads.path_cache);
  worklist->reads.path_cache = NULL;
}

bool kvo_dependent_key_is_current(kvo_dependent_key *dependent_key) {
  KVO_LOCKED(&kvo_graph_lock);
  bool is_settled = dependent_key->last_reads && dependent_key->state == KVO_ATTACHED &&
                    !dependent_key->ended && dependent_key->insertions == dependent_key->fenced;
  return is_settled && dependent_key->path_cache &&
         kvo_path_cache_is_current(dependent_key->path_cache);
}

bool kvo_path_worklist_track(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key) {
  reading reading;
  kvo_reads *reads = &worklist->reads;
  if (!tracking_begin(worklist, dependent_key, &reading)) return false;
  worklist->ticket = reading.ticket;
  // The worklist may have come to follow other keys, too, whose values are not asked for.
  bool is_asked = worklist->active_threads == &dependent_key->active_threads;
  kvo_read_result *result = reads->result = is_asked ? worklist->result : NULL;
  kvo_path_worklist_fence(worklist);
  if (!tracking_read(dependent_key, reading.object, reads)) return false;
  if (result) result->ticket = reading.ticket;
  if (install_unchanged(worklist, dependent_key, &reading)) return false;
  record_matched(reads);
  note_last_reads(reads);
  reads->path_cache = kvo_path_cache_make(dependent_key, reads);
  sort_once(reads);
  return install_changed(worklist, dependent_key, &reading);
}
