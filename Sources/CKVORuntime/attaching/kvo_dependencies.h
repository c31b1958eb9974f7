/// Which key paths affect a key of a class.
#ifndef KVO_DEPENDENCIES_H
#define KVO_DEPENDENCIES_H

#include "coding/kvo_accessor_search.h"
#include "coding/kvo_key_path.h"
#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Immutable, lives for ever; the paths by their text.
struct kvo_dependencies {
  uint32_t count;
  const kvo_key_path *KVO_NONNULL paths[];
};
typedef struct kvo_dependencies kvo_dependencies;

/// What the class answered: asked once for these accessors. Calls hooks: no lock may be held.
const kvo_dependencies *kvo_accessors_dependencies(const kvo_accessors *accessors,
    kvo_object *object);

/// A key path that was declared while the program runs. One that could not be followed for want of memory stays in
/// the list, taken back: readers hold no lock.
typedef struct kvo_declaration {
  const struct kvo_declaration *KVO_NULLABLE next;
  const char *key_path;
  bool is_taken_back; ///< atomic
} kvo_declaration;

KVO_INLINE bool kvo_declaration_holds(const kvo_declaration *one) {
  return !__atomic_load_n(&one->is_taken_back, __ATOMIC_ACQUIRE);
}

/// Where hints are wanted, looks through what is declared for the class and its superclasses, whose objects are
/// observed: a key that it does not have is misspelt, most likely. Not of a binding, which gives its own. No lock
/// may be held.
void kvo_class_hint_at_dependencies(const kvo_class *cls);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
