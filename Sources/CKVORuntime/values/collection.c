// Collections: the abstract class, stored collections, and reading any of them.
//
// A collection begins with a header whose methods make it a stored collection or a proxy; its class only governs its
// lifetime. A stored collection has its elements in a list, in their original order; a set also has a hash index
// (hash.c). It never changes after it was made, so any thread may read it.
#include "kvo_collection.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "kvo_property.h"
#include "objects/kvo_class_internal.h"
#include "values/kvo_collection_internal.h"
#include "values/kvo_hash.h"

#include <stdio.h>

// MARK: Classes

static const char class_name[] = "KVOCollection";

static void destroy_nothing(kvo_object *self, const kvo_method *method) {
  (void)self, (void)method;
}

// Appends a description to a text whose buffer may be full already.
static size_t collection_append(const kvo_value *element, char *buffer, size_t capacity,
    size_t length) {
  bool fits = length < capacity;
  return length +
         kvo_value_describe(element, fits ? buffer + length : buffer, fits ? capacity - length : 0);
}

static size_t append_text(const char *text, char *buffer, size_t capacity, size_t length) {
  bool fits = length < capacity;
  int added = snprintf(fits ? buffer + length : buffer, fits ? capacity - length : 0, "%s", text);
  return length + (added > 0 ? (size_t)added : 0);
}

// Describing elements calls the program's code, which may throw.
typedef struct {
  kvo_collection *collection;
  kvo_elements elements;
  char *buffer;
  size_t capacity, length;
  bool entered;
} description;

static void describe_elements(void *opaque) {
  description *text = opaque;
  kvo_elements *elements = &text->elements;
  size_t length = text->length;
  text->entered = kvo_nesting_enter();
  bool is_read =
      text->entered && !text->collection->methods->pick(text->collection, NULL, elements, NULL);
  for (size_t i = 0; i < elements->count; i++) {
    if (i) length = append_text(", ", text->buffer, text->capacity, length);
    length = collection_append(&elements->values[i], text->buffer, text->capacity, length);
  }
  const char *rest = is_read ? "" : elements->count ? ", …" : "…";
  text->length = append_text(rest, text->buffer, text->capacity, length);
}

static void end_description(void *opaque) {
  description *text = opaque;
  kvo_nesting_leave(text->entered);
  kvo_elements_destroy(&text->elements);
}

// Arrays are written as [1, 2], sets as {1, 2}, ordered sets as (1, 2).
static size_t collection_describe(const kvo_object *object, char *buffer, size_t capacity) {
  static const char *const brackets[][2] = {
      [KVO_ARRAY] = {"[", "]"}, [KVO_SET] = {"{", "}"}, [KVO_ORDERED_SET] = {"(", ")"}};
  kvo_collection *collection = (kvo_collection *)(uintptr_t)object;
  description text = {.collection = collection, .buffer = buffer, .capacity = capacity};
  text.length = append_text(brackets[collection->kind][0], buffer, capacity, 0);
  kvo_finally(describe_elements, end_description, &text);
  return append_text(brackets[collection->kind][1], buffer, capacity, text.length);
}

static void collection_setup(kvo_class *cls) {
  static kvo_class_operations operations;
  operations = kvo_root_operations;
  operations.describe = collection_describe;
  cls->operations = &operations;
  cls->is_collection = true;
}

static const kvo_class *collection_class;

const kvo_class *kvo_collection_class(void) {
  static const kvo_property_definition none[1];
  static const kvo_class_definition definition = {class_name, kvo_root_class,
      sizeof(kvo_collection), 0, none, destroy_nothing, collection_setup, 0};
  const kvo_class *made = __atomic_load_n(&collection_class, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(made != NULL) ? made : kvo_class_define(&collection_class, &definition);
}

// Made early, like the root class, because code that needs one of the two could not continue without it. A program
// without memory even at this time is stopped with a message that names the class.
__attribute__((constructor(102))) static void make_abstract_class(void) { kvo_collection_class(); }

const kvo_class *kvo_collection_define(const kvo_class **once, const char *name,
    size_t instance_size, void (*destroy)(kvo_object *, const kvo_method *)) {
  const kvo_class *made = __atomic_load_n(once, __ATOMIC_ACQUIRE);
  if (KVO_LIKELY(made != NULL)) return made;
  const kvo_property_definition none = {0};
  const kvo_class_definition definition = {
      name, kvo_collection_class, instance_size, 0, &none, destroy, NULL, 0};
  return kvo_class_try_define(once, &definition);
}

kvo_collection *kvo_collection_make(const kvo_class *cls, const kvo_collection_methods *methods,
    kvo_collection_kind kind, kvo_error *error) {
  kvo_collection *made = cls ? (kvo_collection *)(void *)kvo_object_create(cls) : NULL;
  if (!made) {
    kvo_fail_collection_memory(error);
    return NULL;
  }
  made->methods = methods;
  made->kind = kind;
  return made;
}

kvo_status kvo_fail_collection_memory(kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, class_name, NULL, "No memory for a collection.");
}

