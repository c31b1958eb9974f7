/// The runtime's own types behind `kvo_type`: one for each scalar kind, and struct types, which are
/// made from their encodings.
#ifndef KVO_TYPE_H
#define KVO_TYPE_H

#include "kvo_value.h"
#include "types/kvo_shapes.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether it is `_Bool`, an integer or a floating-point type.
KVO_INLINE bool kvo_type_is_number(const kvo_type *type) {
  return type->kind >= KVO_KIND_BOOL && type->kind <= KVO_KIND_LONG_DOUBLE;
}

/// The one type of a kind that is neither struct nor binding; void's has size 0. Static.
const kvo_type *kvo_type_of_kind(kvo_kind kind);

/// What messages call a type: "double", "string"; a struct's encoding, a binding's own name. NULL
/// is nil's. Lives as long as the type.
const char *kvo_type_name(const kvo_type *KVO_NULLABLE type);

/// The type of a kind and normalised text, as kvo_encoding.h reads them; structs are made at first
/// need and live for ever. NULL with KVO_NO_MEMORY. Any thread.
const kvo_type *KVO_NULLABLE kvo_type_for_normal(kvo_kind kind, const char *text, size_t length,
    kvo_error *KVO_NULLABLE error);

/// As `type->copy`, which can't report, but tells: false if memory is out, and then `*target` is
/// uninitialised as before. Of the runtime's own types the two may be one place.
bool kvo_type_copy(const kvo_type *type, void *target, const void *source);

/// Whether the bytes are a string's or object's that is NULL, and so nil.
bool kvo_type_stands_for_nil(const kvo_type *type, const void *bytes);

/// Makes an uninitialised value one of the type whose bytes the caller is about to write at the
/// returned place; NULL, and the value nil, if memory is out.
void *KVO_NULLABLE kvo_value_room(kvo_value *value, const kvo_type *type);
/// An object as a value that does not retain it, and must not be destroyed.
KVO_INLINE kvo_value kvo_value_borrowing(kvo_object *object) {
  return (kvo_value){
      .payload = {.words = {(uint64_t)(uintptr_t)object}},
      .type = kvo_type_of_kind(KVO_KIND_OBJECT),
  };
}
/// Puts in the place of a value of a binding's what that merely wraps; other values stay.
void kvo_value_unwrap(kvo_value *value);
/// Gives the room back without a value having been written: the value is nil.
void kvo_value_give_up(kvo_value *value);

/// A member, or the elements of an array, which lie one after the other over all its dimensions.
typedef struct kvo_struct_member {
  const kvo_type *type;
  size_t offset;
  size_t count;
} kvo_struct_member;

/// A type of kind KVO_KIND_STRUCT.
typedef struct kvo_struct_type {
  kvo_type type;
  void *KVO_NULLABLE ffi; ///< ffi.c's, made at first need, atomically published
  kvo_shape shape;
  size_t member_count;
  kvo_struct_member members[];
} kvo_struct_type;

/// The shape that its members make, each of which has its own; shape.c.
kvo_shape kvo_struct_shape(const kvo_struct_type *type);
KVO_INLINE kvo_shape kvo_type_shape(const kvo_type *type) {
  return type->kind == KVO_KIND_STRUCT ? ((const kvo_struct_type *)type)->shape : KVO_SHAPE_NONE;
}

/// Struct.c's part of `kvo_type_for_normal` and `kvo_type_copy`.
const kvo_type *KVO_NULLABLE kvo_struct_type_for_normal(const char *text, size_t length,
    kvo_error *KVO_NULLABLE error);
bool kvo_struct_copy(const kvo_struct_type *type, void *target, const void *source);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
