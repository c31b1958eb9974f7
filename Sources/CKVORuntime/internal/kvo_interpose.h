/// What an interposer does around the original method, whatever lane it belongs to.
#ifndef KVO_INTERPOSE_H
#define KVO_INTERPOSE_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Two keys may share a setter: `name` and `Name` share `setName:`.
enum { KVO_KEYS_PER_METHOD = 2 };

typedef struct kvo_interposition {
  kvo_imp original; ///< looked up now, so that a replaced method takes effect
  kvo_frame *KVO_NULLABLE frames[KVO_KEYS_PER_METHOD];
} kvo_interposition;

/// Opens the changes that the method is going to make and finds the original. `arguments` has a
/// pointer to each argument, the first two being self and _cmd.
void kvo_interpose_begin(kvo_interposition *interposition, kvo_object *self,
    const kvo_method *method, void *KVO_NULLABLE *KVO_NONNULL arguments);
/// Closes them and calls the observers.
void kvo_interpose_end(kvo_interposition *interposition);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
