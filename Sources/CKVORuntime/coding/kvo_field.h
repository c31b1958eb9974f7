/// Reading a property's field directly, if the getter only returns that. C++ includes this.
#ifndef KVO_FIELD_H
#define KVO_FIELD_H

#include "classes/kvo_accessors.h"

#include <string.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether the class is unchanged since these accessors were found.
KVO_INLINE bool kvo_field_is_current(const kvo_accessors *accessors) {
  return KVO_LIKELY(accessors->generation ==
                    __atomic_load_n(&accessors->cls->generation, __ATOMIC_ACQUIRE));
}

/// Whether the getter only returns a field, of this kind; KVO_KIND_VOID means any kind.
KVO_INLINE bool kvo_field_answers(const kvo_accessors *accessors, kvo_kind kind) {
  bool suits = kind ? accessors->field_kind == kind : accessors->field_kind != KVO_KIND_VOID;
  return KVO_LIKELY(suits) && kvo_field_is_current(accessors);
}

/// Reads a field of `size` bytes; 0 means the size of its type.
KVO_INLINE const kvo_value *kvo_field_read(kvo_value *value, const kvo_accessors *accessors,
    const kvo_object *object, size_t size) {
  const char *field = (const char *)object + accessors->field;
  if (size) memcpy(value->payload.words, field, size);
  else if (KVO_LIKELY(accessors->type->size == sizeof(uint64_t)))
    memcpy(value->payload.words, field, sizeof(uint64_t));
  else memcpy(value->payload.words, field, accessors->type->size);
  value->type = accessors->type;
  return value;
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
