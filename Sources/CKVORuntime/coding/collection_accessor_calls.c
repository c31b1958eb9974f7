// Calls of the collection accessors that read (B8).
//
// What an accessor returns is borrowed, but for collections, which the caller owns. Where several
// accessors would do, the one that takes the fewest calls is used.
#include "base/kvo_fail.h"
#include "base/kvo_memory.h"
#include "coding/kvo_collection_accessors.h"
#include "values/kvo_number.h"

#include <string.h>

// MARK: Calls

kvo_index_argument kvo_method_index(const kvo_method *method, size_t n, size_t index) {
  kvo_index_argument argument = {{0}};
  const kvo_number number = {.form = KVO_NUMBER_UNSIGNED, .large = index};
  kvo_number_write(kvo_method_argument(method, n), argument.bytes, number);
  return argument;
}

// A result of any type: small ones lie in place.
typedef struct {
  _Alignas(16) char bytes[64];
  void *KVO_NULLABLE heap;
} room;

static void *make_room(room *room, const kvo_type *type) {
  room->heap = type->size > sizeof room->bytes ? kvo_alloc(type->size) : NULL;
  return type->size > sizeof room->bytes ? room->heap : room->bytes;
}

static void ask_method(const kvo_method *method, kvo_object *owner, void *result, const void *first,
    const void *second, const void *third) {
  void *arguments[] = {&owner, &method, (void *)(uintptr_t)first, (void *)(uintptr_t)second,
      (void *)(uintptr_t)third};
  kvo_call_invoke(method->call, kvo_method_lookup(owner, method), result, arguments);
}

static kvo_status no_memory(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_error *error) {
  return kvo_fail_no_memory(error, "read", kvo_class_of(owner)->name, accessors->key);
}

// MARK: One element

size_t kvo_collection_accessors_count(const kvo_collection_accessors *accessors,
    kvo_object *owner) {
  const kvo_method *method = accessors->read.count;
  _Alignas(16) char bytes[16] = {0};
  kvo_call_get(method->call, kvo_method_lookup(owner, method), owner, method, bytes);
  kvo_value count;
  kvo_value_init(&count, method->call->result, bytes); // an integer: can't fail
  int64_t number = kvo_value_get_int(&count);
  return number > 0 ? (size_t)number : 0;
}

static kvo_status get_object(const kvo_collection_accessors *accessors, kvo_object *owner,
    size_t index, kvo_value *element, kvo_error *error) {
  const kvo_method *method = accessors->read.object;
  const kvo_index_argument argument = kvo_method_index(method, 0, index);
  room room;
  void *result = make_room(&room, method->call->result);
  if (!result) return no_memory(accessors, owner, error);
  ask_method(method, owner, result, argument.bytes, NULL, NULL);
  kvo_value value;
  kvo_status status = kvo_value_init(&value, method->call->result, result);
  kvo_free(room.heap);
  if (status) return no_memory(accessors, owner, error);
  *element = value;
  return KVO_OK;
}

// Appends the elements of a collection that an accessor gave, and gives that back.
static kvo_status take_collection(kvo_object *owned, kvo_elements *elements, kvo_error *error) {
  if (!owned) return KVO_OK;
  const kvo_value value = kvo_value_object(owned);
  kvo_object_release(owned);
  kvo_status status = kvo_value_elements(&value, NULL, elements, error);
  kvo_value_destroy((kvo_value *)(uintptr_t)&value);
  return status;
}

// <key>AtIndexes: must answer for each index; one that does not has no such element.
static kvo_status get_objects(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_index_set *indexes, kvo_elements *elements, kvo_error *error) {
  kvo_object *owned[2] = {NULL};
  size_t expected = elements->count + kvo_index_set_count(indexes);
  ask_method(accessors->read.objects, owner, owned, &indexes, NULL, NULL);
  kvo_status status = take_collection(owned[0], elements, error);
  if (status || elements->count == expected) return status;
  return kvo_fail_index(error, kvo_class_name(kvo_class_of(owner)), accessors->key,
      kvo_index_set_last(indexes), kvo_collection_accessors_count(accessors, owner));
}

kvo_status kvo_collection_accessors_get(const kvo_collection_accessors *accessors,
    kvo_object *owner, size_t index, kvo_value *element, kvo_error *error) {
  if (accessors->read.object) return get_object(accessors, owner, index, element, error);
  kvo_index_set *indexes = kvo_index_set_create_range(index, 1);
  kvo_elements one = {0};
  kvo_status status = indexes ? get_objects(accessors, owner, indexes, &one, error)
                              : no_memory(accessors, owner, error);
  kvo_index_set_destroy(indexes);
  if (!status) {
    *element = one.values[0];
    one.count = 0;
  }
  kvo_elements_destroy(&one);
  return status;
}

// MARK: Many elements

