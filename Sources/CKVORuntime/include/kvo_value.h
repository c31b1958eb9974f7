/// Types and values: how a property of any type travels through the runtime without being
/// converted, and how numbers convert when somebody asks.
#ifndef KVO_VALUE_H
#define KVO_VALUE_H

#include "kvo_index_set.h"
#include "kvo_object.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// What a type is to conversions. Scalar kinds are C's, by width where C says so.
typedef enum KVO_CLOSED_ENUM kvo_kind {
  KVO_KIND_VOID = 0,    ///< no value: the result of a setter
  KVO_KIND_BOOL,        ///< `bool`
  KVO_KIND_INT8,        ///< `int8_t`, `char` where it is signed
  KVO_KIND_UINT8,       ///< `uint8_t`, `char` where it is not, as on arm64
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
  KVO_KIND_BINDING,     ///< a binding's own type: only its functions know it
} kvo_kind;

/// Describes a type. The runtime's own are found by `kvo_type_for_encoding`; a binding fills in
/// its own, which must live for ever. Functions may be called on any thread. Values are moved by
/// copying their bytes: a type whose values know their address is stored behind a pointer.
typedef struct kvo_type kvo_type;
struct kvo_type {
  const char *encoding; ///< or, for a binding's type, its name
  size_t size;          ///< of a value, in bytes
  size_t alignment;     ///< of a value, in bytes
  kvo_kind kind;        ///< what conversions take it for
  /// Makes `*target`, uninitialised before, a copy of `*source`. NULL: the bytes are the value.
  void (*KVO_NULLABLE copy)(const kvo_type *type, void *target, const void *source);
  /// Ends a value made by `copy`. NULL: nothing to do.
  void (*KVO_NULLABLE destroy)(const kvo_type *type, void *value);
  /// NULL: values are never equal.
  bool (*KVO_NULLABLE equal)(const kvo_type *type, const void *a, const void *b);
  /// Writes at most `capacity` bytes with the NUL; returns the length that all of it would have.
  size_t (*KVO_NULLABLE describe)(const kvo_type *type, const void *value, char *buffer,
      size_t capacity);
  const void *KVO_NULLABLE binding; ///< the binding's own data about the type
  /// What else key-value coding may do with values of a binding's type. NULL: nothing.
  const struct kvo_type_operations *KVO_NULLABLE operations;
};

/// A value with its type: three words inline, heap above that. Nil has type NULL.
/// A value that was filled in must be destroyed, unless it is a number or nil. 32 bytes, aligned at
/// 16.
typedef struct kvo_value {
  /// The runtime's own: read by `kvo_value_bytes` and the readers below.
  union {
    uint64_t words[3];
    void *KVO_NULLABLE heap;
  } payload __attribute__((aligned(16)));
  const kvo_type *KVO_NULLABLE type; ///< NULL: nil
} kvo_value;

/// The kinds of collections.
typedef enum KVO_CLOSED_ENUM kvo_collection_kind {
  KVO_ARRAY = 1,   ///< Elements in an order, equal ones as often as they were put in.
  KVO_SET,         ///< Each element once, in no order.
  KVO_ORDERED_SET, ///< Each element once, in an order.
} kvo_collection_kind;

/// A binding's collection type.
typedef struct kvo_collection_operations {
  kvo_collection_kind kind; ///< what the type's values are
  /// How many elements a value has.
  size_t (*count)(const kvo_type *type, const void *value);
  /// Makes the uninitialised `*element` a copy of the element at an index below `count`; a set's
  /// elements stand in some order, the same as long as it does not change. KVO_NO_MEMORY leaves
  /// nil.
  kvo_status (*get)(const kvo_type *type, const void *value, size_t index, kvo_value *element);
  /// Makes the uninitialised `*target` a collection of these elements, which stay the caller's.
  /// KVO_TYPE_MISMATCH or KVO_NO_MEMORY leave it uninitialised. NULL: can't be made.
  kvo_status (*KVO_NULLABLE make)(const kvo_type *type, void *target, const kvo_value *elements,
      size_t count, kvo_error *KVO_NULLABLE error);
  /// Hands a copy of each element to `take`, whose it is then. What `take` answers but KVO_OK ends
  /// it and is returned, and so does KVO_NO_MEMORY. NULL: `get` is called for each.
  kvo_status (*KVO_NULLABLE each)(const kvo_type *type, const void *value,
      kvo_status (*KVO_NONNULL take)(void *context, kvo_value element), void *context);
  /// Makes the uninitialised `*target` a value of this type with the elements at those indexes that
  /// there are, none of a nil value. NULL, also of sets: observers are told a `kvo_collection`.
  kvo_status (*KVO_NULLABLE pick)(const kvo_type *type, const void *value,
      const kvo_index_set *indexes, void *target);
  /// The same of a set: those elements of `a` that are, or are not, in `b`, both of this type.
  kvo_status (*KVO_NULLABLE filter)(const kvo_type *type, const void *a, const void *b, bool wanted,
      void *target);
} kvo_collection_operations;

