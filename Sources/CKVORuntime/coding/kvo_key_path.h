/// Key paths, parsed: for the time of a call, or to be kept.
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

/// Whether there is an operator of that name, which is without its @.
bool kvo_is_operator(const char *name);
/// Whether it works on the elements of a collection: all but a key and `self`.
KVO_INLINE bool kvo_operator_is_collective(kvo_operator op) { return op > KVO_OP_SELF; }

typedef struct kvo_component {
  const char *key; ///< interned where it was known already; of an operator its name without the @
  kvo_operator op;
  uint32_t next_key : 31; ///< the next component that is a key, or how many there are
  uint32_t operates : 1;  ///< an operator comes next, but for `self`: it works on a collection
} kvo_component;

/// Immutable, but for its references. At least one component. `@count` is the last one where it
/// stands, since it ignores what follows; every other operator has some component behind it.
typedef struct kvo_key_path kvo_key_path;
struct kvo_key_path {
  const char *text; ///< as it was written; a name (kvo_intern.h)
  bool
      is_kept; ///< for ever; atomic. Set under the path lock, when the path can be found already: a
               ///< thread that reads false asks again under that lock, before it counts references
  bool is_held;                    ///< in the table of those that are held; path lock
  uint32_t hash;                   ///< of one that is held
  uint32_t references;             ///< of one that is not kept; path lock once it is held
  kvo_key_path *KVO_NULLABLE next; ///< in that table
  uint32_t count;
  uint32_t first_key : 31; ///< the first component that is a key, or `count`
  uint32_t operates : 1;   ///< it begins with an operator, but for `self`
  kvo_component components[];
};

/// How long a key path can be (B5): its components, and the operators among them.
enum { KVO_MOST_COMPONENTS = 256, KVO_MOST_OPERATORS = 32 };

/// The key path of a text, kept for ever: for what the program's classes say. NULL with
/// KVO_INVALID_KEY_PATH for an empty text or component or one that is too long, KVO_INVALID_OPERATOR for an unknown operator
/// or one that needs a key path behind it, KVO_NO_MEMORY. Messages name `cls`, if there is one. O(1)
/// after the first call with that text. Any thread.
const kvo_key_path *KVO_NULLABLE kvo_key_path_parse(const char *text,
    const kvo_class *KVO_NULLABLE cls, kvo_error *KVO_NULLABLE error);

/// The same for texts that may come from outside, and are not known (`kvo_key_path_known`): a reference, to be given back. One whose keys are
/// all known already is kept, as long as there is room among those that are kept to be found faster
/// (`KVO_PATHS_KEPT`).
const kvo_key_path *KVO_NULLABLE kvo_key_path_read(const char *text,
    const kvo_class *KVO_NULLABLE cls, kvo_error *KVO_NULLABLE error);
enum { KVO_PATHS_KEPT = 512 };

/// Room for a path of one key.
typedef union kvo_single_path {
  kvo_key_path path;
  char room[sizeof(kvo_key_path) + sizeof(kvo_component)];
} kvo_single_path;
/// The path of a text if it is kept, or if it is a key that is known: then it lies in `room`, and what outlives the room
/// needs no path of it. NULL: it is to be read by `kvo_key_path_read`. O(n) in its length, no lock.
const kvo_key_path *KVO_NULLABLE kvo_key_path_known(const char *text, kvo_single_path *room);

/// The path of one interned key, kept for ever, also where its text would be another path: a binding may have a key
/// with a dot. NULL if memory is out. O(1) after the first call with that key. Any thread.
const kvo_key_path *KVO_NULLABLE kvo_key_path_of_key(const char *interned_key);

/// The path of the text if it is kept.
const kvo_key_path *KVO_NULLABLE kvo_key_path_kept(const char *text);
/// A reference to the path of the text that is kept, or held; NULL if there is none.
const kvo_key_path *KVO_NULLABLE kvo_key_path_find(const char *text);

KVO_INLINE bool kvo_key_path_is_kept(const kvo_key_path *path) {
  return KVO_LIKELY(__atomic_load_n(&path->is_kept, __ATOMIC_ACQUIRE));
}

const kvo_key_path *KVO_NULLABLE kvo_key_path_hold_passing(const kvo_key_path *path);
/// One more reference for a registration. All that are held have one path for one text, which may
/// be another than was given. NULL if memory is out.
KVO_INLINE const kvo_key_path *KVO_NULLABLE kvo_key_path_hold(const kvo_key_path *path) {
  return kvo_key_path_is_kept(path) ? path : kvo_key_path_hold_passing(path);
}
void kvo_key_path_free(const kvo_key_path *path);
/// Gives a reference back.
KVO_INLINE void kvo_key_path_let_go(const kvo_key_path *path) {
  if (!kvo_key_path_is_kept(path)) kvo_key_path_free(path);
}

/// Reads along the whole path, each component by key-value coding. On KVO_OK `*value`, which need
/// not be initialised, is the caller's to destroy (nil where the path is broken); else it is nil.
/// Statuses as `kvo_value_for_key_path`. Calls user code: no lock may be held.
kvo_status kvo_value_at_path(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *KVO_NULLABLE error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
