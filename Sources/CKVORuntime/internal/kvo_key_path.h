/// Key paths, parsed once for each text.
#ifndef KVO_KEY_PATH_H
#define KVO_KEY_PATH_H

#include "kvo_object.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What a component is besides a key.
typedef enum kvo_operator {
  KVO_OP_NONE, ///< a key
  KVO_OP_SELF, ///< `self`: the value as it is
  KVO_OP_COUNT,
  KVO_OP_SUM,
  KVO_OP_AVG,
  KVO_OP_MIN,
  KVO_OP_MAX,
  KVO_OP_UNION_OF_OBJECTS,
  KVO_OP_DISTINCT_UNION_OF_OBJECTS,
  KVO_OP_UNION_OF_ARRAYS,
  KVO_OP_DISTINCT_UNION_OF_ARRAYS,
  KVO_OP_UNION_OF_SETS,
  KVO_OP_DISTINCT_UNION_OF_SETS,
} kvo_operator;

/// Whether it works on the elements of a collection: all but a key and `self`.
KVO_INLINE bool kvo_operator_is_collective(kvo_operator op) { return op > KVO_OP_SELF; }

typedef struct kvo_component {
  const char *key; ///< interned; of an operator its name without the @
  kvo_operator op;
} kvo_component;

/// Immutable, lives for ever; the same text is the same pointer. At least one component. `@count`
/// is the last one where it stands, since it ignores what follows; every other operator has some
/// component behind it.
typedef struct kvo_key_path {
  const char *text; ///< interned, as it was written
  uint32_t count;
  kvo_component components[];
} kvo_key_path;

/// The key path of a text. NULL with KVO_INVALID_KEY_PATH for an empty text or component,
/// KVO_INVALID_OPERATOR for an unknown operator or one that needs a key path behind it,
/// KVO_NO_MEMORY. Messages name `cls`, if there is one. O(1) after the first call with that text.
/// Any thread.
const kvo_key_path *KVO_NULLABLE kvo_key_path_parse(const char *text,
    const kvo_class *KVO_NULLABLE cls, kvo_error *KVO_NULLABLE error);

/// Reads along the whole path, each component by key-value coding. On KVO_OK `*value`, which need
/// not be initialised, is the caller's to destroy (nil where the path is broken); else it is nil.
/// Statuses as `kvo_value_for_key_path`. Calls user code: no lock may be held.
kvo_status kvo_value_at_path(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
