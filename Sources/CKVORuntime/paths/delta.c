// Deltas: the elements that a change of a to-many key has removed and added (C6). With a delta, the nodes at the key
// are followed without reading all elements (node_delta.c).
//
// A change names the indexes where it inserts, removes or replaces. These are not trusted: the elements there are
// read before and after the change, and must match. If they don't, the nodes are read again as after any other change
// (node_resolution.c). That is the case if
//
// * a removed or added element is not an object, or is a dictionary with whose keys the path continues,
// * the neighbours of the named elements have changed, or one of them is equal to a named element,
// * a replacement has left an element in its place,
// * there was a shortage of memory anywhere since the nodes were read, so that a change may not have been followed,
// * the key was changed in another way while the change was open, or a node was being read when it began.
//
// Removed objects may die during the change. Their memory is held, so that no other object gets their address.
#include "graph/kvo_delta.h"

#include "base/kvo_memory.h"
#include "coding/kvo_get_key_path.h"
#include "paths/kvo_path_worklist.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

// MARK: The nodes

static bool delta_make_room(kvo_delta **delta) {
  if (!*delta) *delta = kvo_alloc_zeroed(sizeof **delta);
  kvo_delta *made = *delta;
  if (!made || made->count < made->capacity) return made;
  kvo_announced_node *nodes =
      kvo_grow(made->nodes, made->count, made->count + 1, sizeof *nodes, &made->capacity);
  if (nodes) made->nodes = nodes;
  return nodes;
}

void kvo_path_node_announce_locked(kvo_path_node *node, kvo_delta **delta) {
  bool is_read_completely = node->issued == node->installed;
  node->issued++;
  if (!delta || !is_read_completely || !kvo_path_node_is_plain_locked(node) ||
      !kvo_path_node_misses_nothing_locked(node))
    return;
  uint64_t shortages = kvo_shortages;
  if (delta_make_room(delta)) {
    kvo_registration_retain(&node->entry);
    (*delta)->nodes[(*delta)->count++] = (kvo_announced_node){node, node->issued};
  }
  kvo_shortages = shortages; // the node is read again
}

// The ticket with which a node was announced, or 0 if it was not. The nodes are usually followed in the order in which
// they were announced, so the search begins behind the last one found.
static uint64_t ticket_of(kvo_delta *delta, const kvo_path_node *node) {
  for (size_t i = 0; i < delta->count; i++) {
    const kvo_announced_node *announced = &delta->nodes[(delta->next + i) % delta->count];
    if (announced->node != node) continue;
    delta->next = (delta->next + i + 1) % delta->count;
    return announced->ticket;
  }
  return 0;
}

// MARK: Reading

static bool delta_read_key(const kvo_delta *delta, kvo_object *object, kvo_value *value) {
  const kvo_accessors *accessors = kvo_registration_accessors(&delta->nodes[0].node->entry);
  kvo_accessors_read_link(kvo_accessors_current(accessors), object, value);
  kvo_value_unwrap(value);
  kvo_collection_kind kind;
  return kvo_value_is_collection(value, &kind) && (kind == KVO_SET) == !delta->named.indexes;
}

// The element as an object, if the path continues with the object's keys.
static kvo_object *plain_object(const kvo_value *element) {
  bool is_collection;
  kvo_object *object = kvo_value_target(element, &is_collection);
  return kvo_value_has_keys(element) ? NULL : object;
}

static kvo_object *delta_object_at(const kvo_value *collection, size_t index) {
  kvo_value element;
  kvo_object *object = NULL;
  if (!kvo_value_element(collection, index, &element)) object = plain_object(&element);
  kvo_value_destroy(&element);
  return object; // its address
}

// MARK: Before the change

