/// Types and values: how properties of any type pass through the runtime without conversion, and how numbers convert
/// on request.
#ifndef KVO_VALUE_H
#define KVO_VALUE_H

#include "kvo_index_set.h"
#include "kvo_object.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// How conversions treat a type. Scalar kinds are the types of C, by width where C fixes it.
typedef enum KVO_CLOSED_ENUM kvo_kind {
  KVO_KIND_VOID = 0,    ///< no value: the result of a setter
  KVO_KIND_BOOL,        ///< `bool`
  KVO_KIND_INT8,        ///< `int8_t`, `char` where it is signed
  KVO_KIND_UINT8,       ///< `uint8_t`, `char` where it is unsigned, as on arm64
  KVO_KIND_INT16,       ///< `int16_t`
  KVO_KIND_UINT16,      ///< `uint16_t`
  KVO_KIND_INT32,       ///< `int32_t`
  KVO_KIND_UINT32,      ///< `uint32_t`
  KVO_KIND_INT64,       ///< `int64_t`
  KVO_KIND_UINT64,      ///< `uint64_t`
  KVO_KIND_FLOAT,       ///< `float`
  KVO_KIND_DOUBLE,      ///< `double`
  KVO_KIND_LONG_DOUBLE, ///< `long double`
  KVO_KIND_POINTER,     ///< any pointer without ownership
  KVO_KIND_STRING,      ///< `const char *`, copied into values; NULL is nil
  KVO_KIND_OBJECT,      ///< `kvo_object *`, retained by values; NULL is nil
  KVO_KIND_SELECTOR,    ///< `const kvo_method *`: the second argument of a method
  KVO_KIND_STRUCT,      ///< a struct, by its bytes
  KVO_KIND_BINDING,     ///< a binding's own type, which only its functions understand
} kvo_kind;

/// Describes a type. `kvo_type_for_encoding` finds the runtime's own types. A binding defines its own, which must
/// never be freed. The functions may be called on any thread. Values are moved by copying their bytes, so a type
/// whose values contain their own address must be stored behind a pointer.
typedef struct kvo_type kvo_type;
struct kvo_type {
  const char *encoding; ///< the encoding; for a binding's type, its name
  size_t size;          ///< the size of a value, in bytes
  size_t alignment;     ///< the alignment of a value, in bytes
  kvo_kind kind;        ///< how conversions treat it
  /// Initialises `*target` as a copy of `*source`. NULL: the bytes are the value.
  void (*KVO_NULLABLE copy)(const kvo_type *type, void *target, const void *source);
  /// Destroys a value made by `copy`. NULL: nothing to do.
  void (*KVO_NULLABLE destroy)(const kvo_type *type, void *value);
  /// Whether two values are equal. NULL: values are never equal.
  bool (*KVO_NULLABLE equal)(const kvo_type *type, const void *a, const void *b);
  /// Writes a description of at most `capacity` bytes, including the NUL; returns the whole length.
  size_t (*KVO_NULLABLE describe)(const kvo_type *type, const void *value, char *buffer,
      size_t capacity);
  const void *KVO_NULLABLE binding; ///< the binding's own data about the type
  /// Further operations of a binding's type, for key-value coding. NULL: none.
  const struct kvo_type_operations *KVO_NULLABLE operations;
};

/// A value with its type. Up to three words are stored inline, larger values on the heap. A nil value has type NULL.
/// Every initialised value must be destroyed, unless it is a number or nil. 32 bytes, aligned at 16.
typedef struct kvo_value {
  /// Belongs to the runtime. Read it by `kvo_value_bytes` and the readers below.
  union {
    uint64_t words[3];       ///< the bytes of a value that fits
    void *KVO_NULLABLE heap; ///< the memory of a larger value
  } payload __attribute__((aligned(16)));
  const kvo_type *KVO_NULLABLE type; ///< NULL: nil
} kvo_value;

