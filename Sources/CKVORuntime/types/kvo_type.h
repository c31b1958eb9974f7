/// The runtime's own types: one for each scalar kind, and struct types, which are made from their encodings.
#ifndef KVO_TYPE_H
#define KVO_TYPE_H

#include "kvo_value.h"
#include "types/kvo_shapes.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether a type is `_Bool`, an integer or a floating-point type.
KVO_INLINE bool kvo_type_is_number(const kvo_type *type) {
  return type->kind >= KVO_KIND_BOOL && type->kind <= KVO_KIND_LONG_DOUBLE;
}

/// The single type of a kind other than struct and binding; void's has size 0. Static.
const kvo_type *kvo_type_of_kind(kvo_kind kind);

/// A type's name in messages: "double", "string", a struct's encoding, a binding's own name. NULL is the type of nil.
/// Lives as long as the type.
const char *kvo_type_name(const kvo_type *KVO_NULLABLE type);

/// The type of a kind and normalised text, as kvo_encoding.h reads them. Struct types are made when first needed, and
/// never freed. NULL with KVO_NO_MEMORY. Any thread.
const kvo_type *KVO_NULLABLE kvo_type_for_normal(kvo_kind kind, const char *text, size_t length,
    kvo_error *KVO_NULLABLE error);

/// Copies as `type->copy` does, but reports a failure: returns false if out of memory, and `*target` is still
/// uninitialised. For the runtime's own types, source and target may be the same address.
bool kvo_type_copy(const kvo_type *type, void *target, const void *source);

/// Whether the bytes are a NULL string or object, and so nil.
bool kvo_type_stands_for_nil(const kvo_type *type, const void *bytes);

/// Initialises a value of a type, except for its bytes, which the caller must write at the returned address. NULL,
/// and the value nil, if out of memory.
void *KVO_NULLABLE kvo_value_room(kvo_value *value, const kvo_type *type);
/// Makes a value that has an object but does not retain it, and must not be destroyed.
KVO_INLINE kvo_value kvo_value_borrowing(kvo_object *object) {
  return (kvo_value){
      .payload = {.words = {(uint64_t)(uintptr_t)object}},
      .type = kvo_type_of_kind(KVO_KIND_OBJECT),
  };
}
/// Replaces a binding's value by the value that it wraps; other values stay unchanged.
void kvo_value_unwrap(kvo_value *value);
/// Frees a value whose bytes were not written; it becomes nil.
void kvo_value_give_up(kvo_value *value);

/// A member, or the consecutive elements of an array over all its dimensions.
typedef struct kvo_struct_member {
  const kvo_type *type;
  size_t offset;
  size_t count;
} kvo_struct_member;

/// A type of kind KVO_KIND_STRUCT.
typedef struct kvo_struct_type {
  kvo_type type;
  void *KVO_NULLABLE ffi; ///< owned by ffi.c, made when first needed, atomically published
  kvo_shape shape;
  size_t member_count;
  kvo_struct_member members[];
} kvo_struct_type;

/// The shape of a struct, from the shapes of its members; in shape.c.
kvo_shape kvo_struct_shape(const kvo_struct_type *type);
KVO_INLINE kvo_shape kvo_type_shape(const kvo_type *type) {
  return type->kind == KVO_KIND_STRUCT ? ((const kvo_struct_type *)type)->shape : KVO_SHAPE_NONE;
}

/// The parts of `kvo_type_for_normal` and `kvo_type_copy` for structs, in struct.c.
const kvo_type *KVO_NULLABLE kvo_struct_type_for_normal(const char *text, size_t length,
    kvo_error *KVO_NULLABLE error);
bool kvo_struct_copy(const kvo_struct_type *type, void *target, const void *source);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
