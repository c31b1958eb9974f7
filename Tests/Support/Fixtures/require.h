/// Makes a fixture's class. An error, which a fixture must not have, stops the program.
#ifndef FIXTURE_REQUIRE_H
#define FIXTURE_REQUIRE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS

/// Stops with the error's message unless the status is KVO_OK.
void require_ok(kvo_status status, const kvo_error *error);

void require_method(kvo_class *cls, const char *selector, kvo_imp imp, kvo_signature signature);
void require_hook(kvo_class *cls, const char *selector, kvo_imp imp);
void require_class_method(kvo_class *cls, const char *selector, kvo_imp imp);
void require_ivar(kvo_class *cls, const char *name, size_t offset, kvo_layout layout);

/// Declares a field of the instance as an ivar: REQUIRE_IVAR(cls, plain, secret, "_secret", double).
#define REQUIRE_IVAR(cls, instance, field, name, type) \
  require_ivar((cls), (name), offsetof(instance, field), (kvo_layout)KVO_TYPE(type))

KVO_END_DECLS

#endif