/// The kinds of collections.
typedef enum KVO_CLOSED_ENUM kvo_collection_kind {
  KVO_ARRAY = 1,   ///< Elements in an order, which may be equal.
  KVO_SET,         ///< Each element once, in no order.
  KVO_ORDERED_SET, ///< Each element once, in an order.
} kvo_collection_kind;

/// The operations of a binding's collection type.
typedef struct kvo_collection_operations {
  kvo_collection_kind kind; ///< the kind of the type's values
  /// The number of elements of a value.
  size_t (*count)(const kvo_type *type, const void *value);
  /// Initialises `*element` as a copy of the element at an index below `count`. The order of a set's elements is
  /// arbitrary, but the same until the set changes. On KVO_NO_MEMORY `*element` is nil.
  kvo_status (*get)(const kvo_type *type, const void *value, size_t index, kvo_value *element);
  /// Initialises `*target` as a collection of these elements, which stay the caller's. KVO_TYPE_MISMATCH and
  /// KVO_NO_MEMORY leave it uninitialised. NULL: values can't be made.
  kvo_status (*KVO_NULLABLE make)(const kvo_type *type, void *target, const kvo_value *elements,
      size_t count, kvo_error *KVO_NULLABLE error);
  /// Passes a copy of each element to `take`, which owns it from then on. Stops and returns the status if `take`
  /// returns anything but KVO_OK, or with KVO_NO_MEMORY. NULL: `get` is called for each element.
  kvo_status (*KVO_NULLABLE each)(const kvo_type *type, const void *value,
      kvo_status (*KVO_NONNULL take)(void *context, kvo_value element), void *context);
  /// Initialises `*target` as a value of this type with those elements at the indexes that exist; with none if the
  /// value is nil. NULL, and for sets: observers receive a `kvo_collection`.
  kvo_status (*KVO_NULLABLE pick)(const kvo_type *type, const void *value,
      const kvo_index_set *indexes, void *target);
  /// For a set: initialises `*target` as a value of this type with those elements of `a` that are in `b` (`wanted`)
  /// or are not. Both have this type.
  kvo_status (*KVO_NULLABLE filter)(const kvo_type *type, const void *a, const void *b, bool wanted,
      void *target);
  /// For an array whose storage contains a strong reference to an object for each element and nothing else: passes the
  /// references to `body`, in order, with the offset from an object's address to its header. No lock of the binding's
  /// may be held. NULL for any other type.
  void (*KVO_NULLABLE references)(const kvo_type *type, const void *value,
      void (*KVO_NONNULL body)(void *context, const uintptr_t *references, size_t count,
          ptrdiff_t offset),
      void *context);
} kvo_collection_operations;

