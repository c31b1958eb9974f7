#include "require.h"

#include <stdio.h>
#include <stdlib.h>

void require_ok(kvo_status status, const kvo_error *error) {
  if (status == KVO_OK) return;
  fprintf(stderr, "fixture: %s: %s\n", kvo_status_name(status), error->message);
  abort();
}

void require_method(kvo_class *cls, const char *selector, kvo_imp imp, kvo_signature signature) {
  kvo_error error = {0};
  require_ok(kvo_class_add_method(cls, selector, imp, signature, NULL, &error), &error);
}

void require_hook(kvo_class *cls, const char *selector, kvo_imp imp) {
  require_method(cls, selector, imp, KVO_HOOK);
}

void require_class_method(kvo_class *cls, const char *selector, kvo_imp imp) {
  kvo_error error = {0};
  require_ok(kvo_class_add_class_method(cls, selector, imp, &error), &error);
}

void require_ivar(kvo_class *cls, const char *name, size_t offset, kvo_layout layout) {
  kvo_error error = {0};
  require_ok(kvo_class_add_ivar(cls, name, offset, layout, &error), &error);
}
