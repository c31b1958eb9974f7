/// The key paths that affect a key of a class.
#ifndef KVO_DEPENDENCIES_H
#define KVO_DEPENDENCIES_H

#include "coding/kvo_accessor_search.h"
#include "coding/kvo_key_path.h"
#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The key paths that affect a key, sorted by text. Immutable and never freed.
struct kvo_dependencies {
  uint32_t count;
  const kvo_key_path *KVO_NONNULL paths[];
};
typedef struct kvo_dependencies kvo_dependencies;

/// The class's answer. Each `kvo_accessors` asks for it once. Calls hooks: no lock held.
const kvo_dependencies *kvo_accessors_dependencies(const kvo_accessors *accessors,
    kvo_object *object);

/// A dependency that was declared while the program runs. If it could not be followed for lack of memory it stays in
/// the list, marked as taken back, because readers hold no lock.
typedef struct kvo_declaration {
  const struct kvo_declaration *KVO_NULLABLE next;
  const char *key_path;
  bool is_taken_back; ///< atomic
} kvo_declaration;

KVO_INLINE bool kvo_declaration_holds(const kvo_declaration *one) {
  return !__atomic_load_n(&one->is_taken_back, __ATOMIC_ACQUIRE);
}

/// If hints are wanted, checks the dependencies declared for the class and its superclasses, whose objects are
/// observed: a key that the class does not have is probably misspelt. Skips classes of bindings, which give their own
/// hints. No lock held.
void kvo_class_hint_at_dependencies(const kvo_class *cls);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