/// What a binding's type can do besides being copied. Each may be NULL; all may be called on any
/// thread that may read the value.
typedef struct kvo_type_operations {
  /// The object that the value is, borrowed; NULL for nil and for what is none.
  kvo_object *KVO_NULLABLE (*KVO_NULLABLE object)(const kvo_type *type, const void *value);
  /// Makes the uninitialised `*number` a value of one of the runtime's numeric types, if the value
  /// is a number.
  bool (*KVO_NULLABLE number)(const kvo_type *type, const void *value, kvo_value *number);
  /// Negative, 0 or positive, as strcmp.
  int (*KVO_NULLABLE compare)(const kvo_type *type, const void *a, const void *b);
  /// Equal values have equal hashes.
  uint64_t (*KVO_NULLABLE hash)(const kvo_type *type, const void *value);
  /// Makes the uninitialised `*target` a value of this type from one of another type, or from nil.
  /// KVO_TYPE_MISMATCH, KVO_NIL_VALUE (of a type without nil) and KVO_NO_MEMORY leave it
  /// uninitialised.
  kvo_status (*KVO_NULLABLE convert)(const kvo_type *type, void *target, const kvo_value *source);
  /// Whether the value is the binding's own nil.
  bool (*KVO_NULLABLE is_nil)(const kvo_type *type, const void *value);
  const kvo_collection_operations *KVO_NULLABLE collection; ///< of a collection type
  /// Makes the uninitialised `*inner` what the value merely wraps, as an optional does: key-value
  /// coding goes on with that. Nil of nothing.
  void (*KVO_NULLABLE unwrap)(const kvo_type *type, const void *value, kvo_value *inner);
  /// Reads a key of a value that has keys and is no object, such as a dictionary. As
  /// `kvo_value_for_key`.
  kvo_status (*KVO_NULLABLE value_for_key)(const kvo_type *type, const void *value, const char *key,
      kvo_value *result, kvo_error *KVO_NULLABLE error);
  /// Makes the uninitialised `*values` a collection of what such a value has for all its keys:
  /// operators work on that. Nil of nil.
  void (*KVO_NULLABLE values)(const kvo_type *type, const void *value, kvo_value *values);
  /// Makes the uninitialised `*operand` what `@sum`, `@avg`, `@min` and `@max` take of a value that is neither a number
  /// nor has an order itself: an enumeration's raw value. False where there is nothing else than the value.
  bool (*KVO_NULLABLE operand)(const kvo_type *type, const void *value, kvo_value *operand);
  /// Makes the uninitialised `*sum` the sum of a number that the runtime's types can't hold and another number, or nil,
  /// divided by `count`. False if the other one is none.
  bool (*KVO_NULLABLE add)(const kvo_type *type, const void *value, const kvo_value *other,
      size_t count, kvo_value *sum);
} kvo_type_operations;

/// How many bytes lie in a value itself, and the value that is nil.
#define KVO_VALUE_INLINE_SIZE sizeof(((kvo_value *)0)->payload.words)
#ifdef __cplusplus
#define KVO_VALUE_NIL \
  kvo_value {}
#else
#define KVO_VALUE_NIL ((kvo_value){.type = NULL})
#endif

/// The type of an encoding: scalars, `*`, `@`, `:`, `^…`, structs `{name=…}`, arrays inside
/// structs. NULL with KVO_INVALID_ENCODING. Types are interned and live for ever. Any thread.
const kvo_type *KVO_NULLABLE kvo_type_for_encoding(const char *encoding,
    kvo_error *KVO_NULLABLE error);

