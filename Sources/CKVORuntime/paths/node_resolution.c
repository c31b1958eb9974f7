// Follows a node of a key path (kvo_graph.h): reads where it leads, and moves the nodes further along (C6, G2).
//
// A node leads to the object that is its key's value or, if an operator follows, to each element of the collection.
// Reading is the user's code and runs without a lock. Afterwards the result is installed under the graph lock:
// children at other objects end, and each object without a child gets one (path_tasks.c). Two threads may follow one
// node at the same time, so each takes a ticket before it reads. The result of a later ticket is not replaced by that
// of an earlier one, whose thread then reads again. A child that stays has been followed already, unless another
// thread is working on the path: then it is followed again (active_threads.c).
//
// The worklist owns the values read, and destroys them if the program's code throws.
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "coding/kvo_get_key_path.h"
#include "paths/kvo_path_worklist.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

#include <stdlib.h>

static uint32_t depth_of(const kvo_targets *found, size_t index) {
  return index < found->depths_capacity ? found->depths[index] : found->depth;
}

void kvo_targets_destroy(kvo_targets *found) {
  if (found->before) kvo_followed_elements_free(found->before);
  if (found->followed) kvo_followed_elements_free(found->followed);
  found->before = found->followed = NULL;
  if (found->objects != &found->only) {
    kvo_free(found->objects);
    kvo_free(found->depths);
    found->objects = NULL;
    found->depths = NULL;
    kvo_elements_destroy(&found->elements);
  }
  kvo_value_destroy(&found->inner);
  kvo_value_destroy(&found->value);
  *found = (kvo_targets){0};
}

static void add_target(kvo_targets *found, kvo_object *object) {
  if (object && !kvo_class_of(object)->is_collection) found->objects[found->count++] = object;
}

// Records the component by which the path continues at a range of elements. False if out of memory.
static bool note_depth(kvo_targets *found, size_t first, size_t end, uint32_t depth) {
  if (depth == found->depth && !found->depths) return true;
  if (end > found->depths_capacity) {
    size_t had = found->depths_capacity;
    uint32_t *grown = kvo_grow(found->depths, had, end, sizeof *grown, &found->depths_capacity);
    if (!grown) return false;
    found->depths = grown;
    for (size_t i = had; i < found->depths_capacity; i++) grown[i] = found->depth;
  }
  for (size_t i = first; i < end; i++) found->depths[i] = depth;
  return true;
}

static void clear_value(kvo_value *value) {
  kvo_value_destroy(value);
  *value = KVO_VALUE_NIL;
}

// Replaces a collection among the elements by nil, and appends its elements at the end. Meanwhile `inner` owns it,
// because its accessors may throw.
static void append_elements_of(kvo_targets *found, kvo_value *collection) {
  found->inner = *collection;
  *collection = KVO_VALUE_NIL;
  kvo_value_elements(&found->inner, NULL, &found->elements, NULL);
  clear_value(&found->inner);
}

// Replaces elements that are dictionaries by their values for the path's keys. Then collections, also those found in
// dictionaries, are replaced by their elements, which are appended at the end and reached by the same loop.
static void resolution_expand(const kvo_key_path *path, kvo_targets *found) {
  kvo_elements *elements = &found->elements;
  for (size_t i = 0; i < elements->count; i++) {
    kvo_path_position place = {depth_of(found, i), false};
    kvo_value_follow_keys(path, &elements->values[i], &place);
    size_t start = elements->count;
    if (kvo_value_is_collection(&elements->values[i], NULL))
      append_elements_of(found, &elements->values[i]);
    // If the path ends here, no key of an object is followed.
    bool goes_on = place.next < path->count && note_depth(found, i, i + 1, place.next) &&
                   note_depth(found, start, elements->count, place.next);
    if (goes_on) continue;
    clear_value(&elements->values[i]);
    for (size_t j = start; j < elements->count; j++) clear_value(&elements->values[j]);
  }
}

// Fast path, which makes no value for each element: compares the collection with the list of elements that the node has
// followed. False if there is no such list, or the two can't be compared.
static bool compare_elements(kvo_targets *found) {
  if (!found->before) return false;
  found->is_compared = kvo_followed_elements_compare(found->before, &found->value);
  if (!found->is_compared) return false;
  found->followed = found->before;
  found->before = NULL;
  return true;
}

