// Finds which elements of an array have been removed and added since a node last followed it.
//
// The node keeps a list of references to the elements. A new array is compared with the list from both ends, and all
// between the first and the last difference counts as removed and added. That costs a fraction of an instruction for
// each element, and some hundred for each that differs. If memory is out, which is no error here, the reading that
// follows makes values of all elements instead.
//
// The order does not matter to the node, whose children count how often their objects occur. So the list has to
// contain the same elements as the children, and only its cost depends on their order.
#include "graph/kvo_followed_elements.h"

#include "base/kvo_memory.h"
#include "objects/kvo_class_internal.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

// MARK: References

static kvo_object *followed_object(uintptr_t reference, ptrdiff_t offset) {
  return (kvo_object *)(reference + (uintptr_t)offset);
}

static void followed_release(const kvo_element_reference *element) {
  element->cls->operations->unowned_release(element->object);
}

void kvo_difference_end(kvo_difference *difference) {
  for (size_t i = 0; i < difference->gone_count; i++) followed_release(&difference->gone[i]);
  kvo_free(difference->gone);
  kvo_free(difference->came);
  *difference = (kvo_difference){0};
}

// MARK: The list

// The element may have died, so its class is not asked for again.
static kvo_element_reference followed_at(const kvo_followed_elements *followed, size_t index) {
  kvo_object *object = followed_object(followed->references[index], followed->offset);
  return (kvo_element_reference){object, followed->classes[index]};
}

static void followed_put(kvo_followed_elements *followed, size_t index, kvo_object *object) {
  const kvo_class *cls = kvo_class_of(object);
  followed->references[index] = (uintptr_t)object - (uintptr_t)followed->offset;
  followed->classes[index] = cls;
  cls->operations->unowned_retain(object);
}

void kvo_followed_elements_free(kvo_followed_elements *followed) {
  if (!followed) return;
  for (size_t i = 0; i < followed->count; i++) {
    kvo_element_reference element = followed_at(followed, i);
    followed_release(&element);
  }
  kvo_difference_end(&followed->difference);
  kvo_free(followed->references);
  kvo_free(followed->classes);
  kvo_free(followed);
}

static bool followed_make_room(kvo_followed_elements *followed, size_t count) {
  if (count <= followed->capacity) return true;
  size_t capacity = followed->capacity, class_capacity = capacity;
  uintptr_t *references =
      kvo_grow(followed->references, followed->count, count, sizeof *references, &capacity);
  if (!references) return false;
  followed->references = references;
  const kvo_class **classes =
      kvo_grow(followed->classes, followed->count, count, sizeof *classes, &class_capacity);
  if (!classes) return false;
  followed->classes = classes;
  followed->capacity = capacity;
  return true;
}

// A list, and whether the references of an array have been taken into it.
typedef struct {
  kvo_followed_elements *followed;
  bool is_done;
} update;

static void followed_fill(void *opaque, const uintptr_t *references, size_t count,
    ptrdiff_t offset) {
  update *update = opaque;
  kvo_followed_elements *followed = update->followed;
  if (!followed_make_room(followed, count)) return;
  followed->offset = offset;
  followed->count = count;
  for (size_t i = 0; i < count; i++)
    followed_put(followed, i, followed_object(references[i], offset));
  update->is_done = true;
}

kvo_followed_elements *kvo_followed_elements_make(const kvo_value *array) {
  uint64_t shortages = kvo_shortages;
  update update = {kvo_alloc_zeroed(sizeof *update.followed), false};
  if (update.followed) kvo_value_with_references(array, followed_fill, &update);
  kvo_shortages = shortages;
  if (update.is_done) return update.followed;
  kvo_followed_elements_free(update.followed);
  return NULL;
}

// Makes room for `came` elements in place of the `gone` ones from `start` on, by moving those after them. The new
// places are not filled, and no reference is taken or released. There must be capacity.
static void followed_open_gap(kvo_followed_elements *followed, size_t start, size_t gone,
    size_t came) {
  size_t behind = followed->count - start - gone;
  if (behind) {
    uintptr_t *place = followed->references + start;
    const kvo_class **class_place = followed->classes + start;
    memmove(place + came, place + gone, behind * sizeof *place);
    memmove(class_place + came, class_place + gone, behind * sizeof *class_place);
  }
  followed->count += came - gone;
}

