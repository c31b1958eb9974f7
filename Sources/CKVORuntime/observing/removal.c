// Removal by observer: finding the registration (C1, C2).
//
// The most recent matching registration is removed. Most keys have few observers, and these are searched from the
// end. A longer list gets an index at the first removal from it by observer: two chained hash tables of places in the
// list, one by observer and key path, one by context as well. A chain leads from newer places to older ones. New
// places are added at the next removal. A place whose registration has ended is removed from its chain when a search
// meets it. Each place is added once and removed once, so n removals cost O(n) in any order. The index belongs to its
// list and is freed with it. All of this is under the object's lock.
#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "coding/kvo_key_path.h"
#include "kvo_diagnostics.h"
#include "tables/kvo_registration.h"

#include <string.h>

typedef struct match {
  const char *key; // interned: keys of a binding with the same storage also share an id
  const kvo_object *observer;
  bool any_context;
  const void *context;
} match;

static bool removal_matches(const kvo_registration *registration, const match *wanted) {
  return registration && kvo_registration_observer(registration) == wanted->observer &&
         kvo_registration_key_path(registration) == wanted->key &&
         (wanted->any_context || registration->context == wanted->context);
}

// MARK: The index

enum { FEW = 16 };
static const uint32_t NOWHERE = UINT32_MAX;

// Chains of places in the list. `newest` has the first place of each bucket, `older` the next place for each place.
typedef struct {
  uint32_t *newest;
  uint32_t *older;
} chains;

struct kvo_list_index {
  uint32_t known; // the number of places of the list that were added
  uint32_t mask;  // the number of buckets, a power of two, less one
  chains by_observer, by_context;
  uint32_t slots[];
};

static kvo_list_index *removal_make_index(uint32_t capacity) {
  uint32_t buckets = FEW;
  while (buckets < capacity) buckets *= 2;
  size_t of_one = (size_t)buckets + capacity;
  kvo_list_index *index = kvo_alloc(sizeof *index + 2 * of_one * sizeof *index->slots);
  if (!index) return NULL;
  uint32_t *first = index->slots, *second = first + of_one;
  index->known = 0;
  index->mask = buckets - 1;
  index->by_observer = (chains){first, first + buckets};
  index->by_context = (chains){second, second + buckets};
  for (size_t i = 0; i < 2 * of_one; i++) index->slots[i] = NOWHERE;
  return index;
}

static uint64_t removal_mixed(uint64_t hash, const void *pointer) {
  return kvo_hash_word(hash ^ (uintptr_t)pointer);
}

static uint32_t *removal_bucket(const kvo_list_index *index, const match *wanted) {
  uint64_t hash = removal_mixed(removal_mixed(0, wanted->observer) >> 16, wanted->key);
  if (!wanted->any_context) hash = removal_mixed(hash >> 16, wanted->context);
  const chains *chains = wanted->any_context ? &index->by_observer : &index->by_context;
  return &chains->newest[(hash >> 32) & index->mask];
}

static void removal_enter(uint32_t *newest, const chains *chains, uint32_t index) {
  chains->older[index] = *newest;
  *newest = index;
}

static void take_in(kvo_list_index *index, const kvo_list *list) {
  for (; index->known < list->count; index->known++) {
    const kvo_registration *registration = list->items[index->known];
    if (!registration || !kvo_registration_observer(registration)) continue;
    match match = {.key = kvo_registration_key_path(registration),
        .observer = registration->observer,
        .context = registration->context};
    removal_enter(removal_bucket(index, &match), &index->by_context, index->known);
    match.any_context = true;
    removal_enter(removal_bucket(index, &match), &index->by_observer, index->known);
  }
}

static kvo_registration *find_in_index(kvo_list_index *index, const kvo_list *list,
    const match *wanted) {
  take_in(index, list);
  uint32_t *older = (wanted->any_context ? index->by_observer : index->by_context).older;
  uint32_t *link = removal_bucket(index, wanted);
  while (*link != NOWHERE) {
    kvo_registration *registration = list->items[*link];
    if (removal_matches(registration, wanted)) return registration;
    if (registration) link = &older[*link];
    else *link = older[*link];
  }
  return NULL;
}

// MARK: Finding

