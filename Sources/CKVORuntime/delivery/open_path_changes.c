// Changes of nodes that a thread has open (G5).
//
// A *node* is a property that a key path goes on from. While a thread has a change of a node open (by a setter, a
// manual change, a scoped change or a batch), its changes behind that node are part of it. The path's observers are
// notified only of the node's change, from the value that they were last notified of to the value that the path leads
// to in the end. So an object that the path has left is silent, although the path follows the node only when its
// change ends.
//
// Each thread has a list of these changes, the newest first. A change enters the list with the search for its
// recipients and leaves it with the next search, after it was made; both hold the graph lock, which protects the
// list. A change that ends in another way, by an exception or with its object, leaves it when it is freed. All leave
// it when their thread ends.
//
// An observer is left out of an inner change only if the search before the outer change found it, so that the outer
// change notifies it, and if all ways to it lead behind the outer change. A way leads behind an open change
//
// * by a node, if the change affects the key of a node before it on the same path;
// * by a property that a typed path has read, if the change affects one that the path has read before.
//
// A search notes behind which open changes it has found something, as a set of bits. A change gets the bit above that of
// the newest one in the list, so no two in the list have the same. If 62 are open, further ones have none, and observers
// behind these are notified of inner changes as well.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_lock.h"
#include "graph/kvo_path_cache.h"

static void open_path_change_store(kvo_general_delivery **slot, kvo_general_delivery *delivery) {
  __atomic_store_n(slot, delivery, __ATOMIC_RELAXED);
}

void kvo_open_path_changes_add_locked(kvo_general_delivery *delivery) {
  kvo_thread *thread = kvo_this_thread; // which has a frame of the change
  if (delivery->slot) return;
  delivery->next = thread->open_links;
  delivery->bit = delivery->next ? delivery->next->bit << 1 : KVO_FIRST_OPEN;
  delivery->slot = &thread->open_links;
  if (delivery->next) delivery->next->slot = &delivery->next;
  open_path_change_store(&thread->open_links, delivery);
}

void kvo_open_path_changes_remove_locked(kvo_general_delivery *delivery) {
  open_path_change_store(delivery->slot, delivery->next);
  if (delivery->next) delivery->next->slot = delivery->slot;
  delivery->slot = NULL;
}

void kvo_open_path_changes_leave(kvo_general_delivery *delivery) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_path_changes_remove_locked(delivery);
}

static bool open_path_change_affects(const kvo_general_delivery *open, const kvo_object *object,
    uintptr_t id) {
  for (uint32_t i = 0; i < open->before.dirty_key_count; i++) {
    const kvo_dirty_key *dirty = &open->before.dirty_keys[i];
    if (dirty->object == object && dirty->id == id) return true;
  }
  return false;
}

static bool affects_before(const kvo_general_delivery *open, const kvo_path_node *node) {
  for (const kvo_path_node *parent = node->parent; parent; parent = parent->parent)
    if (open_path_change_affects(open, parent->entry.object,
            kvo_registration_accessors(&parent->entry)->id))
      return true;
  return false;
}

// A property that a typed path reads. The object is NULL behind the last one, the key if only the object is known.
typedef struct {
  const kvo_object *object;
  const char *key;
} property_on_path;

// While another reading is under way, only the objects are known.
static property_on_path property_at(const kvo_dependent_key *path, size_t i) {
  const kvo_last_reads *last_reads = path->last_reads;
  const kvo_path_cache *cache = path->path_cache;
  property_on_path property = {0};
  if (last_reads && i < last_reads->count)
    property = (property_on_path){last_reads->reads[i].object, last_reads->reads[i].key};
  else if (!last_reads && cache && i < cache->count) property.object = cache->steps[i].object;
  return property;
}

static bool affects_property(const kvo_general_delivery *open, const kvo_dependent_key *path,
    property_on_path property) {
  for (uint32_t i = 0; i < path->count; i++) {
    const kvo_path_observation *read = path->path_observations[i];
    bool is_of_key = !property.key || read->path->components[0].key == property.key;
    if (read->first && read->root == property.object && is_of_key &&
        open_path_change_affects(open, read->root,
            kvo_registration_accessors(&read->first->entry)->id))
      return true;
  }
  return false;
}

static bool is_at(const kvo_path_node *node, property_on_path property) {
  return property.object == node->entry.object &&
         (!property.key || property.key == node->observation->path->components[0].key);
}

static bool affects_on_path(const kvo_general_delivery *open, const kvo_dependent_key *path,
    const kvo_path_node *node) {
  property_on_path property;
  for (size_t i = 0; (property = property_at(path, i)).object && !is_at(node, property); i++)
    if (affects_property(open, path, property)) return true;
  return false;
}

static bool is_typed_path(const kvo_dependent_key *dependent_key) {
  return dependent_key && dependent_key->is_tracked && dependent_key->accessors->property->is_path;
}

static bool is_before(const kvo_general_delivery *open, const kvo_path_node *node) {
  const kvo_dependent_key *dependent_key = node->observation->dependent_key;
  return is_typed_path(dependent_key) ? affects_on_path(open, dependent_key, node)
                                      : affects_before(open, node);
}

kvo_general_delivery *kvo_open_path_changes_next_locked(const kvo_general_delivery *delivery) {
  if (delivery) return delivery->next;
  return kvo_this_thread ? kvo_this_thread->open_links : NULL;
}

void kvo_open_path_changes_abandon(kvo_thread *thread) {
  while (thread->open_links) kvo_open_path_changes_remove_locked(thread->open_links);
}

void kvo_open_path_changes_end_of_thread(kvo_thread *thread) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_path_changes_abandon(thread);
}

uint64_t kvo_open_path_changes_before_locked(const kvo_path_node *node,
    const kvo_general_delivery *searching) {
  if (!node->parent && !is_typed_path(node->observation->dependent_key)) return 0;
  const kvo_general_delivery *open = NULL;
  uint64_t before = 0;
  while (KVO_UNLIKELY((open = kvo_open_path_changes_next_locked(open)) != NULL))
    if (open != searching && is_before(open, node)) before |= open->bit | KVO_BEHIND_OPEN;
  return before;
}
