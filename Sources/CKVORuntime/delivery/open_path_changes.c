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
// * by a property that a typed path has read, if the change affects one that the path has read before. A number or text
//   may have selected another object, but does not lead back to its own. Where a path begins with a computed link, nor
//   do properties that are read one after another of one object: its getter selects one of them.
//
// A search notes behind which open changes it has found something, as a set of bits. No two changes in the list have
// the same bit. If 62 are open, further ones have none, and observers behind these are notified of inner changes as
// well.
//
// While a task is suspended in an in-place mutation, its thread may run other tasks. Their changes are not part of the
// mutation's change (E4).
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_lock.h"
#include "graph/kvo_graph.h"

static void open_path_change_store(kvo_general_delivery **slot, kvo_general_delivery *delivery) {
  __atomic_store_n(slot, delivery, __ATOMIC_RELAXED);
}

// The lowest bit that no change in the thread's list has; 0 if there is none.
static uint64_t find_free_bit(const kvo_thread *thread) {
  uint64_t taken = KVO_FIRST_OPEN - 1;
  for (const kvo_general_delivery *open = thread->open_links; open; open = open->next)
    taken |= open->bit;
  return ~taken & (taken + 1);
}

void kvo_open_path_changes_add_locked(kvo_general_delivery *delivery) {
  kvo_thread *thread = kvo_this_thread; // which has a frame of the change
  if (delivery->slot) return;
  delivery->next = thread->open_links;
  delivery->bit = find_free_bit(thread);
  delivery->is_listed = true;
  delivery->slot = &thread->open_links;
  if (delivery->next) delivery->next->slot = &delivery->next;
  open_path_change_store(&thread->open_links, delivery);
}

void kvo_open_path_changes_remove_locked(kvo_general_delivery *delivery) {
  open_path_change_store(delivery->slot, delivery->next);
  if (delivery->next) delivery->next->slot = delivery->slot;
  delivery->slot = NULL;
}

// Its thread may have ended, or may be ending, and have taken it out.
void kvo_open_path_changes_leave(kvo_general_delivery *delivery) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_path_changes_end_locked(delivery);
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

static const char *first_key(const kvo_path_observation *observation) {
  return observation->path->components[0].key;
}

// Whether a property may be a link: it may hold an object.
static bool may_hold_object(const kvo_accessors *accessors) {
  const kvo_type *type = accessors->type;
  if (!type) return true; // a key that is only announced manually
  bool is_number = type->kind < KVO_KIND_POINTER || (type->operations && type->operations->number);
  return !is_number && type->kind != KVO_KIND_STRING;
}

// `has_left`: the path has read another object between the property and the node.
static bool affects_property(const kvo_general_delivery *open, const kvo_dependent_key *path,
    const kvo_read *property, const kvo_path_node *node, bool has_left) {
  bool is_of_other = property->object != node->entry.object;
  bool has_links = has_left || path->accessors->property->is_path;
  for (uint32_t i = 0; i < path->count; i++) {
    const kvo_path_observation *read = path->path_observations[i];
    if (!read->first || read->root != property->object || first_key(read) != property->key)
      continue;
    const kvo_accessors *accessors = kvo_registration_accessors(&read->first->entry);
    bool may_lead = is_of_other || (has_links && may_hold_object(accessors));
    if (may_lead && open_path_change_affects(open, read->root, accessors->id)) return true;
  }
  return false;
}

static bool is_at(const kvo_path_node *node, const kvo_read *property) {
  return property->object == node->entry.object && property->key == first_key(node->observation);
}

// While another reading is under way, nothing is known of the properties.
static bool affects_on_path(const kvo_general_delivery *open, const kvo_dependent_key *path,
    const kvo_path_node *node) {
  const kvo_last_reads *known = path->last_reads;
  size_t place = 0;
  while (known && place < known->count && !is_at(node, &known->reads[place])) place++;
  // A key without a token was added after the reading, so what was read before it is not known.
  bool is_in_order = known && place < known->count && known->reads[place].token;
  bool has_left = false;
  while (place--) {
    const kvo_read *property = &known->reads[place];
    if (affects_property(open, path, property, node, has_left)) return true;
    has_left |= is_in_order && property->object != node->entry.object;
  }
  return false;
}

static bool is_typed_path(const kvo_dependent_key *dependent_key) {
  if (!dependent_key || !dependent_key->is_tracked) return false;
  const kvo_property_description *property = dependent_key->accessors->property;
  return property->is_path || property->has_link;
}

static bool is_before(const kvo_general_delivery *open, const kvo_path_node *node) {
  const kvo_dependent_key *dependent_key = node->observation->dependent_key;
  return is_typed_path(dependent_key) ? affects_on_path(open, dependent_key, node)
                                      : affects_before(open, node);
}

static bool is_of_other_task(const kvo_general_delivery *open) {
  return open->task && open->task != kvo_in_place_find_task();
}

kvo_general_delivery *kvo_open_path_changes_next_locked(const kvo_general_delivery *delivery) {
  kvo_general_delivery *first = kvo_this_thread ? kvo_this_thread->open_links : NULL;
  kvo_general_delivery *next = delivery ? delivery->next : first;
  while (next && is_of_other_task(next)) next = next->next;
  return next;
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