static kvo_registration *find_in_list_locked(kvo_list *list, const match *wanted) {
  if (list->count > FEW && !list->index) list->index = removal_make_index(list->capacity);
  if (list->index) return find_in_index(list->index, list, wanted);
  for (uint32_t i = list->count; i-- > 0;) // few, or no memory for an index
    if (removal_matches(list->items[i], wanted)) return list->items[i];
  return NULL;
}

static kvo_registration *removal_find_locked(kvo_object *object, uintptr_t id,
    const match *wanted) {
  kvo_observers observers = kvo_object_observers_locked(object, id);
  if (kvo_observers_is_list(observers))
    return find_in_list_locked(kvo_observers_list(observers), wanted);
  kvo_registration *single = kvo_observers_single(observers);
  return removal_matches(single, wanted) ? single : NULL;
}

// The id of the key that a path begins with; 0 if nothing can be registered under it.
static uintptr_t first_id(const kvo_class *cls, const kvo_key_path *path) {
  if (path->first_key == path->count) return 0;
  return kvo_class_key_id(cls, kvo_key_find(path->components[path->first_key].key));
}

// MARK: Removing

typedef enum { NONE_MATCHES, HAS_ENDED, IS_HELD } outcome;

// Ends the matching registration. If more than that has to end, or its end has to be logged, it is held instead.
static outcome end_or_hold(kvo_object *object, uintptr_t id, const match *wanted,
    kvo_registration **found, kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(object, wanted->observer);
  *found = removal_find_locked(object, id, wanted);
  if (!*found) return NONE_MATCHES;
  if (!kvo_log_flags && kvo_registration_take_out_locked(*found, retired)) return HAS_ENDED;
  kvo_registration_retain(*found);
  return IS_HELD;
}

// Another thread may end the found registration first. Then there may be another one.
static bool end_matching(kvo_object *object, uintptr_t id, const match *wanted) {
  kvo_registration *found;
  kvo_retired *retired = NULL;
  outcome outcome;
  while ((outcome = end_or_hold(object, id, wanted, &found, &retired)) == IS_HELD) {
    bool has_ended = kvo_registration_unlink(found, &retired);
    kvo_registration_release(found);
    if (!has_ended) continue;
    outcome = HAS_ENDED;
    break;
  }
  kvo_retire(retired);
  return outcome == HAS_ENDED;
}

// The path of a registration is kept or held, and identified by the single address of its text; a key by its own
// address.
static bool end_along(kvo_object *object, const kvo_class *cls, const kvo_key_path *path,
    const char *text, match *wanted) {
  bool is_path = path && path->count > 1;
  wanted->key = is_path ? path->text : kvo_key_find(text);
  uintptr_t id = is_path ? first_id(cls, path) : kvo_class_key_id(cls, wanted->key);
  return id && end_matching(object, id, wanted);
}

// Ends the registration of a key that is ready, and so is no path.
static bool end_ready(kvo_object *object, const kvo_class *cls, const char *key, match *wanted) {
  const kvo_accessors *ready = kvo_class_ready_accessors(cls, key);
  if (!ready) return false;
  wanted->key = ready->key;
  return end_matching(object, ready->id, wanted);
}

static kvo_status remove_matching(kvo_object *object, const char *key_path, match *wanted,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  if (KVO_LIKELY(end_ready(object, cls, key_path, wanted))) return KVO_OK;
  const kvo_key_path *path = strchr(key_path, '.') ? kvo_key_path_find(key_path) : NULL;
  bool has_ended = end_along(object, cls, path, key_path, wanted);
  if (path) kvo_key_path_release(path);
  if (has_ended) return KVO_OK;
  char observer[128];
  kvo_object_describe(wanted->observer, observer, sizeof observer);
  return kvo_fail(error, KVO_NOT_REGISTERED, cls->name, key_path,
      "%s is not registered as an observer of \"%s\" of %s%s.", observer, key_path, cls->name,
      wanted->any_context ? "" : " with that context");
}

kvo_status kvo_remove_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_error *error) {
  return remove_matching(object, key_path, &(match){.observer = observer, .any_context = true},
      error);
}

kvo_status kvo_remove_observer_with_context(kvo_object *object, kvo_object *observer,
    const char *key_path, void *context, kvo_error *error) {
  return remove_matching(object, key_path, &(match){.observer = observer, .context = context},
      error);
}
