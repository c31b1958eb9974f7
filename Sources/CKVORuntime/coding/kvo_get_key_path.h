/// Reading along key paths, from any value.
#ifndef KVO_GET_KEY_PATH_H
#define KVO_GET_KEY_PATH_H

#include "base/kvo_log.h"
#include "coding/kvo_field.h"
#include "coding/kvo_key_path.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The constant data of a reading along a path.
typedef struct kvo_walk {
  const kvo_key_path *path;
  uint32_t end;                      ///< the end of the components that are followed
  const kvo_class *KVO_NULLABLE cls; ///< the class at the path's beginning, for messages
  kvo_error *KVO_NULLABLE error;
} kvo_walk;

/// Reads from `start` along the components from `from` to the walk's end. `*value` need not be initialised. On KVO_OK
/// the caller must destroy it, otherwise it is nil. Calls the program's code.
kvo_status kvo_walk_read(const kvo_walk *walk, const kvo_value *start, uint32_t from,
    kvo_value *value);

/// Reads one key of many values: caches the accessors of the last value's class. Initialise it with `{0}`.
typedef struct kvo_reader {
  const kvo_class *KVO_NULLABLE cls;
  const kvo_accessors *KVO_NULLABLE accessors; ///< NULL: the key is read in the general way
  /// The accessors, if the value may be read from a field: a scalar that is all the getter returns, while reads are
  /// neither recorded nor logged. That is looked up with them, since whoever records or tracks a call does so to its
  /// end.
  const kvo_accessors *KVO_NULLABLE field;
} kvo_reader;

/// The cached accessors, if the value may be read from a field and the class has not changed since they were found.
KVO_INLINE const kvo_accessors *KVO_NULLABLE kvo_reader_field(const kvo_reader *reader) {
  const kvo_accessors *field = reader->field;
  return KVO_LIKELY(field != NULL) && kvo_field_is_current(field) ? field : NULL;
}

/// Reads as `kvo_walk_read` does, for one of many values, which the caller keeps alive. If a single key is left of
/// the walk, its accessors are looked up once for consecutive values of the same class.
kvo_status kvo_walk_read_each(const kvo_walk *walk, kvo_reader *reader, const kvo_value *start,
    uint32_t from, kvo_value *value);

/// Reads by accessors with a getter, of a class that leaves `valueForKey:` to the root. As `kvo_value_for_key`; in
/// get_value.c.
kvo_status kvo_value_by_accessors(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, kvo_value *value, kvo_error *KVO_NULLABLE error);

/// The place where a path continues after a value.
typedef struct kvo_path_position {
  uint32_t next; ///< the component that is read from the value
  bool operates; ///< whether an operator comes before that
} kvo_path_position;

KVO_INLINE kvo_path_position kvo_path_position_after(const kvo_component *component) {
  return (kvo_path_position){component->next_key, component->operates};
}

/// Whether a value has keys but is not an object, such as a dictionary.
KVO_INLINE bool kvo_value_has_keys(const kvo_value *value) {
  const kvo_type_operations *operations = value->type ? value->type->operations : NULL;
  return operations && operations->value_for_key;
}

/// Follows a path through values that have keys but are not objects, such as dictionaries, to the first other value
/// or the path's end. The result replaces the value. Under an operator it is the collection of the values of all
/// keys.
void kvo_value_follow_keys(const kvo_key_path *path, kvo_value *value, kvo_path_position *place);

/// Applies the operator at component `index` to a collection, with the rest of the path. As `kvo_walk_read`; in
/// collection_operators.c.
kvo_status kvo_walk_operate(const kvo_walk *walk, const kvo_value *collection, uint32_t index,
    kvo_value *value);

/// Reads the value that has the last key of a path, for setting or validating that key: a value with keys, or nil. As
/// `kvo_walk_read`; KVO_INVALID_OPERATOR if the path has an operator, KVO_READ_ONLY if it ends in `self`.
kvo_status kvo_walk_to_last(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);
/// Calls `body` with the value that `kvo_walk_to_last` reads and the last key. Destroys the value afterwards, even if
/// the program's code throws or ends the thread. Returns the walk's status if it fails, otherwise the body's.
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
/// Parses a path for the duration of `body`, and returns the body's status or one of `kvo_key_path_read`. An
/// exception that leaves the body releases the path.
kvo_status kvo_along_path(const char *text, const kvo_class *KVO_NULLABLE cls,
    kvo_status (*body)(const kvo_key_path *path, void *context), void *context,
    kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
