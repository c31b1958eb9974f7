/// Parsed key paths: for the duration of a call, or permanent.
#ifndef KVO_KEY_PATH_H
#define KVO_KEY_PATH_H

#include "kvo_object.h"
#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The operators. A component is a key or one of these.
typedef enum kvo_operator {
  KVO_OP_NONE, ///< a key
  KVO_OP_SELF, ///< `self`: the value itself
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

/// Whether there is an operator with that name, given without its @.
bool kvo_is_operator(const char *name);
/// Whether a component is an operator on the elements of a collection, and neither a key nor `self`.
KVO_INLINE bool kvo_operator_is_collective(kvo_operator op) { return op > KVO_OP_SELF; }

typedef struct kvo_component {
  const char *key; ///< interned if it was known; for an operator its name without the @
  kvo_operator op;
  uint32_t next_key : 31; ///< the next component that is a key, or the number of components
  uint32_t operates
      : 1; ///< whether the next component, ignoring `self`, is an operator, which works on a collection
} kvo_component;

/// A parsed key path. Immutable except for its references. It has at least one component. `@count` is always the last
/// one, because it ignores the rest; every other operator has a component after it.
typedef struct kvo_key_path kvo_key_path;
struct kvo_key_path {
  const char *text; ///< the text as written; a name (kvo_intern.h)
  bool is_kept; ///< permanent; atomic. Set under the path lock, after the path can be found, so a
  ///< thread that reads false checks again under that lock before it counts references
  bool is_held;                    ///< in the table of held paths; path lock
  uint32_t hash;                   ///< of a held path
  uint32_t references;             ///< of a path that is not permanent; path lock once it is held
  kvo_key_path *KVO_NULLABLE next; ///< in that table
  uint32_t count;
  uint32_t first_key : 31; ///< the first component that is a key, or `count`
  uint32_t operates : 1;   ///< whether the first component, ignoring `self`, is an operator
  kvo_component components[];
};

/// The limits of a key path (B5): its components, and the operators among them.
enum { KVO_MOST_COMPONENTS = 256, KVO_MOST_OPERATORS = 32 };

/// Parses a text into a permanent path: for paths that the program's classes name. NULL with KVO_INVALID_KEY_PATH for
/// an empty text or component or a text that is too long, KVO_INVALID_OPERATOR for an unknown operator or one that
/// needs a key path after it, KVO_NO_MEMORY. Messages name `cls`, if there is one. O(1) after the first call with
/// that text. Any thread.
const kvo_key_path *KVO_NULLABLE kvo_key_path_parse(const char *text,
    const kvo_class *KVO_NULLABLE cls, kvo_error *KVO_NULLABLE error);

/// Parses a text that may come from outside the program, and for which `kvo_key_path_known` returned NULL. The caller
/// must release the path. If all its keys are known, and there is room (`KVO_MOST_PERMANENT_PATHS`), the path becomes
/// permanent, so that it is found faster. Errors as `kvo_key_path_parse`.
const kvo_key_path *KVO_NULLABLE kvo_key_path_read(const char *text,
    const kvo_class *KVO_NULLABLE cls, kvo_error *KVO_NULLABLE error);
enum { KVO_MOST_PERMANENT_PATHS = 512 };

/// Room for a path of one key.
typedef union kvo_single_path {
  kvo_key_path path;
  char room[sizeof(kvo_key_path) + sizeof(kvo_component)];
} kvo_single_path;
/// The path of a text, if it is permanent or a single known key. In the latter case the path is stored in `room`;
/// code that outlives the room needs no path for a single key. NULL: call `kvo_key_path_read`. O(n) in the length, no
/// lock.
const kvo_key_path *KVO_NULLABLE kvo_key_path_known(const char *text, kvo_single_path *room);

/// The permanent path of one interned key, even if its text would be parsed differently: a binding may have a key
/// with a dot. NULL if out of memory. O(1) after the first call with that key. Any thread.
const kvo_key_path *KVO_NULLABLE kvo_key_path_of_key(const char *interned_key);

/// The path of the text, if it is permanent; otherwise NULL.
const kvo_key_path *KVO_NULLABLE kvo_key_path_permanent(const char *text);
/// A reference to the permanent or held path of a text; NULL if there is none.
const kvo_key_path *KVO_NULLABLE kvo_key_path_find(const char *text);

KVO_INLINE bool kvo_key_path_is_permanent(const kvo_key_path *path) {
  return KVO_LIKELY(__atomic_load_n(&path->is_kept, __ATOMIC_ACQUIRE));
}

const kvo_key_path *KVO_NULLABLE kvo_key_path_retain_slow(const kvo_key_path *path);
/// Takes a reference for a registration. All held paths of one text are the same path, which may not be the one
/// given. NULL if out of memory.
KVO_INLINE const kvo_key_path *KVO_NULLABLE kvo_key_path_retain(const kvo_key_path *path) {
  return kvo_key_path_is_permanent(path) ? path : kvo_key_path_retain_slow(path);
}
void kvo_key_path_free(const kvo_key_path *path);
/// Releases a reference.
KVO_INLINE void kvo_key_path_release(const kvo_key_path *path) {
  if (!kvo_key_path_is_permanent(path)) kvo_key_path_free(path);
}

/// Reads along the whole path, each component by key-value coding. `*value` need not be initialised. On KVO_OK the
/// caller must destroy it (nil if the path is broken), otherwise it is nil. Statuses as `kvo_value_for_key_path`.
/// Calls the program's code: no lock may be held.
kvo_status kvo_value_at_path(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