static bool hold_gone(kvo_difference *difference, const kvo_elements *elements) {
  difference->gone = kvo_alloc(elements->count * sizeof *difference->gone + 1);
  for (size_t i = 0; difference->gone && i < elements->count; i++) {
    kvo_object *object = plain_object(&elements->values[i]);
    if (!object) return false;
    const kvo_class *cls = kvo_class_of(object);
    cls->operations->unowned_retain(object);
    difference->gone[difference->gone_count++] = (kvo_element_reference){object, cls};
  }
  return difference->gone;
}

// The bounds of a range before and after the change, in a collection that has lost or gained `shifted` elements before
// the range.
typedef struct {
  size_t start, end;
} bounds;

static bounds bounds_of(kvo_range range, size_t shifted, bool is_there) {
  size_t length = is_there ? range.length : 0;
  return (bounds){range.location - shifted, range.location - shifted + length};
}

static kvo_range_neighbours neighbours_of(const kvo_delta *delta, bounds bounds) {
  size_t count = kvo_value_count(&delta->value);
  return (kvo_range_neighbours){bounds.start && bounds.start <= count
                                    ? delta_object_at(&delta->value, bounds.start - 1)
                                    : NULL,
      bounds.end < count ? delta_object_at(&delta->value, bounds.end) : NULL};
}

// If a neighbour of a range is equal to an element in it, comparing neighbours proves nothing.
static bool is_gone_beside(const kvo_difference *difference, kvo_range_neighbours beside,
    size_t first, size_t length) {
  for (size_t i = first; i < first + length && i < difference->gone_count; i++) {
    const kvo_object *gone = difference->gone[i].object;
    if (gone == beside.before || gone == beside.behind) return true;
  }
  return false;
}

// The elements before and behind each range.
static bool note_neighbours(kvo_delta *delta) {
  const kvo_index_set *indexes = delta->named.indexes;
  size_t ranges = kvo_index_set_range_count(indexes), passed = 0;
  bool is_insertion = delta->named.kind == KVO_INSERTION;
  delta->neighbours = kvo_alloc(ranges * sizeof *delta->neighbours + 1);
  for (size_t i = 0; delta->neighbours && i < ranges; i++) {
    kvo_range range = kvo_index_set_range(indexes, i);
    kvo_range_neighbours beside =
        neighbours_of(delta, bounds_of(range, is_insertion ? passed : 0, !is_insertion));
    if (is_gone_beside(&delta->difference, beside, passed, range.length)) return false;
    delta->neighbours[i] = beside;
    passed += range.length;
  }
  return delta->neighbours;
}

static bool read_gone(kvo_delta *delta, const kvo_value *from) {
  const kvo_index_set *indexes = delta->named.indexes;
  return !kvo_value_elements(from, indexes, &delta->elements, NULL) &&
         (!indexes || delta->elements.count == kvo_index_set_count(indexes)) &&
         hold_gone(&delta->difference, &delta->elements);
}

// Holds the elements that the change will remove, and notes their neighbours. False if they can't be found, so that the
// nodes are read again.
static bool find_gone(kvo_delta *delta, kvo_object *object) {
  const kvo_named_elements *named = &delta->named;
  bool is_insertion = named->kind == KVO_INSERTION;
  if (!named->indexes) return is_insertion || !named->goes || read_gone(delta, named->goes);
  if (is_insertion && named->is_exact) return true;
  if (!delta_read_key(delta, object, &delta->value)) return false;
  return (is_insertion || read_gone(delta, &delta->value)) && note_neighbours(delta);
}

static void let_values_go(kvo_delta *delta) {
  kvo_elements_destroy(&delta->elements);
  kvo_value_destroy(&delta->value);
  delta->value = KVO_VALUE_NIL;
}

void kvo_delta_begin(kvo_delta *delta, kvo_object *object, const kvo_named_elements *named) {
  if (!delta->count) return; // there was no memory for any
  uint64_t shortages = kvo_shortages;
  delta->named = *named;
  delta->state = find_gone(delta, object) ? KVO_DELTA_BEGUN : KVO_DELTA_INVALID;
  let_values_go(delta); // a collection that is changed in place must have no other owner
  kvo_shortages = shortages;
}