/// Further operations of a binding's type. Each may be NULL. All may be called on any thread that may read the value.
typedef struct kvo_type_operations {
  /// The value as an object, borrowed; NULL if it is nil or not an object.
  kvo_object *KVO_NULLABLE (*KVO_NULLABLE object)(const kvo_type *type, const void *value);
  /// Initialises `*number` as a value of one of the runtime's numeric types, and returns true, if the value is a
  /// number.
  bool (*KVO_NULLABLE number)(const kvo_type *type, const void *value, kvo_value *number);
  /// Compares two values: negative, 0 or positive, as strcmp.
  int (*KVO_NULLABLE compare)(const kvo_type *type, const void *a, const void *b);
  /// The hash of a value. Equal values have equal hashes.
  uint64_t (*KVO_NULLABLE hash)(const kvo_type *type, const void *value);
  /// Initialises `*target` as a value of this type, converted from one of another type or from nil.
  /// KVO_TYPE_MISMATCH, KVO_NIL_VALUE (if the type has no nil) and KVO_NO_MEMORY leave it uninitialised.
  kvo_status (*KVO_NULLABLE convert)(const kvo_type *type, void *target, const kvo_value *source);
  /// Whether the value is the binding's own nil.
  bool (*KVO_NULLABLE is_nil)(const kvo_type *type, const void *value);
  const kvo_collection_operations
      *KVO_NULLABLE collection; ///< of a collection type; otherwise NULL
  /// Initialises `*inner` as the value that this one wraps, as an optional does. Key-value coding continues with
  /// that. Nil if it wraps nothing.
  void (*KVO_NULLABLE unwrap)(const kvo_type *type, const void *value, kvo_value *inner);
  /// Reads a key of a value that has keys but is not an object, such as a dictionary. Result and statuses as
  /// `kvo_value_for_key`.
  kvo_status (*KVO_NULLABLE value_for_key)(const kvo_type *type, const void *value, const char *key,
      kvo_value *result, kvo_error *KVO_NULLABLE error);
  /// Initialises `*values` as a collection of the values of all keys of such a value; operators work on it. Nil for
  /// nil.
  void (*KVO_NULLABLE values)(const kvo_type *type, const void *value, kvo_value *values);
  /// Initialises `*operand` as the operand that `@sum` and `@avg` use for a value that is not a number, and `@min` and
  /// `@max` for a value without an order: an enumeration's raw value. Returns false if there is none.
  bool (*KVO_NULLABLE operand)(const kvo_type *type, const void *value, kvo_value *operand);
  /// Initialises `*sum` as the sum, divided by `count`, of a number that the runtime's types can't represent and
  /// another number or nil. Returns false if `other` is not a number.
  bool (*KVO_NULLABLE add)(const kvo_type *type, const void *value, const kvo_value *other,
      size_t count, kvo_value *sum);
  /// Initialises `*equivalent` as an equal value of a simpler type: the string in a string object, the number in a
  /// number object. A value is compared with values of other types by it, and hashed by it if `hash` is NULL. Returns
  /// false if there is none.
  bool (*KVO_NULLABLE equivalent)(const kvo_type *type, const void *value, kvo_value *equivalent);
  /// Replaces a value that others may change in place by a copy. NULL: values don't change.
  void (*KVO_NULLABLE detach)(const kvo_type *type, void *value);
  /// Whether the value equals one of another type of the binding's, for observers of distinct changes. NULL: they are
  /// compared as numbers, and by `equivalent`.
  bool (*KVO_NULLABLE equal_other)(const kvo_type *type, const void *value, const kvo_value *other);
} kvo_type_operations;

/// The number of bytes that a value stores inline, and the nil value.
#define KVO_VALUE_INLINE_SIZE sizeof(((kvo_value *)0)->payload.words)
#ifdef __cplusplus
#define KVO_VALUE_NIL \
  kvo_value {}
#else
#define KVO_VALUE_NIL ((kvo_value){.type = NULL})
#endif

/// Returns the type for an encoding: scalars, `*`, `@`, `:`, `^…`, structs `{name=…}`, arrays inside structs. NULL
/// with KVO_INVALID_ENCODING or KVO_NO_MEMORY. Types are interned and never freed. Any thread.
const kvo_type *KVO_NULLABLE kvo_type_for_encoding(const char *encoding,
    kvo_error *KVO_NULLABLE error);

/// Initialises a value from a C value of any type. Strings are copied, objects retained; a NULL string or object
/// makes nil.
/// - value: receives the new value. It need not be initialised. The caller must destroy it.
/// - type: the type, from `kvo_type_for_encoding`.
/// - bytes: the address of the C value: of a `double`, of a `const char *`, of a struct. The value is copied from
///   there.
///
/// KVO_NO_MEMORY leaves `*value` nil. Any thread.
kvo_status kvo_value_init(kvo_value *value, const kvo_type *type, const void *bytes);
/// Initialises `*target` as a copy of a value, which the caller must destroy. Strings are copied, objects retained;
/// NULL gives nil. KVO_NO_MEMORY leaves it nil. Any thread that may read the value.
kvo_status kvo_value_copy(kvo_value *target, const kvo_value *KVO_NULLABLE source);
/// Destroys a value: frees its string, releases its object. It becomes nil. Destroying nil is allowed.
void kvo_value_destroy(kvo_value *value);

