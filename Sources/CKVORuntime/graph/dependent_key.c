// Dependent keys: the dependencies of one key of one object, while it is observed or has nodes.
//
// A dependent key is made before its key's first observer is placed, and put into the key's cell with it. It is
// attached afterwards, since attaching reads the path's objects. It ends when the cell loses its last observer. It
// holds one path observation for each affecting key path, and an unowned reference to the object.
#include "graph/kvo_graph.h"

#include "graph/kvo_path_cache.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

#include <string.h>

static uint64_t last_serial; // graph lock

static void release_observations(kvo_dependent_key *dependent_key) {
  for (uint32_t i = 0; i < dependent_key->count; i++)
    kvo_path_observation_release(dependent_key->path_observations[i]);
  kvo_free(dependent_key->path_observations);
}

void kvo_last_reads_free(kvo_last_reads *last_reads) {
  for (size_t i = 0; last_reads && i < last_reads->count; i++)
    last_reads->reads[i].operations->unowned_release(last_reads->reads[i].object);
  kvo_free(last_reads);
}

kvo_dependent_key *kvo_dependent_key_retain(kvo_dependent_key *dependent_key) {
  __atomic_fetch_add(&dependent_key->references, 1, __ATOMIC_RELAXED);
  return dependent_key;
}

void kvo_dependent_key_release(kvo_dependent_key *dependent_key) {
  if (!dependent_key || __atomic_sub_fetch(&dependent_key->references, 1, __ATOMIC_ACQ_REL)) return;
  release_observations(dependent_key);
  kvo_last_reads_free(dependent_key->last_reads);
  kvo_path_cache_release(dependent_key->path_cache);
  dependent_key->operations->unowned_release(dependent_key->object);
  kvo_free(dependent_key);
}

void kvo_dependent_key_install_locked(kvo_dependent_key *dependent_key, kvo_table *table,
    kvo_list *list) {
  dependent_key->serial = ++last_serial;
  list->dependent_key = kvo_dependent_key_retain(dependent_key);
  table->graph_entries++;
}

void kvo_dependent_key_mark_ended_locked(kvo_table *table, kvo_dependent_key *dependent_key) {
  dependent_key->ended = true;
  table->graph_entries--;
  for (uint32_t i = 0; i < dependent_key->count; i++)
    dependent_key->path_observations[i]->ended = true;
}

bool kvo_dependent_key_remove_from_cell_locked(kvo_dependent_key *dependent_key) {
  KVO_LOCKED_OBJECTS(dependent_key->object, NULL);
  kvo_observers observers =
      kvo_object_observers_locked(dependent_key->object, dependent_key->accessors->id);
  if (kvo_observers_dependent_key(observers) != dependent_key) return false;
  kvo_observers_list(observers)->dependent_key = NULL;
  kvo_dependent_key_mark_ended_locked(kvo_table_of(dependent_key->object), dependent_key);
  return true;
}

// MARK: Need

uint64_t kvo_graph_next_stamp_locked(void) {
  static uint64_t last;
  return ++last;
}

// The search goes depth first. It checks whether the key itself is observed before it looks at what depends on the
// key, which may be a path observation of any length. Its stack is linked through the dependent keys.
typedef struct {
  kvo_dependent_key *top;
  uint64_t stamp;
} search;

// Puts a dependent key on the stack, unless this search has been there.
static void push_unless_visited(search *search, kvo_dependent_key *dependent_key) {
  if (dependent_key->stamp == search->stamp) return;
  dependent_key->stamp = search->stamp;
  dependent_key->low = 0;
  dependent_key->high = UINT32_MAX;
  dependent_key->below = search->top;
  search->top = dependent_key;
}

enum { FEW_ENTRIES = 16 };

static bool is_direct(const kvo_registration *entry) {
  return entry && kvo_registration_is_direct(entry) &&
         !(entry->options & KVO_PATH_NODE && ((const kvo_path_node *)entry)->observation->ended);
}

// A quick check for a registration: a list counts the entries that are not nodes, and short lists are searched.
static bool is_observed(kvo_observers observers) {
  if (!kvo_observers_is_list(observers)) return is_direct(kvo_observers_single(observers));
  const kvo_list *list = kvo_observers_list(observers);
  if (list->live > list->wanting[KVO_PATH_NODE_BIT]) return true;
  for (uint32_t i = 0; list->count <= FEW_ENTRIES && i < list->count; i++)
    if (is_direct(list->items[i])) return true;
  return false;
}

// Looks at an entry of the key on top. True if it is a registration, so that the key is needed. For a node that serves
// another dependent key, that one is pushed, and needs this key if it is needed itself.
static bool visit_entry(search *search, kvo_registration *entry) {
  if (!entry) return false;
  kvo_path_node *node = kvo_path_node_of(entry);
  if (node && node->observation->ended) return false;
  kvo_dependent_key *dependent = node ? node->observation->dependent_key : NULL;
  if (dependent) push_unless_visited(search, dependent);
  return !dependent;
}

// The list is searched from both ends in turn, because ended entries leave holes at either end.
static bool search_entries(search *search, kvo_dependent_key *dependent_key, const kvo_list *list) {
  if (dependent_key->high > list->count) dependent_key->high = list->count;
  while (dependent_key->low < dependent_key->high && search->top == dependent_key) {
    bool from_front = dependent_key->low + dependent_key->high <= list->count;
    uint32_t i = from_front ? dependent_key->low++ : --dependent_key->high;
    if (visit_entry(search, list->items[i])) return true;
  }
  return false;
}

static bool search_top(search *search) {
  kvo_dependent_key *dependent_key = search->top;
  KVO_LOCKED_OBJECTS(dependent_key->object, NULL);
  kvo_observers observers =
      kvo_object_observers_locked(dependent_key->object, dependent_key->accessors->id);
  if (dependent_key->high == UINT32_MAX && is_observed(observers)) return true;
  bool is_list = kvo_observers_is_list(observers); // else the dependent key is no longer there
  if (is_list && search_entries(search, dependent_key, kvo_observers_list(observers))) return true;
  if (search->top == dependent_key) search->top = dependent_key->below;
  return false;
}

bool kvo_dependent_key_is_needed_locked(kvo_dependent_key *dependent_key) {
  search search = {NULL, kvo_graph_next_stamp_locked()};
  push_unless_visited(&search, dependent_key);
  while (search.top)
    if (search_top(&search)) return true;
  return false;
}