// `is_direct`: no keys of dictionaries lie between the node's key and the elements.
static void find_in_elements(const kvo_key_path *path, kvo_targets *found, bool is_direct) {
  if (is_direct && compare_elements(found)) return;
  kvo_elements *elements = &found->elements;
  kvo_value_elements(&found->value, NULL, elements, NULL);
  size_t count = elements->count;
  resolution_expand(path, found);
  found->objects = kvo_alloc(elements->count * sizeof *found->objects + 1);
  // Elements that are no objects are left out, so the depths move down with their objects.
  for (size_t i = 0; found->objects && i < elements->count; i++) {
    if (found->depths) (void)note_depth(found, found->count, found->count + 1, depth_of(found, i));
    add_target(found, kvo_value_get_object(&elements->values[i]));
  }
  found->is_plain = found->count == count && elements->count == count && !found->depths;
  if (is_direct && found->is_plain) found->followed = kvo_followed_elements_make(&found->value);
}

static void report_collection(const kvo_path_node *node, uint32_t next) {
  const kvo_key_path *path = node->observation->path;
  kvo_error error;
  kvo_key_path_refuse_collection(path, next, node->observation->accessors->cls, &error);
  kvo_path_observation_report(node->observation, &error);
}

static void read_targets(const kvo_path_node *node, kvo_object *object, kvo_targets *found) {
  const kvo_accessors *accessors = kvo_registration_accessors(&node->entry);
  kvo_value
      read; // apart: if the getter throws, `found` is destroyed, and must not have half a value
  kvo_accessors_read_link(kvo_accessors_current(accessors), object, &read);
  found->value = read;
  kvo_value_unwrap(&found->value);
  const kvo_key_path *path = node->observation->path;
  const kvo_component *component = &path->components[node->depth];
  kvo_path_position place = kvo_path_position_after(component);
  kvo_value_follow_keys(path, &found->value, &place);
  found->depth = place.next;
  bool is_collection;
  kvo_object *target = kvo_value_target(&found->value, &is_collection);
  if (place.next == path->count) return; // the path has ended in a dictionary
  if (is_collection && place.operates) {
    find_in_elements(path, found, place.next == component->next_key);
    return;
  }
  if (is_collection) report_collection(node, place.next);
  found->objects = &found->only;
  if (target) found->objects[found->count++] = target;
}

static void take_followed_locked(kvo_path_node *node, kvo_targets *found) {
  found->before = node->followed;
  if (found->before) found->before->since = node->installed;
  node->followed = NULL;
}

// Retains the node's object, if it is alive, and takes a ticket. Unless the reading is recursive, it gets the list of
// elements that the node has followed.
static kvo_object *begin_resolution(kvo_path_worklist *worklist, kvo_path_node *node,
    uint64_t *ticket, bool is_recursive) {
  KVO_LOCKED(&kvo_graph_lock);
  if (node->entry.state != KVO_LIVE) return NULL;
  kvo_object *object = node->entry.object;
  kvo_path_worklist_enter_locked(worklist);
  *ticket = ++node->issued;
  bool is_held = kvo_class_of(object)->operations->try_retain(object);
  if (is_held && !is_recursive) take_followed_locked(node, &worklist->found);
  node->shortages = __atomic_load_n(&kvo_shortages_of_all, __ATOMIC_SEQ_CST);
  return is_held ? object : NULL;
}

// MARK: Objects in the order of their addresses

static int compare_addresses(const void *a, const void *b) {
  uintptr_t left = ((const kvo_object_count *)a)->object,
            right = ((const kvo_object_count *)b)->object;
  return (left > right) - (left < right);
}

kvo_object_count *kvo_object_count_take(kvo_object_count *sorted, size_t count,
    const kvo_object *object) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if ((sorted[middle].object & ~(uintptr_t)1) < (uintptr_t)object) low = middle + 1;
    else high = middle;
  }
  if (low == count || sorted[low].object != (uintptr_t)object) return NULL;
  sorted[low].object |= 1;
  return &sorted[low];
}

size_t kvo_count_objects(kvo_object_count *sorted, kvo_object *const *objects, size_t count) {
  for (size_t i = 0; i < count; i++) sorted[i] = (kvo_object_count){(uintptr_t)objects[i], 1};
  if (count > 1) qsort(sorted, count, sizeof *sorted, compare_addresses);
  size_t unique = 0;
  for (size_t i = 0; i < count; i++) {
    if (unique && sorted[unique - 1].object == sorted[i].object) sorted[unique - 1].count++;
    else sorted[unique++] = sorted[i];
  }
  return unique;
}

// MARK: Installing

// Whether the path now continues by another component at the child's object, because it leads through other
// dictionaries.
static bool has_moved(const kvo_targets *found, const kvo_path_node *child) {
  if (!found->depths) return child->depth != found->depth;
  for (size_t i = 0; i < found->count; i++)
    if (found->objects[i] == child->entry.object) return child->depth != depth_of(found, i);
  return false;
}

