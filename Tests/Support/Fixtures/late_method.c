// A macro replaces the atomic loads of the inline lookup: before one of them it does what the other thread would do.
#include <stdint.h>

static void before_load(void);
#define __atomic_load_n(place, order) (before_load(), (__atomic_load_n)(place, order))
#include "fixture_late_method.h"

#include "require.h"

#include <stdio.h>

// Per thread, because other cases of the test run at the same time.
static _Thread_local kvo_class *elder;
static _Thread_local int loads_left; // until the superclass gets the method

static int get_elder(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 1;
}

static int get_younger(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 2;
}

static void before_load(void) {
  if (loads_left && !--loads_left)
    require_method(elder, "age", (kvo_imp)get_elder, (kvo_signature)KVO_GETTER(int));
}

static kvo_class *make_class(const char *name, int number, const kvo_class *superclass) {
  char full[64];
  kvo_error error = {0};
  snprintf(full, sizeof full, "%s%d", name, number);
  kvo_class *cls = kvo_class_create(full, superclass, sizeof(kvo_object), &error);
  require_ok(error.status, &error);
  return cls;
}

bool late_method_is_found(int before_load, int others) {
  static int made;
  int number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  const kvo_method *method;
  kvo_error error = {0};
  elder = make_class("CLateElder", number, NULL);
  kvo_class_register(elder, NULL);
  kvo_class *younger = make_class("CLateYounger", number, elder);
  for (int i = 0; i < others; i++) {
    char selector[16];
    snprintf(selector, sizeof selector, "other%d", i);
    require_method(younger, selector, (kvo_imp)get_younger, (kvo_signature)KVO_GETTER(int));
  }
  kvo_status status = kvo_class_add_method(younger, "age", (kvo_imp)get_younger,
      (kvo_signature)KVO_GETTER(int), &method, &error);
  require_ok(status, &error);
  kvo_class_register(younger, NULL);
  kvo_object *object = kvo_object_create(younger);
  loads_left = before_load;
  kvo_imp found = kvo_method_lookup(object, method);
  bool is_late = kvo_class_method(elder, "age");
  loads_left = 0;
  kvo_object_release(object);
  return is_late && found == (kvo_imp)get_younger;
}
