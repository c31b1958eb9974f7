// Changes of links that a thread has open (G5).
//
// A *link* is a property that a key path goes on from. While a thread has a change of a link open, be it by a setter, a pair, a
// bracket or a batch, its changes behind that link are part of it: the path's observers are notified of the link's change alone,
// which leads from what they were notified of last to what the path leads to in the end. So an object that the path has left is
// silent, although the path follows the link only when its change ends.
//
// Each thread has a list of these changes, the newest first. A change enters the list with the search for its recipients and
// leaves it with the next search, after it was made; both hold the graph lock, which protects the list. A change that ends
// otherwise, by an exception or with its object, leaves it when it is freed, and all leave it when their thread ends.
//
// An observer is left out of an inner change only if it is among those that the outer one found before it was made: that one
// notifies it. It is found behind the open change
//
// * by a link, if the change affects the key of a link before it on the same path;
// * by a property that a typed path has read, if the change affects an object that the path came by before.
#include "delivery/kvo_propagation.h"

#include "base/kvo_lock.h"
#include "graph/kvo_route.h"

static void store(kvo_propagation **slot, kvo_propagation *propagation) {
  __atomic_store_n(slot, propagation, __ATOMIC_RELAXED);
}

void kvo_open_links_add_locked(kvo_propagation *propagation) {
  kvo_thread *thread = kvo_this_thread; // which has a frame of the change
  if (propagation->slot) return;
  propagation->next = thread->open_links;
  propagation->slot = &thread->open_links;
  if (propagation->next) propagation->next->slot = &propagation->next;
  store(&thread->open_links, propagation);
}

void kvo_open_links_remove_locked(kvo_propagation *propagation) {
  store(propagation->slot, propagation->next);
  if (propagation->next) propagation->next->slot = propagation->slot;
  propagation->slot = NULL;
}

void kvo_open_links_leave(kvo_propagation *propagation) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_links_remove_locked(propagation);
}

static bool affects(const kvo_propagation *open, const kvo_object *object, uintptr_t id) {
  for (uint32_t i = 0; i < open->before.affected_count; i++) {
    const kvo_affected *affected = &open->before.affected[i];
    if (affected->object == object && affected->id == id) return true;
  }
  return false;
}

static bool affects_object(const kvo_propagation *open, const kvo_object *object) {
  for (uint32_t i = 0; i < open->before.affected_count; i++)
    if (open->before.affected[i].object == object) return true;
  return false;
}

static bool affects_before(const kvo_propagation *open, const kvo_link *link) {
  for (const kvo_link *parent = link->parent; parent; parent = parent->parent)
    if (affects(open, parent->entry.object, kvo_registration_accessors(&parent->entry)->id))
      return true;
  return false;
}

// The object whose property a typed path reads there, if that is known.
static const kvo_object *object_at(const kvo_derivation *path, size_t i) {
  const kvo_sequence *sequence = path->sequence;
  if (sequence) return i < sequence->count ? sequence->reads[i].object : NULL;
  const kvo_route *route = path->route;
  return route && i < route->count ? route->steps[i].object : NULL;
}

static bool affects_on_path(const kvo_propagation *open, const kvo_derivation *path,
    const kvo_object *changed) {
  const kvo_object *object;
  for (size_t i = 0; (object = object_at(path, i)) && object != changed; i++)
    if (affects_object(open, object)) return true;
  return false;
}

static bool is_typed_path(const kvo_derivation *derivation) {
  return derivation && derivation->is_tracked && derivation->accessors->property->is_path;
}

static bool is_behind(const kvo_propagation *open, const kvo_link *link) {
  const kvo_derivation *derivation = link->chain->derivation;
  return is_typed_path(derivation) ? affects_on_path(open, derivation, link->entry.object)
                                   : affects_before(open, link);
}

kvo_propagation *kvo_open_links_next_locked(const kvo_propagation *propagation) {
  if (propagation) return propagation->next;
  return kvo_this_thread ? kvo_this_thread->open_links : NULL;
}

void kvo_open_links_abandon(kvo_thread *thread) {
  while (thread->open_links) kvo_open_links_remove_locked(thread->open_links);
}

void kvo_open_links_end_of_thread(kvo_thread *thread) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_links_abandon(thread);
}

bool kvo_open_links_are_before_locked(const kvo_link *link, const kvo_propagation *searching) {
  if (!link->parent && !is_typed_path(link->chain->derivation)) return false;
  const kvo_propagation *open = NULL;
  while (KVO_UNLIKELY((open = kvo_open_links_next_locked(open)) != NULL))
    if (open != searching && is_behind(open, link)) return true;
  return false;
}

bool kvo_propagation_has_others(kvo_propagation *propagation) {
  KVO_LOCKED(&kvo_graph_lock);
  return propagation->has_others;
}
