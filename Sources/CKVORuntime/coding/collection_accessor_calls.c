// Calls of the collection accessors that read (B8).
//
// An accessor's result is borrowed, except for a collection, which the caller owns. If several accessors would do,
// the one that takes the fewest calls is used. They may throw: resources of a call are released then, too.
#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
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

// Storage for a result of any type; small ones are stored in place.
typedef struct {
  _Alignas(16) char bytes[64];
  void *KVO_NULLABLE heap;
} room;

static void *collection_call_make_room(room *room, const kvo_type *type) {
  room->heap = type->size > sizeof room->bytes ? kvo_alloc(type->size) : NULL;
  return type->size > sizeof room->bytes ? room->heap : room->bytes;
}

static void ask_method(const kvo_method *method, kvo_object *owner, void *result,
    const void *argument) {
  void *arguments[] = {&owner, &method, (void *)(uintptr_t)argument};
  kvo_call_invoke(method->call, kvo_method_lookup(owner, method), result, arguments);
}

static kvo_status collection_call_no_memory(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_error *error) {
  return kvo_fail_no_memory(error, "read", kvo_class_of(owner)->name, accessors->key);
}

// MARK: One element

size_t kvo_collection_accessors_count(const kvo_collection_accessors *accessors,
    kvo_object *owner) {
  const kvo_method *method = accessors->read.count;
  _Alignas(16) char bytes[16] = {0};
  kvo_call_get(method->call, kvo_method_lookup(owner, method), owner, method, bytes);
  kvo_value count;
  kvo_value_init(&count, method->call->result, bytes); // an integer, so it can't fail
  int64_t number = kvo_value_get_int(&count);
  return number > 0 ? (size_t)number : 0;
}

typedef struct {
  const kvo_method *method;
  kvo_object *owner;
  size_t index;
  room room;
  kvo_value value;
  kvo_status status;
} element_call;

static void call_for_element(void *opaque) {
  element_call *call = opaque;
  const kvo_type *type = call->method->call->result;
  const kvo_index_argument argument = kvo_method_index(call->method, 0, call->index);
  void *result = collection_call_make_room(&call->room, type);
  call->status = result ? KVO_OK : KVO_NO_MEMORY;
  if (!result) return;
  ask_method(call->method, call->owner, result, argument.bytes);
  call->status = kvo_value_init(&call->value, type, result);
}

static void end_element_call(void *opaque) { kvo_free(((element_call *)opaque)->room.heap); }

static kvo_status get_object(const kvo_collection_accessors *accessors, kvo_object *owner,
    size_t index, kvo_value *element, kvo_error *error) {
  element_call call;
  call.method = accessors->read.object;
  call.owner = owner;
  call.index = index;
  call.room.heap = NULL;
  // Only a result on the heap must be freed if the accessor throws.
  bool is_large = call.method->call->result->size > sizeof call.room.bytes;
  if (is_large) kvo_finally(call_for_element, end_element_call, &call);
  else call_for_element(&call);
  if (call.status) return collection_call_no_memory(accessors, owner, error);
  *element = call.value;
  return KVO_OK;
}

typedef struct {
  kvo_value value;
  kvo_elements *elements;
  kvo_error *error;
  kvo_status status;
} taking;

static void collection_call_take_elements(void *opaque) {
  taking *taking = opaque;
  taking->status = kvo_value_elements(&taking->value, NULL, taking->elements, taking->error);
}

static void end_taking(void *opaque) { kvo_value_destroy(&((taking *)opaque)->value); }

// Appends the elements of a collection that an accessor returned, and releases the collection.
static kvo_status collection_call_take_collection(kvo_object *owned, kvo_elements *elements,
    kvo_error *error) {
  if (!owned) return KVO_OK;
  taking taking = {.value = kvo_value_object(owned), .elements = elements, .error = error};
  kvo_object_release(owned);
  kvo_finally(collection_call_take_elements, end_taking, &taking);
  return taking.status;
}