// MARK: After the change

static bool find_came(kvo_difference *difference, const kvo_elements *elements) {
  difference->came = kvo_alloc(elements->count * sizeof *difference->came + 1);
  for (size_t i = 0; difference->came && i < elements->count; i++) {
    kvo_object *object = plain_object(&elements->values[i]);
    if (!object) return false;
    difference->came[difference->came_count++] = object;
  }
  return difference->came;
}

static bool are_neighbours_unchanged(const kvo_delta *delta) {
  const kvo_index_set *indexes = delta->named.indexes;
  bool is_removal = delta->named.kind == KVO_REMOVAL;
  size_t passed = 0;
  for (size_t i = 0; delta->neighbours && i < kvo_index_set_range_count(indexes); i++) {
    kvo_range range = kvo_index_set_range(indexes, i);
    kvo_range_neighbours beside =
        neighbours_of(delta, bounds_of(range, is_removal ? passed : 0, !is_removal));
    if (beside.before != delta->neighbours[i].before ||
        beside.behind != delta->neighbours[i].behind)
      return false;
    passed += range.length;
  }
  return true;
}

// Whether none of the new elements is the one that it has replaced.
static bool is_wholly_replaced(const kvo_difference *difference) {
  for (size_t i = 0; i < difference->came_count; i++)
    if (difference->came[i] == difference->gone[i].object) return false;
  return true;
}

static bool read_indexed(kvo_delta *delta) {
  const kvo_named_elements *named = &delta->named;
  if (!are_neighbours_unchanged(delta)) return false;
  if (named->kind == KVO_REMOVAL) return true;
  if (kvo_value_elements(&delta->value, named->indexes, &delta->elements, NULL)) return false;
  bool is_read = delta->elements.count == kvo_index_set_count(named->indexes) &&
                 find_came(&delta->difference, &delta->elements);
  if (named->kind == KVO_REPLACEMENT) return is_read && is_wholly_replaced(&delta->difference);
  const kvo_difference *difference = &delta->difference;
  bool is_inserted =
      is_read && difference->came_count == 1 && difference->came[0] == named->inserted;
  delta->is_known = is_inserted || named->is_exact;
  return is_read;
}

// A set of C may contain an element that is only equal to the added one. A binding's set contains the added one
// itself.
static bool read_set(kvo_delta *delta) {
  const kvo_value *comes = delta->named.comes;
  if (!comes) return true;
  return !kvo_collection_of_value(&delta->value) &&
         !kvo_value_elements(comes, NULL, &delta->elements, NULL) &&
         find_came(&delta->difference, &delta->elements);
}

static void read_after(kvo_delta *delta, kvo_object *object) {
  uint64_t shortages = kvo_shortages;
  bool is_read = delta_read_key(delta, object, &delta->value);
  if (is_read) delta->difference.total = kvo_value_count(&delta->value);
  is_read = is_read && (delta->named.indexes ? read_indexed(delta) : read_set(delta));
  delta->state = is_read ? KVO_DELTA_READ : KVO_DELTA_INVALID;
  kvo_shortages = shortages;
}

bool kvo_delta_follow(kvo_delta *delta, kvo_object *object, kvo_path_node *node) {
  uint64_t ticket = delta->state == KVO_DELTA_INVALID ? 0 : ticket_of(delta, node);
  if (!ticket) return false;
  if (delta->state == KVO_DELTA_BEGUN) read_after(delta, object);
  if (delta->state != KVO_DELTA_READ) return false;
  kvo_path_node_follow_delta(node, ticket, delta);
  return true;
}

void kvo_delta_end(kvo_delta *delta) {
  if (!delta) return;
  let_values_go(delta);
  kvo_difference_end(&delta->difference);
  for (size_t i = 0; i < delta->count; i++) kvo_registration_release(&delta->nodes[i].node->entry);
  kvo_free(delta->neighbours);
  kvo_free(delta->nodes);
  kvo_free(delta);
}
