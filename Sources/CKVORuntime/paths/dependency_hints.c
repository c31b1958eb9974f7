// Hints about dependencies that are declared for a key that can't be observed (F1).
//
// They are given when an object of the class is observed, because a class may declare a dependency before it gets the
// key's methods. Once the class is observed, they are given at the declaration.
#include "base/kvo_log.h"
#include "objects/kvo_class_internal.h"
#include "paths/kvo_dependencies.h"

// A check of one class. Its keys may exist only in a subclass, whose object is observed.
typedef struct {
  const kvo_class *declaring, *observed;
} hint_search;

static bool has_key(const kvo_class *cls, const char *key) {
  kvo_error error;
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, &error);
  return accessors ? accessors->getter : error.status == KVO_NO_MEMORY;
}

static void hint_at_key(void *opaque, const void *key, void *declared) {
  const hint_search *hint_search = opaque;
  const kvo_class *cls = hint_search->declaring;
  kvo_error error;
  (void)declared;
  if (has_key(hint_search->observed, key) || has_key(cls, key)) return;
  kvo_fail_undefined(cls, key, &error);
  kvo_hint("%s declares a dependency for \"%s\": %s", cls->name, (const char *)key, error.message);
}

// A class that overrides the hook for undefined keys may have any key.
static bool answers_undefined_keys(const kvo_class *cls) {
  const kvo_method *method = kvo_class_find_method(cls, kvo_hooks()->value_for_undefined);
  return kvo_class_imp(cls, method) != kvo_class_imp(kvo_root_class(), method);
}

void kvo_class_hint_at_dependencies(const kvo_class *cls) {
  if (cls->is_bound || !kvo_wants_hints() || answers_undefined_keys(cls)) return;
  hint_search hint_search = {cls, cls};
  for (; hint_search.declaring; hint_search.declaring = hint_search.declaring->superclass)
    kvo_map_each(&hint_search.declaring->dependencies, hint_at_key, &hint_search);
}