/// Makes a value of a C value of any type. Strings are copied, objects retained; a NULL string
/// or object makes nil.
/// - value: where the new value goes. It need not be initialised, and is the caller's to destroy.
/// - type: what `kvo_type_for_encoding` gives.
/// - bytes: the address of the C value: of a `double`, of a `const char *`, of a struct. It is copied from there.
///
/// KVO_NO_MEMORY leaves `*value` nil. Any thread.
kvo_status kvo_value_init(kvo_value *value, const kvo_type *type, const void *bytes);
/// Makes the uninitialised `*target` a copy of a value, which is the caller's to destroy: strings are copied, objects
/// retained; nil of NULL. KVO_NO_MEMORY leaves it nil. Any thread that may read the value.
kvo_status kvo_value_copy(kvo_value *target, const kvo_value *KVO_NULLABLE source);
/// Ends a value that is the caller's: frees its string, releases its object. It becomes nil. Nil is allowed.
void kvo_value_destroy(kvo_value *value);

/// Where the value lies, or NULL for nil (not for a binding's own) and of NULL: the address of the `double`, the `const char *`, the
/// struct. Valid while the value is.
const void *KVO_NULLABLE kvo_value_bytes(const kvo_value *KVO_NULLABLE value);
/// Whether the value is nil. Also of a binding's own nil, and of NULL.
bool kvo_value_is_nil(const kvo_value *KVO_NULLABLE value);
/// Same type and equal, numbers of equal worth, the same object, collections of one kind with equal
/// elements (in the same order unless they are sets), or both nil. O(1); collections O(n).
bool kvo_value_equal(const kvo_value *a, const kvo_value *b);
/// Writes a value as a program shows it to its user or its log. NULL, which a change gives for what it has not, is
/// described as nil is: "nil".
/// - buffer: where the text goes, with a NUL behind it.
/// - capacity: the buffer's size in bytes, which is never exceeded: what is longer is cut.
/// - Returns: the length that all of it would have, as snprintf does.
size_t kvo_value_describe(const kvo_value *KVO_NULLABLE value, char *buffer, size_t capacity);

/// A truth value. Values of the common types are made by this and the following functions, on any thread. Numbers need
/// not be destroyed.
kvo_value kvo_value_bool(bool value);
/// An integer of any width, as an `int64_t`. It need not be destroyed.
kvo_value kvo_value_int(int64_t value);
/// A floating-point number, as a `double`. It need not be destroyed.
kvo_value kvo_value_double(double value);
/// A copy of a string, which is the caller's to destroy; nil of NULL, and where there is no memory.
kvo_value kvo_value_string(const char *KVO_NULLABLE string);
/// An object, which is retained until the caller destroys the value; nil of NULL.
kvo_value kvo_value_object(kvo_object *KVO_NULLABLE object);

/// Whether a number is not 0. Values are read by this and the following functions. A number is converted as C converts it (a
/// fraction is cut, an integer wraps to the width), numbers beyond 64 bits saturate, NaN is 0. What is no number reads as 0,
/// what is no string or object as NULL. So does NULL in place of a value, which a change gives for what it lacks.
bool kvo_value_get_bool(const kvo_value *KVO_NULLABLE value);
/// A number as an integer: a fraction is cut, one beyond 64 bits saturates, NaN is 0. What is no number is 0, and so is NULL.
int64_t kvo_value_get_int(const kvo_value *KVO_NULLABLE value);
/// A number as a `double`. What is no number is 0, and so is NULL.
double kvo_value_get_double(const kvo_value *KVO_NULLABLE value);
/// The string of a value, which stays the value's: copy it to keep it longer. NULL for nil, for what is no string, and of
/// NULL.
const char *KVO_NULLABLE kvo_value_get_string(const kvo_value *KVO_NULLABLE value);
/// The object of a value, which stays the value's: retain it to keep it longer. NULL for nil, for what is no object, and of
/// NULL.
kvo_object *KVO_NULLABLE kvo_value_get_object(const kvo_value *KVO_NULLABLE value);

/// Makes the uninitialised `*target` the same value as another type: numbers as above; a binding's number, object or
/// collection, to the runtime's types; anything that a binding converts, to its types; other types
/// only to themselves. KVO_TYPE_MISMATCH, KVO_NIL_VALUE (from a binding) and KVO_NO_MEMORY leave
/// `*target` nil.
kvo_status kvo_value_convert(kvo_value *target, const kvo_type *type, const kvo_value *source);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
