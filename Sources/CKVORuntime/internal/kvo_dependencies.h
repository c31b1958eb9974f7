/// Which key paths affect a key of a class.
#ifndef KVO_DEPENDENCIES_H
#define KVO_DEPENDENCIES_H

#include "kvo_accessors.h"
#include "kvo_key_path.h"

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

/// Whether adding a class method of that name can change what was answered.
bool kvo_selector_names_dependencies(const char *selector);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
