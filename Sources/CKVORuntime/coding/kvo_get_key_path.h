/// Reading along key paths, from any value on.
#ifndef KVO_GET_KEY_PATH_H
#define KVO_GET_KEY_PATH_H

#include "base/kvo_log.h"
#include "coding/kvo_field.h"
#include "coding/kvo_key_path.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What a reading needs all the way.
typedef struct kvo_walk {
  const kvo_key_path *path;
  uint32_t end;                      ///< of the components that are followed
  const kvo_class *KVO_NULLABLE cls; ///< where the path begins, for messages
  kvo_error *KVO_NULLABLE error;
} kvo_walk;

/// Reads from `start` along the components `from` to the walk's end. On KVO_OK `*value`, which need
/// not be initialised, is the caller's; else it is nil. Calls user code.
kvo_status kvo_walk_read(const kvo_walk *walk, const kvo_value *start, uint32_t from,
    kvo_value *value);

/// What reads one key of many values: the accessors of the last one's class. `{0}` before the first.
typedef struct kvo_reader {
  const kvo_class *KVO_NULLABLE cls;
  const kvo_accessors *KVO_NULLABLE accessors; ///< NULL: the key is read in the general way
} kvo_reader;

/// The accessors that it has, if they have a field that may be read where it lies: a scalar, which is all
/// that the getter gives; of a class that has not changed; and nobody is told what is read.
KVO_INLINE const kvo_accessors *KVO_NULLABLE kvo_reader_field(const kvo_reader *reader) {
  const kvo_accessors *accessors = reader->accessors;
  bool reads = KVO_LIKELY(accessors != NULL) && kvo_field_answers(accessors, KVO_KIND_VOID) &&
               accessors->field_kind != KVO_KIND_BINDING;
  return KVO_LIKELY(reads) && KVO_LIKELY(!kvo_recorder) && KVO_LIKELY(!kvo_log_flags) ? accessors
                                                                                      : NULL;
}

/// As `kvo_walk_read`, of one of many values, which the caller keeps alive meanwhile. Where a single key
/// is left of the walk, its accessors are looked up once for each class that comes after another.
kvo_status kvo_walk_read_each(const kvo_walk *walk, kvo_reader *reader, const kvo_value *start,
    uint32_t from, kvo_value *value);

/// Reads by accessors with a getter, of a class that leaves `valueForKey:` to the root. As
/// `kvo_value_for_key`; get_value.c.
kvo_status kvo_value_by_accessors(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, kvo_value *value, kvo_error *KVO_NULLABLE error);

/// Where a path goes on from a value.
typedef struct kvo_path_place {
  uint32_t next; ///< the component that is read of it
  bool operates; ///< whether an operator comes before that
} kvo_path_place;

KVO_INLINE kvo_path_place kvo_path_place_behind(const kvo_component *component) {
  return (kvo_path_place){component->next_key, component->operates};
}

/// Whether a value has keys and is no object, as a dictionary.
KVO_INLINE bool kvo_value_has_keys(const kvo_value *value) {
  const kvo_type_operations *operations = value->type ? value->type->operations : NULL;
  return operations && operations->value_for_key;
}

/// Goes on through a value that has keys and is no object, a dictionary, to the first one that is not such, or that the
/// path ends at. It takes the value's place; under an operator those of all keys do.
void kvo_value_follow_keys(const kvo_key_path *path, kvo_value *value, kvo_path_place *place);

/// Applies the operator that is component `index` to a collection, with what follows it. As
/// `kvo_walk_read`; collection_operators.c.
kvo_status kvo_walk_operate(const kvo_walk *walk, const kvo_value *collection, uint32_t index,
    kvo_value *value);

/// Reads what the last component of a path is a key of, for setting or validating it: a value that
/// has keys, or nil. As `kvo_walk_read`; KVO_INVALID_OPERATOR if the path has an operator,
/// KVO_READ_ONLY if it ends in `self`.
kvo_status kvo_walk_to_last(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);
/// Calls `body` with what `kvo_walk_to_last` reads and the last key. Lets the value go afterwards, also if the user's code
/// throws or ends the thread. Returns the walk's status if it fails, otherwise the body's.
kvo_status kvo_with_last_key(kvo_object *object, const kvo_key_path *path,
    kvo_status (*body)(const kvo_value *target, const char *key, void *context), void *context,
    kvo_error *KVO_NULLABLE error);

/// Names the path in the error of a value on it without keys, since the value does not know the path that led to it.
kvo_status kvo_fail_along(const kvo_key_path *path, const kvo_class *KVO_NULLABLE cls,
    kvo_status status, kvo_error *KVO_NULLABLE error);
/// Fails with KVO_INVALID_KEY_PATH.
kvo_status kvo_fail_no_keys(const kvo_value *value, const char *key, kvo_error *KVO_NULLABLE error);

/// Fails with KVO_INVALID_KEY_PATH because a key is read from collections that are nested too deep.
kvo_status kvo_fail_nesting(const char *key, kvo_error *KVO_NULLABLE error);

/// Reads a key of each element of a collection: an array gives an array, a set a set.
kvo_status kvo_value_map(const kvo_value *collection, const char *key, kvo_value *value,
    kvo_error *KVO_NULLABLE error);
/// Parses a text for the time of `body`, which is called with the path, and comes to what it comes
/// to. An exception that leaves it finds the path let go. Statuses of kvo_key_path_read as well.
kvo_status kvo_along_path(const char *text, const kvo_class *KVO_NULLABLE cls,
    kvo_status (*body)(const kvo_key_path *path, void *context), void *context,
    kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