// `<key>AtIndexes:` must return an element for each index. Any other number is reported as an index out of bounds.
static kvo_status get_objects(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_index_set *indexes, kvo_elements *elements, kvo_error *error) {
  kvo_object *owned[2] = {NULL};
  size_t expected = elements->count + kvo_index_set_count(indexes);
  ask_method(accessors->read.objects, owner, owned, &indexes);
  kvo_status status = collection_call_take_collection(owned[0], elements, error);
  if (status || elements->count == expected) return status;
  return kvo_fail_index(error, kvo_class_name(kvo_class_of(owner)), accessors->key,
      kvo_index_set_last(indexes), kvo_collection_accessors_count(accessors, owner));
}

// A function that appends the elements at some indexes.
typedef kvo_status (*reader)(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_index_set *indexes, kvo_elements *elements, kvo_error *error);

typedef struct {
  const kvo_collection_accessors *accessors;
  kvo_object *owner;
  kvo_index_set *indexes;
  reader read;
  kvo_elements *elements;
  kvo_error *error;
  kvo_status status;
} range_reading;

static void read_range(void *opaque) {
  range_reading *reading = opaque;
  reading->status = reading->read(reading->accessors, reading->owner, reading->indexes,
      reading->elements, reading->error);
}

static void end_range_reading(void *opaque) {
  kvo_index_set_destroy(((range_reading *)opaque)->indexes);
}

// Reads the elements of a range by a function that takes indexes.
static kvo_status with_range(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_range range, reader read, kvo_elements *elements, kvo_error *error) {
  kvo_index_set *indexes = kvo_index_set_create_range(range.location, range.length);
  if (!indexes) return collection_call_no_memory(accessors, owner, error);
  range_reading reading = {accessors, owner, indexes, read, elements, error, KVO_OK};
  kvo_finally(read_range, end_range_reading, &reading);
  return reading.status;
}

kvo_status kvo_collection_accessors_get(const kvo_collection_accessors *accessors,
    kvo_object *owner, size_t index, kvo_value *element, kvo_error *error) {
  if (accessors->read.object) return get_object(accessors, owner, index, element, error);
  kvo_elements one = {0};
  kvo_status status = with_range(accessors, owner, (kvo_range){index, 1}, get_objects, &one, error);
  if (!status) {
    *element = one.values[0];
    one.count = 0; // the element is the caller's now
  }
  kvo_elements_destroy(&one);
  return status;
}

// MARK: Many elements

typedef struct {
  const kvo_collection_accessors *accessors;
  kvo_object *owner;
  kvo_range range;
  char *buffer;
  kvo_elements *elements;
  kvo_status status;
} range_call;

static void call_for_range(void *opaque) {
  range_call *call = opaque;
  const kvo_method *method = call->accessors->read.range;
  const kvo_type *type = call->accessors->element_type;
  const kvo_index_argument location = kvo_method_index(method, 1, call->range.location);
  const kvo_index_argument length = kvo_method_index(method, 2, call->range.length);
  void *arguments[] = {&call->owner, &method, &call->buffer, (void *)(uintptr_t)location.bytes,
      (void *)(uintptr_t)length.bytes};
  kvo_call_drop(method->call, kvo_method_lookup(call->owner, method), arguments);
  for (size_t i = 0; !call->status && i < call->range.length; i++) {
    kvo_value element;
    call->status = kvo_value_init(&element, type, call->buffer + i * type->size);
    if (!call->status) call->status = kvo_elements_take(call->elements, element);
  }
}

static void end_range_call(void *opaque) { kvo_free(((range_call *)opaque)->buffer); }

// `get<Key>:range:` fills a buffer with elements of the type that `objectIn<Key>AtIndex:` returns.
static kvo_status get_range(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_range range, kvo_elements *elements, kvo_error *error) {
  size_t size = 0;
  if (__builtin_mul_overflow(range.length, accessors->element_type->size, &size))
    return collection_call_no_memory(accessors, owner, error);
  char *buffer = kvo_alloc_zeroed(size);
  if (!buffer) return collection_call_no_memory(accessors, owner, error);
  range_call call = {accessors, owner, range, buffer, elements, KVO_OK};
  kvo_finally(call_for_range, end_range_call, &call);
  return call.status ? collection_call_no_memory(accessors, owner, error) : KVO_OK;
}