// MARK: Comparing

enum { BLOCK = 256 };

// The number of equal references at the beginning. `memcmp` is faster than a loop, but does not say where the
// difference is.
static size_t equal_at_start(const uintptr_t *a, const uintptr_t *b, size_t count) {
  size_t equal = 0;
  while (count - equal >= BLOCK && !memcmp(a + equal, b + equal, BLOCK * sizeof *a)) equal += BLOCK;
  while (equal < count && a[equal] == b[equal]) equal++;
  return equal;
}

// The number of equal references before the two ends.
static size_t equal_at_end(const uintptr_t *a, const uintptr_t *b, size_t count) {
  size_t equal = 0;
  while (count - equal >= BLOCK && !memcmp(a - equal - BLOCK, b - equal - BLOCK, BLOCK * sizeof *a))
    equal += BLOCK;
  while (equal < count && *(a - equal - 1) == *(b - equal - 1)) equal++;
  return equal;
}

static bool make_lists(kvo_difference *difference, size_t gone, size_t came) {
  difference->gone = kvo_alloc(gone * sizeof *difference->gone + 1);
  difference->came = kvo_alloc(came * sizeof *difference->came + 1);
  return difference->gone && difference->came;
}

// The references to what has gone pass from the list to the difference.
static void followed_move(kvo_followed_elements *followed, size_t start, size_t gone,
    const uintptr_t *came) {
  kvo_difference *difference = &followed->difference;
  for (size_t i = 0; i < gone; i++) difference->gone[i] = followed_at(followed, start + i);
  difference->gone_count = gone;
  followed_open_gap(followed, start, gone, difference->came_count);
  for (size_t i = 0; i < difference->came_count; i++) {
    difference->came[i] = followed_object(came[i], followed->offset);
    followed_put(followed, start + i, difference->came[i]);
  }
}

static void followed_compare(void *opaque, const uintptr_t *references, size_t count,
    ptrdiff_t offset) {
  update *update = opaque;
  kvo_followed_elements *followed = update->followed;
  if (followed->count && followed->offset != offset) return;
  followed->offset = offset;
  size_t least = count < followed->count ? count : followed->count;
  size_t start = least ? equal_at_start(followed->references, references, least) : 0;
  size_t end = least == start ? 0
                              : equal_at_end(followed->references + followed->count,
                                    references + count, least - start);
  size_t gone = followed->count - start - end, came = count - start - end;
  kvo_difference *difference = &followed->difference;
  if (!followed_make_room(followed, count) || !make_lists(difference, gone, came)) return;
  difference->came_count = came;
  difference->total = count;
  followed_move(followed, start, gone, references + start);
  update->is_done = true;
}

bool kvo_followed_elements_compare(kvo_followed_elements *followed, const kvo_value *array) {
  uint64_t shortages = kvo_shortages;
  update update = {followed, false};
  kvo_difference_end(&followed->difference);
  kvo_value_with_references(array, followed_compare, &update);
  kvo_shortages = shortages;
  return update.is_done;
}

// MARK: Changes that name their elements

static bool has_at(const kvo_followed_elements *followed, size_t start,
    const kvo_difference *difference) {
  for (size_t i = 0; i < difference->gone_count; i++) {
    if (followed_at(followed, start + i).object != difference->gone[i].object) return false;
  }
  return true;
}

bool kvo_followed_elements_replace(kvo_followed_elements *followed, size_t start,
    const kvo_difference *difference) {
  size_t gone = difference->gone_count, came = difference->came_count;
  if (start > followed->count || gone > followed->count - start ||
      followed->count - gone + came != difference->total || !has_at(followed, start, difference))
    return false;
  uint64_t shortages = kvo_shortages;
  bool has_room = followed_make_room(followed, difference->total);
  kvo_shortages = shortages;
  if (!has_room) return false;
  followed_open_gap(followed, start, gone, came);
  for (size_t i = 0; i < came; i++) followed_put(followed, start + i, difference->came[i]);
  for (size_t i = 0; i < gone; i++) followed_release(&difference->gone[i]);
  return true;
}