kvo_status kvo_fail_index(kvo_error *error, const char *owner, const char *key, size_t index,
    size_t count) {
  if (owner && key)
    return kvo_fail(error, KVO_INDEX_OUT_OF_BOUNDS, owner, key,
        "Index %zu is beyond the %zu elements of \"%s\" of %s.", index, count, key, owner);
  return kvo_fail(error, KVO_INDEX_OUT_OF_BOUNDS, class_name, NULL,
      "Index %zu is beyond the %zu elements of a %s.", index, count, class_name);
}

// MARK: Stored collections

typedef struct {
  kvo_collection collection;
  kvo_elements elements;
  kvo_hash_index index; ///< for sets
} stored;

static stored *stored_of(kvo_collection *collection) { return (stored *)(void *)collection; }

// False if the element has to wait. Elements that are objects are released one at a time, as properties are
// (instance.c).
static bool destroy_element(kvo_value *element) {
  if (!element->type || element->type->kind != KVO_KIND_OBJECT) {
    kvo_value_destroy_in_turn(element);
    return true;
  }
  if (!kvo_release_in_turn((kvo_object **)(void *)element->payload.words)) return false;
  element->type = NULL;
  return true;
}

// Called repeatedly as long as elements have to wait. The capacity is never below the number of elements, so from the
// first call on we use that field to count the destroyed ones.
static void destroy_stored(kvo_object *self, const kvo_method *method) {
  (void)method;
  stored *collection = (stored *)(void *)self;
  kvo_elements *elements = &collection->elements;
  if (elements->capacity >= elements->count) elements->capacity = 0;
  for (; elements->capacity < elements->count; elements->capacity++)
    if (!destroy_element(&elements->values[elements->capacity])) return;
  elements->count = 0;
  kvo_elements_destroy(elements);
  kvo_hash_index_destroy(&collection->index);
}

static size_t stored_count(kvo_collection *collection) {
  return stored_of(collection)->elements.count;
}

static kvo_status stored_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  const kvo_elements *elements = &stored_of(collection)->elements;
  if (index == KVO_LAST_ELEMENT) index = elements->count - 1;
  if (index >= elements->count) return kvo_fail_index(error, NULL, NULL, index, elements->count);
  kvo_value copy;
  if (kvo_value_copy(&copy, &elements->values[index])) return kvo_fail_collection_memory(error);
  *element = copy;
  return KVO_OK;
}

static size_t stored_index_of(kvo_collection *collection, const kvo_value *element) {
  stored *own = stored_of(collection);
  if (collection->kind != KVO_ARRAY)
    return kvo_hash_index_find(&own->index, own->elements.values, element);
  for (size_t i = 0; i < own->elements.count; i++)
    if (kvo_value_equal(&own->elements.values[i], element)) return i;
  return KVO_NOT_FOUND;
}

static bool stored_contains(kvo_collection *collection, const kvo_value *element) {
  return stored_index_of(collection, element) != KVO_NOT_FOUND;
}

static kvo_status collection_add_range(kvo_elements *to, const kvo_elements *from,
    kvo_range range) {
  size_t end = range.location + range.length;
  for (size_t i = range.location; i < end && i < from->count; i++)
    if (kvo_elements_add(to, &from->values[i])) return KVO_NO_MEMORY;
  return KVO_OK;
}

static kvo_status stored_pick(kvo_collection *collection, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  const kvo_elements *own = &stored_of(collection)->elements;
  size_t ranges = indexes ? kvo_index_set_range_count(indexes) : 1;
  for (size_t i = 0; i < ranges; i++) {
    kvo_range range = indexes ? kvo_index_set_range(indexes, i) : (kvo_range){0, own->count};
    if (collection_add_range(elements, own, range)) return kvo_fail_collection_memory(error);
  }
  return KVO_OK;
}

static const kvo_collection_methods stored_methods = {
    stored_count, stored_get, stored_index_of, stored_contains, stored_pick};

bool kvo_collection_is_stored(const kvo_collection *collection) {
  return collection->methods == &stored_methods;
}

const kvo_elements *kvo_collection_stored_elements(kvo_collection *collection) {
  return kvo_collection_is_stored(collection) ? &stored_of(collection)->elements : NULL;
}

// A set that is being made. Its first `elements.count` elements are indexed, those from `next` on are not yet. The
// search for an equal element may call the program's code, which may throw.
typedef struct {
  stored *set;
  size_t next, count;
  bool is_done;
} placing;