static kvo_status get_each(const kvo_collection_accessors *accessors, kvo_object *owner,
    kvo_range range, kvo_elements *elements, kvo_error *error) {
  for (size_t i = 0; i < range.length; i++) {
    kvo_value element;
    kvo_status status = get_object(accessors, owner, range.location + i, &element, error);
    if (status) return status;
    if (kvo_elements_take(elements, element))
      return collection_call_no_memory(accessors, owner, error);
  }
  return KVO_OK;
}

// Makes one call if it can: of `get<Key>:range:` for a single range, otherwise of `<key>AtIndexes:`. If the latter is
// missing, each range is read by itself, by `get<Key>:range:` or one element at a time.
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

static kvo_status collection_call_enumerate(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_elements *elements, kvo_error *error) {
  const kvo_method *method = accessors->read.enumerator;
  kvo_object *owned = NULL;
  kvo_call_get(method->call, kvo_method_lookup(owner, method), owner, method, &owned);
  return collection_call_take_collection(owned, elements, error);
}

kvo_status kvo_collection_accessors_all(const kvo_collection_accessors *accessors,
    kvo_object *owner, kvo_elements *elements, kvo_error *error) {
  if (accessors->kind == KVO_SET)
    return collection_call_enumerate(accessors, owner, elements, error);
  const kvo_range all = {0, kvo_collection_accessors_count(accessors, owner)};
  return with_range(accessors, owner, all, kvo_collection_accessors_pick, elements, error);
}

// MARK: Finding

// One call of a method that takes an element.
typedef struct {
  const kvo_method *method;
  kvo_object *owner;
  const kvo_value *element;
  kvo_value converted;
  uint64_t result[2];
  bool exact;
} member_call;

// Passes nil as a null pointer.
static void call_for_member(void *opaque) {
  member_call *call = opaque;
  const void *none = NULL, *bytes = kvo_value_bytes(&call->converted);
  call->exact = kvo_value_equal(&call->converted, call->element);
  if (call->exact) ask_method(call->method, call->owner, call->result, bytes ? bytes : &none);
}

static void end_member_call(void *opaque) {
  kvo_value_destroy(&((member_call *)opaque)->converted);
}

// Calls a method with an element, converted to the type of its parameter. False if the type can't express the element:
// then no member is equal to it.
static bool collection_call_ask(const kvo_method *method, kvo_object *owner,
    const kvo_value *element, kvo_value *answer) {
  member_call call = {.method = method, .owner = owner, .element = element};
  if (kvo_value_convert(&call.converted, kvo_method_argument(method, 0), element)) return false;
  kvo_finally(call_for_member, end_member_call, &call);
  return call.exact && kvo_value_init(answer, method->call->result, call.result) == KVO_OK;
}

// A method answers with the member or nil, or with a Boolean. Any value but nil, a null pointer and zero is a yes.
static bool answers_yes(const kvo_value *answer) {
  const kvo_type *type = answer->type;
  if (!type) return false;
  if (type->kind == KVO_KIND_POINTER) return *(void *const *)kvo_value_bytes(answer) != NULL;
  return !kvo_type_is_number(type) || kvo_value_get_bool(answer);
}

size_t kvo_collection_accessors_index(const kvo_collection_accessors *accessors, kvo_object *owner,
    const kvo_value *element) {
  kvo_value answer;
  if (!collection_call_ask(accessors->read.index, owner, element, &answer)) return KVO_NOT_FOUND;
  // A narrower type can't hold KVO_NOT_FOUND; -1 converted to it stands for that.
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
  if (!collection_call_ask(accessors->read.member, owner, element, &answer)) return false;
  bool found = answers_yes(&answer);
  kvo_value_destroy(&answer);
  return found;
}
