// A value is its type and its bytes, which are stored in its three words if they fit, otherwise in a heap block of
// its own.
//
// Invariants: a value with a type owns the result of its type's `copy`. Nil has no type and owns nothing. A NULL
// string or object is nil, never a value. The words are aligned to 16, so types with a larger alignment go to the
// heap, in a block with room for aligning them. Values are moved by plain assignment, which works for every type
// whose bytes don't contain their own address; a binding boxes the others.
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "types/kvo_type.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_ALIGNMENT = 16 };
_Static_assert(_Alignof(kvo_value) == WORDS_ALIGNMENT, "any built-in type may lie in the words");
_Static_assert(_Alignof(max_align_t) <= WORDS_ALIGNMENT, "heap blocks are no better aligned");
_Static_assert(sizeof(kvo_value) == 32, "three words and the type");

static bool is_inline(const kvo_type *type) {
  return type->size <= KVO_VALUE_INLINE_SIZE && type->alignment <= WORDS_ALIGNMENT;
}

static bool is_over_aligned(const kvo_type *type) {
  return type->alignment > _Alignof(max_align_t);
}

static void *value_aligned(const kvo_type *type, void *block) {
  if (!is_over_aligned(type)) return block;
  uintptr_t mask = type->alignment - 1;
  return (char *)block + (-(uintptr_t)block & mask);
}

static void *value_storage_of(const kvo_value *value) {
  kvo_value *whole = (kvo_value *)(uintptr_t)value;
  return is_inline(value->type) ? whole->payload.words
                                : value_aligned(value->type, whole->payload.heap);
}

static bool value_make_room(kvo_value *value, const kvo_type *type) {
  value->type = type;
  if (is_inline(type)) return true;
  value->payload.heap = kvo_alloc(type->size + (is_over_aligned(type) ? type->alignment : 0));
  return value->payload.heap != NULL;
}

void kvo_value_give_up(kvo_value *value) {
  if (!is_inline(value->type)) kvo_free(value->payload.heap);
  value->type = NULL;
}

void *kvo_value_room(kvo_value *value, const kvo_type *type) {
  if (value_make_room(value, type)) return value_storage_of(value);
  kvo_value_give_up(value);
  return NULL;
}

// One of the inline sizes is by far the most frequent, and worth a copy without a call.
static void copy_small(void *target, const void *source, size_t size) {
  if (size == sizeof(uint64_t)) memcpy(target, source, sizeof(uint64_t));
  else memcpy(target, source, size);
}

kvo_status kvo_value_init(kvo_value *value, const kvo_type *type, const void *bytes) {
  value->type = NULL;
  if (KVO_LIKELY(!type->copy && is_inline(type))) {
    copy_small(value->payload.words, bytes, type->size);
    value->type = type;
    return KVO_OK;
  }
  if (kvo_type_stands_for_nil(type, bytes)) return KVO_OK;
  if (value_make_room(value, type) && kvo_type_copy(type, value_storage_of(value), bytes))
    return KVO_OK;
  kvo_value_give_up(value);
  return KVO_NO_MEMORY;
}

kvo_status kvo_value_copy(kvo_value *target, const kvo_value *source) {
  if (source && source->type) return kvo_value_init(target, source->type, value_storage_of(source));
  *target = KVO_VALUE_NIL;
  return KVO_OK;
}

typedef struct {
  const kvo_type *type;
  void *heap;
} heap_value;

static void destroy_in_heap(void *opaque) {
  const heap_value *value = opaque;
  value->type->destroy(value->type, value_aligned(value->type, value->heap));
}

static void free_heap(void *opaque) { kvo_free(((heap_value *)opaque)->heap); }

static __attribute__((noinline)) void destroy_and_free(heap_value value) {
  if (value.type->destroy) kvo_finally(destroy_in_heap, free_heap, &value);
  else free_heap(&value);
}

void kvo_value_destroy(kvo_value *value) {
  const kvo_type *type = value->type;
  if (!type) return;
  value->type = NULL; // before the program's code, which may throw
  if (!is_inline(type)) destroy_and_free((heap_value){type, value->payload.heap});
  else if (type->destroy) type->destroy(type, value->payload.words);
}

const void *kvo_value_bytes(const kvo_value *value) {
  return value && value->type ? value_storage_of(value) : NULL;
}

bool kvo_value_is_nil(const kvo_value *value) {
  const kvo_type *type = value ? value->type : NULL;
  if (!type || !type->operations || !type->operations->is_nil) return !type;
  return type->operations->is_nil(type, value_storage_of(value));
}

void kvo_value_unwrap(kvo_value *value) {
  const kvo_type_operations *operations = value->type ? value->type->operations : NULL;
  if (!operations || !operations->unwrap) return;
  kvo_value inner;
  operations->unwrap(value->type, value_storage_of(value), &inner);
  kvo_value_destroy(value);
  *value = inner;
}

size_t kvo_value_describe(const kvo_value *value, char *buffer, size_t capacity) {
  const kvo_type *type = value ? value->type : NULL;
  if (type && type->describe)
    return type->describe(type, value_storage_of(value), buffer, capacity);
  int length =
      type ? snprintf(buffer, capacity, "<%s>", type->encoding) : snprintf(buffer, capacity, "nil");
  return length < 0 ? 0 : (size_t)length;
}

// MARK: Values of the common types

static kvo_value value_make(kvo_kind kind, const void *bytes) {
  kvo_value value;
  kvo_value_init(&value, kvo_type_of_kind(kind), bytes); // nil if it fails
  return value;
}

kvo_value kvo_value_bool(bool value) { return value_make(KVO_KIND_BOOL, &value); }
kvo_value kvo_value_int(int64_t value) { return value_make(KVO_KIND_INT64, &value); }
kvo_value kvo_value_double(double value) { return value_make(KVO_KIND_DOUBLE, &value); }
kvo_value kvo_value_string(const char *string) { return value_make(KVO_KIND_STRING, &string); }
kvo_value kvo_value_object(kvo_object *object) { return value_make(KVO_KIND_OBJECT, &object); }

// Pointers are stored in the words.

const char *kvo_value_get_string(const kvo_value *value) {
  const char *string = NULL;
  bool is_string = value && value->type && value->type->kind == KVO_KIND_STRING;
  if (is_string) memcpy(&string, value->payload.words, sizeof string);
  return string;
}

kvo_object *kvo_value_get_object(const kvo_value *value) {
  const kvo_type *type = value ? value->type : NULL;
  kvo_object *object = NULL;
  if (!type) return NULL;
  if (type->kind == KVO_KIND_OBJECT) memcpy(&object, value->payload.words, sizeof object);
  else if (type->operations && type->operations->object)
    object = type->operations->object(type, value_storage_of(value));
  return object;
}