// False if out of memory.
static bool add_next(placing *placing) {
  kvo_elements *elements = &placing->set->elements;
  kvo_value *next = &elements->values[placing->next];
  bool is_known = kvo_hash_index_find(&placing->set->index, elements->values, next) != SIZE_MAX;
  if (is_known) {
    kvo_value_destroy(next);
  } else {
    elements->values[elements->count] = *next;
    if (!kvo_hash_index_add(&placing->set->index, elements->values)) return false;
    elements->count++;
  }
  placing->next++;
  return true;
}

static void add_all_unique(void *opaque) {
  placing *placing = opaque;
  while (placing->next < placing->count && add_next(placing)) continue;
  placing->is_done = placing->next == placing->count;
}

// Destroys the elements that are not indexed yet, and the set if it could not be completed.
static void end_placing(void *opaque) {
  placing *placing = opaque;
  for (; placing->next < placing->count; placing->next++)
    kvo_value_destroy(&placing->set->elements.values[placing->next]);
  if (!placing->is_done) kvo_object_release(&placing->set->collection.object);
}

// Indexes a set's elements and drops the repeated ones. Returns false if out of memory; the set is then destroyed.
static bool make_unique(stored *set) {
  placing placing = {.set = set, .count = set->elements.count};
  set->elements.count = 0;
  kvo_finally(add_all_unique, end_placing, &placing);
  return placing.is_done;
}

kvo_collection *kvo_collection_adopt(kvo_collection_kind kind, kvo_elements *elements,
    kvo_error *error) {
  static const kvo_class *cls;
  kvo_collection *made = kvo_collection_make(kvo_collection_define(&cls, "KVOStoredCollection",
                                                 sizeof(stored), destroy_stored),
      &stored_methods, kind, error);
  if (!made) {
    kvo_elements_destroy(elements);
    return NULL;
  }
  stored *own = stored_of(made);
  own->elements = *elements;
  *elements = (kvo_elements){0};
  if (kind == KVO_ARRAY || make_unique(own)) return made;
  kvo_fail_collection_memory(error);
  return NULL;
}

kvo_collection *kvo_collection_create(kvo_collection_kind kind, const kvo_value *values,
    size_t count, kvo_error *error) {
  kvo_elements elements = {0};
  bool copied = kvo_elements_reserve(&elements, count);
  for (size_t i = 0; copied && i < count; i++)
    copied = kvo_elements_add(&elements, &values[i]) == KVO_OK;
  if (copied) return kvo_collection_adopt(kind, &elements, error);
  kvo_elements_destroy(&elements);
  kvo_fail_collection_memory(error);
  return NULL;
}

// MARK: Any collection

kvo_collection *kvo_collection_snapshot(kvo_collection *collection, kvo_error *error) {
  if (kvo_collection_is_stored(collection))
    return (kvo_collection *)(void *)kvo_object_retain(&collection->object);
  kvo_elements elements = {0};
  kvo_status status = collection->methods->pick(collection, NULL, &elements, error);
  if (!status) return kvo_collection_adopt(collection->kind, &elements, error);
  kvo_elements_destroy(&elements);
  return NULL;
}

kvo_collection_kind kvo_collection_get_kind(const kvo_collection *collection) {
  return collection->kind;
}

// Reports a shortage for functions that return no error.
static void collection_report_unread(const kvo_collection *collection, uint64_t shortages) {
  const char *owner, *key;
  if (KVO_LIKELY(kvo_shortages == shortages)) return;
  if (kvo_collection_property(collection, &owner, &key)) kvo_report_unread(owner, key);
}

size_t kvo_collection_count(kvo_collection *collection) {
  uint64_t shortages = kvo_shortages;
  size_t count = collection->methods->count(collection);
  collection_report_unread(collection, shortages);
  return count;
}

kvo_status kvo_collection_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  *element = KVO_VALUE_NIL;
  // That index means the last element here. No collection has so many elements, so the one before it is also out of
  // bounds.
  if (index == KVO_LAST_ELEMENT) index--;
  return collection->methods->get(collection, index, element, error);
}

kvo_status kvo_collection_last(kvo_collection *collection, kvo_value *element, kvo_error *error) {
  *element = KVO_VALUE_NIL;
  return collection->methods->get(collection, KVO_LAST_ELEMENT, element, error);
}

size_t kvo_collection_index_of(kvo_collection *collection, const kvo_value *element) {
  uint64_t shortages = kvo_shortages;
  size_t index = collection->methods->index_of(collection, element);
  collection_report_unread(collection, shortages);
  return index;
}

bool kvo_collection_contains(kvo_collection *collection, const kvo_value *element) {
  uint64_t shortages = kvo_shortages;
  bool contains = collection->methods->contains(collection, element);
  collection_report_unread(collection, shortages);
  return contains;
}