// get<Key>:range: fills a buffer with elements of the type that objectIn<Key>AtIndex: returns.
static kvo_status get_range(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_range range, kvo_elements *elements, kvo_error *error) {
  const kvo_method *method = accessors->read.range;
  const kvo_type *type = accessors->element_type;
  size_t size = 0;
  if (__builtin_mul_overflow(range.length, type->size, &size))
    return no_memory(accessors, owner, error);
  char *buffer = kvo_alloc_zeroed(size);
  if (!buffer) return no_memory(accessors, owner, error);
  const kvo_index_argument location = kvo_method_index(method, 1, range.location);
  const kvo_index_argument length = kvo_method_index(method, 2, range.length);
  uint64_t dropped[2];
  ask_method(method, owner, dropped, &buffer, location.bytes, length.bytes);
  kvo_status status = KVO_OK;
  for (size_t i = 0; !status && i < range.length; i++) {
    kvo_value element;
    status = kvo_value_init(&element, type, buffer + i * type->size);
    if (!status) status = kvo_elements_take(elements, element);
  }
  kvo_free(buffer);
  return status ? no_memory(accessors, owner, error) : KVO_OK;
}

static kvo_status get_each(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_range range, kvo_elements *elements, kvo_error *error) {
  for (size_t i = 0; i < range.length; i++) {
    kvo_value element;
    kvo_status status = get_object(accessors, owner, range.location + i, &element, error);
    if (status) return status;
    if (kvo_elements_take(elements, element)) return no_memory(accessors, owner, error);
  }
  return KVO_OK;
}

kvo_status kvo_collection_accessors_pick(const kvo_collection_accessors *accessors,
    kvo_object *owner, const kvo_index_set *indexes, kvo_elements *elements, kvo_error *error) {
  size_t count = kvo_index_set_count(indexes), ranges = kvo_index_set_range_count(indexes);
  if (!count) return KVO_OK;
  bool by_range = accessors->read.range && accessors->element_type && count > 1;
  bool by_indexes = accessors->read.objects && (count > 1 || !accessors->read.object);
  if (by_indexes && !(by_range && ranges == 1))
    return get_objects(accessors, owner, indexes, elements, error);
  for (size_t i = 0; i < ranges; i++) {
    kvo_range range = kvo_index_set_range(indexes, i);
    kvo_status status = by_range && range.length > 1
                            ? get_range(accessors, owner, range, elements, error)
                            : get_each(accessors, owner, range, elements, error);
    if (status) return status;
  }
  return KVO_OK;
}

static kvo_status enumerate(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_elements *elements, kvo_error *error) {
  const kvo_method *method = accessors->read.enumerator;
  kvo_object *owned = NULL;
  kvo_call_get(method->call, kvo_method_lookup(owner, method), owner, method, &owned);
  return take_collection(owned, elements, error);
}

kvo_status kvo_collection_accessors_all(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_elements *elements, kvo_error *error) {
  if (accessors->kind == KVO_SET) return enumerate(accessors, owner, elements, error);
  size_t count = kvo_collection_accessors_count(accessors, owner);
  kvo_index_set *all = kvo_index_set_create_range(0, count);
  if (!all) return no_memory(accessors, owner, error);
  kvo_status status = kvo_collection_accessors_pick(accessors, owner, all, elements, error);
  kvo_index_set_destroy(all);
  return status;
}

// MARK: Finding

// Calls a method with an element as its type has it. False if the type can't express it: then no
// member is equal to it.
static bool ask(const kvo_method *method, kvo_object *owner, const kvo_value *element,
    kvo_value *answer) {
  kvo_value converted;
  const void *none = NULL;
  uint64_t result[2] = {0};
  if (kvo_value_convert(&converted, kvo_method_argument(method, 0), element)) return false;
  bool exact = kvo_value_equal(&converted, element);
  const void *bytes = kvo_value_bytes(&converted);
  if (exact) ask_method(method, owner, result, bytes ? bytes : &none, NULL, NULL);
  kvo_value_destroy(&converted);
  return exact && kvo_value_init(answer, method->call->result, result) == KVO_OK;
}

static bool tells_truth(const kvo_value *answer) {
  const kvo_type *type = answer->type;
  if (!type) return false;
  if (type->kind == KVO_KIND_POINTER) return *(void *const *)kvo_value_bytes(answer) != NULL;
  return !kvo_type_is_number(type) || kvo_value_get_bool(answer);
}

size_t kvo_collection_accessors_index(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element) {
  kvo_value answer;
  if (!ask(accessors->read.index, owner, element, &answer)) return KVO_NOT_FOUND;
  // -1 is KVO_NOT_FOUND also in a narrower type.
  int64_t index = kvo_value_get_int(&answer);
  int64_t narrow =
      answer.type->size < sizeof index ? ((int64_t)1 << 8 * answer.type->size) - 1 : -1;
  return index < 0 || index == narrow ? KVO_NOT_FOUND : (size_t)index;
}

bool kvo_collection_accessors_has(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element) {
  if (!accessors->read.member)
    return kvo_collection_accessors_index(accessors, owner, element) != KVO_NOT_FOUND;
  kvo_value answer;
  if (!ask(accessors->read.member, owner, element, &answer)) return false;
  bool found = tells_truth(&answer);
  kvo_value_destroy(&answer);
  return found;
}