/// The address of the value's bytes: of the `double`, the `const char *`, the struct. NULL for NULL and for nil, but
/// not for a binding's own nil. Valid as long as the value is.
const void *KVO_NULLABLE kvo_value_bytes(const kvo_value *KVO_NULLABLE value);
/// Whether the value is nil: also true for a binding's own nil, and for NULL.
bool kvo_value_is_nil(const kvo_value *KVO_NULLABLE value);
/// Whether two values are equal: of the same type and equal, numbers that are numerically equal, the same object,
/// collections of one kind with equal elements (in the same order unless they are sets), or both nil. O(1); O(n) for
/// collections.
bool kvo_value_equal(const kvo_value *a, const kvo_value *b);
/// Writes a value as text, for a user or a log. NULL, which a change returns for a value that it lacks, is written as
/// "nil".
/// - buffer: receives the text, which always ends in a NUL.
/// - capacity: the buffer's size in bytes. Longer text is cut.
/// - Returns: the length of the whole text, as snprintf does.
size_t kvo_value_describe(const kvo_value *KVO_NULLABLE value, char *buffer, size_t capacity);

/// Makes a truth value. It need not be destroyed. Any thread.
kvo_value kvo_value_bool(bool value);
/// Makes a value from an integer, as an `int64_t`. It need not be destroyed. Any thread.
kvo_value kvo_value_int(int64_t value);
/// Makes a value from a floating-point number, as a `double`. It need not be destroyed. Any thread.
kvo_value kvo_value_double(double value);
/// Makes a value with a copy of a string, which the caller must destroy. Nil for NULL, and if out of memory. Any
/// thread.
kvo_value kvo_value_string(const char *KVO_NULLABLE string);
/// Makes a value with an object, which is retained until the caller destroys the value. Nil for NULL. Any thread.
kvo_value kvo_value_object(kvo_object *KVO_NULLABLE object);

/// Whether a value is a number other than 0. NaN is such a number. False for NULL and for a value that is not a number.
/// Any thread that may read the value.
bool kvo_value_get_bool(const kvo_value *KVO_NULLABLE value);
/// Reads a number as an integer: a fraction is cut off, a number beyond 64 bits saturates, NaN is 0. 0 for NULL and
/// for a value that is not a number. Any thread that may read the value.
int64_t kvo_value_get_int(const kvo_value *KVO_NULLABLE value);
/// Reads a number as a `double`. 0 for NULL and for a value that is not a number. Any thread that may read the value.
double kvo_value_get_double(const kvo_value *KVO_NULLABLE value);
/// The string of a value, borrowed: copy it to keep it beyond the value. NULL for nil, for NULL, and for a value that
/// is not a string. Any thread that may read the value.
const char *KVO_NULLABLE kvo_value_get_string(const kvo_value *KVO_NULLABLE value);
/// The object of a value, borrowed: retain it to keep it beyond the value. NULL for nil, for NULL, and for a value
/// that is not an object. Any thread that may read the value.
kvo_object *KVO_NULLABLE kvo_value_get_object(const kvo_value *KVO_NULLABLE value);

/// Initialises `*target` as the source converted to a type, for the caller to destroy. Numbers convert to any numeric
/// type: a fraction is cut off, an integer wraps to the width. A binding's number, object or collection converts to
/// the runtime's types, and any value that a binding converts to the binding's types. Other types convert only to
/// themselves.
///
/// KVO_TYPE_MISMATCH, KVO_NIL_VALUE (from a binding) and KVO_NO_MEMORY leave `*target` nil. Any thread that may read
/// the source.
kvo_status kvo_value_convert(kvo_value *target, const kvo_type *type, const kvo_value *source);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