// Ends the children whose objects are not among the targets, and marks the others' objects as taken.
static void keep_children_locked(kvo_path_node *node, const kvo_targets *found,
    kvo_object_count *sorted, size_t count, kvo_retired **retired) {
  for (kvo_path_node *child = node->children, *next; child; child = next) {
    next = child->next;
    kvo_object_count *target =
        has_moved(found, child) ? NULL : kvo_object_count_take(sorted, count, child->entry.object);
    if (target) {
      node->covered += target->count - child->occurrences;
      child->occurrences = target->count;
    } else {
      kvo_entry_end_locked(&child->entry, retired);
    }
  }
}

static void push_children_locked(kvo_path_worklist *worklist, kvo_path_node *node) {
  for (kvo_path_node *child = node->children; child; child = child->next) {
    if (!kvo_path_worklist_make_room(worklist, 1)) return;
    kvo_registration_retain(&child->entry);
    worklist->tasks[worklist->count++] = (kvo_task){.kind = KVO_FOLLOW_NODE, .node = child};
  }
}

// Installs what was read, and pushes tasks for the children that stay if they may not have been followed. False if the
// node has ended, or another thread's reading that began later is installed already: then the node is read again.
static bool install_reading(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    kvo_targets *found, kvo_object_count *sorted, size_t count, bool is_recursive) {
  KVO_LOCKED(&kvo_graph_lock);
  if (node->entry.state != KVO_LIVE) return false;
  if (ticket <= node->installed) {
    kvo_path_worklist_push_resolution(worklist, node, true);
    return false;
  }
  node->installed = ticket;
  kvo_path_node_set_plain_locked(node, found->is_plain);
  kvo_swap_followed_locked(node, found);
  keep_children_locked(node, found, sorted, count, &worklist->retired);
  if (is_recursive || kvo_path_node_has_others_locked(node)) push_children_locked(worklist, node);
  return true;
}

static void push_insertion(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    const kvo_targets *found, size_t index, uint32_t occurrences) {
  kvo_object *object = found->objects[index];
  kvo_registration_retain(&node->entry);
  worklist->tasks[worklist->count++] = (kvo_task){.kind = KVO_INSERT_NODE,
      .node = node,
      .object = kvo_object_retain(object),
      .ticket = ticket,
      .depth = depth_of(found, index),
      .occurrences = occurrences};
}

static void reverse_tasks(kvo_task *tasks, size_t low, size_t high) {
  for (; low + 1 < high; low++) {
    kvo_task swapped = tasks[low];
    tasks[low] = tasks[--high];
    tasks[high] = swapped;
  }
}

// The first target is processed first, so its task has to be on top of the stack.
static void push_missing(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    const kvo_targets *found, kvo_object_count *sorted, size_t count) {
  if (!kvo_path_worklist_make_room(worklist, count)) return;
  size_t start = worklist->count;
  for (size_t i = 0; i < found->count; i++) {
    const kvo_object_count *target = kvo_object_count_take(sorted, count, found->objects[i]);
    if (target) push_insertion(worklist, node, ticket, found, i, target->count);
  }
  reverse_tasks(worklist->tasks, start, worklist->count);
}

// Reads where the node leads, under a frame to which the reference to the object passes.
static void read_under_frame(const kvo_path_node *node, kvo_object *object, kvo_targets *found) {
  kvo_frame *frame = kvo_frame_push_held(object);
  if (!frame) return;
  read_targets(node, object, found);
  kvo_frame_pop(frame);
}

enum { FEW_TARGETS = 4 };

// Installs the objects that were read, and pushes tasks to place the missing children.
static void install_targets(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    bool is_recursive) {
  kvo_targets *found = &worklist->found;
  kvo_object_count few[FEW_TARGETS];
  kvo_object_count *sorted =
      found->count > FEW_TARGETS ? kvo_alloc(found->count * sizeof *sorted) : few;
  size_t count = sorted ? kvo_count_objects(sorted, found->objects, found->count) : 0;
  if (sorted && install_reading(worklist, node, ticket, found, sorted, count, is_recursive))
    push_missing(worklist, node, ticket, found, sorted, count);
  if (sorted != few) kvo_free(sorted);
}

void kvo_path_worklist_resolve_node(kvo_path_worklist *worklist, kvo_path_node *node,
    bool is_recursive) {
  // Before the ticket is taken: a reading with a later ticket has to see what was pending.
  kvo_path_worklist_fence(worklist);
  uint64_t ticket;
  kvo_object *object = begin_resolution(worklist, node, &ticket, is_recursive);
  if (!object) return;
  kvo_targets *found = &worklist->found;
  read_under_frame(node, object, found);
  if (!found->is_compared) install_targets(worklist, node, ticket, is_recursive);
  else if (!kvo_path_worklist_apply_difference(worklist, node, ticket, found))
    // The node has no list of elements now, so it is read again with a value for each element.
    kvo_path_worklist_push_resolution(worklist, node, false);
  kvo_targets_destroy(found);
}
