// Derivations: the dependencies of one key of one object, while it is observed or has links.
//
// A derivation is made before its key's first observer is placed, and put into the key's cell with it. It is attached
// afterwards, since attaching reads the path's objects. It ends when the cell loses its last observer. It holds one
// chain for each affecting key path, and an unowned reference to the object.
#include "graph/kvo_graph.h"

#include "graph/kvo_route.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

#include <string.h>

static uint64_t watched_keys; // graph lock

static void release_chains(kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++) kvo_chain_release(derivation->chains[i]);
  kvo_free(derivation->chains);
}

void kvo_sequence_free(kvo_sequence *sequence) {
  for (size_t i = 0; sequence && i < sequence->count; i++)
    sequence->reads[i].operations->unowned_release(sequence->reads[i].object);
  kvo_free(sequence);
}

kvo_derivation *kvo_derivation_retain(kvo_derivation *derivation) {
  __atomic_fetch_add(&derivation->references, 1, __ATOMIC_RELAXED);
  return derivation;
}

void kvo_derivation_release(kvo_derivation *derivation) {
  if (!derivation || __atomic_sub_fetch(&derivation->references, 1, __ATOMIC_ACQ_REL)) return;
  release_chains(derivation);
  kvo_sequence_free(derivation->sequence);
  kvo_route_release(derivation->route);
  derivation->operations->unowned_release(derivation->object);
  kvo_free(derivation);
}

void kvo_derivation_install_locked(kvo_derivation *derivation, kvo_table *table, kvo_list *list) {
  derivation->serial = ++watched_keys;
  list->derivation = kvo_derivation_retain(derivation);
  table->linked++;
}

void kvo_derivation_remove_locked(kvo_table *table, kvo_derivation *derivation) {
  derivation->ended = true;
  table->linked--;
  for (uint32_t i = 0; i < derivation->count; i++) derivation->chains[i]->ended = true;
}

bool kvo_derivation_leave_locked(kvo_derivation *derivation) {
  KVO_LOCKED_OBJECTS(derivation->object, NULL);
  kvo_observers observers =
      kvo_object_observers_locked(derivation->object, derivation->accessors->id);
  if (kvo_observers_derivation(observers) != derivation) return false;
  kvo_observers_list(observers)->derivation = NULL;
  kvo_derivation_remove_locked(kvo_table_of(derivation->object), derivation);
  return true;
}

// MARK: Need

uint64_t kvo_graph_next_stamp_locked(void) {
  static uint64_t last;
  return ++last;
}

// The search goes depth first. It checks whether the key itself is observed before it looks at what depends on the
// key, which may be a chain of any length. Its stack is linked through the derivations.
typedef struct {
  kvo_derivation *top;
  uint64_t stamp;
} search;

static void enter(search *search, kvo_derivation *derivation) {
  if (derivation->stamp == search->stamp) return;
  derivation->stamp = search->stamp;
  derivation->low = 0;
  derivation->high = UINT32_MAX;
  derivation->below = search->top;
  search->top = derivation;
}

enum { FEW_ENTRIES = 16 };

static bool is_users(const kvo_registration *entry) {
  return entry && kvo_registration_is_users(entry) &&
         !(entry->options & KVO_LINKED && ((const kvo_link *)entry)->chain->ended);
}

// A quick check for a registration: a list counts the entries that are not links, and short lists are searched.
static bool is_observed(kvo_observers observers) {
  if (!kvo_observers_is_list(observers)) return is_users(kvo_observers_single(observers));
  const kvo_list *list = kvo_observers_list(observers);
  if (list->live > list->wanting[KVO_LINKED_BIT]) return true;
  for (uint32_t i = 0; list->count <= FEW_ENTRIES && i < list->count; i++)
    if (is_users(list->items[i])) return true;
  return false;
}

// True if the entry is a registration of the key. For a link, the search continues with the dependent key.
static bool matters(search *search, kvo_registration *entry) {
  if (!entry) return false;
  kvo_link *link = kvo_link_of(entry);
  if (link && link->chain->ended) return false;
  kvo_derivation *dependent = link ? link->chain->derivation : NULL;
  if (dependent) enter(search, dependent);
  return !dependent;
}

// The list is searched from both ends in turn, because ended entries leave holes at one end or the other.
static bool look_at_next(search *search, kvo_derivation *derivation, const kvo_list *list) {
  if (derivation->high > list->count) derivation->high = list->count;
  while (derivation->low < derivation->high && search->top == derivation) {
    bool from_below = derivation->low + derivation->high <= list->count;
    uint32_t i = from_below ? derivation->low++ : --derivation->high;
    if (matters(search, list->items[i])) return true;
  }
  return false;
}

static bool look_at_top(search *search) {
  kvo_derivation *derivation = search->top;
  KVO_LOCKED_OBJECTS(derivation->object, NULL);
  kvo_observers observers =
      kvo_object_observers_locked(derivation->object, derivation->accessors->id);
  if (derivation->high == UINT32_MAX && is_observed(observers)) return true;
  bool is_list = kvo_observers_is_list(observers); // else the derivation is no longer there
  if (is_list && look_at_next(search, derivation, kvo_observers_list(observers))) return true;
  if (search->top == derivation) search->top = derivation->below;
  return false;
}

bool kvo_derivation_is_needed_locked(kvo_derivation *derivation) {
  search search = {NULL, kvo_graph_next_stamp_locked()};
  enter(&search, derivation);
  while (search.top)
    if (look_at_top(&search)) return true;
  return false;
}
