#include "fixture_disturbed.h"

#include <stdio.h>
#include <stdlib.h>

static void pass(kvo_object *self, disturbance where) {
  disturbed *me = (disturbed *)self;
  disturbance expected = where;
  if (!__atomic_compare_exchange_n(&me->where, &expected, DISTURBED_NOWHERE, false,
          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return;
  me->happens(me->context);
}

#define ACCESSORS(type, key, Key)                                                            \
  static type disturbed_##key##_imp(kvo_object *self, const kvo_method *_cmd) {              \
    (void)_cmd;                                                                              \
    type found = __atomic_load_n(&((disturbed *)self)->key, __ATOMIC_SEQ_CST);               \
    pass(self, DISTURBED_AFTER_LOAD);                                                        \
    return found;                                                                            \
  }                                                                                          \
  static void disturbed_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type key) { \
    (void)_cmd;                                                                              \
    pass(self, DISTURBED_BEFORE_STORE);                                                      \
    __atomic_store_n(&((disturbed *)self)->key, key, __ATOMIC_SEQ_CST);                      \
    pass(self, DISTURBED_AFTER_STORE);                                                       \
  }
ACCESSORS(disturbed *, next, Next)
ACCESSORS(long, value, Value)
ACCESSORS(long, other, Other)

KVO_CLASS_IMPLEMENTATION(disturbed, "CDisturbed", tracked_class, DISTURBED_PROPERTIES, NULL)

const kvo_class *disturbed_fresh_class(void) {
  static int count;
  char name[40];
  snprintf(name, sizeof name, "CDisturbed%d", __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST));
  kvo_class *made = kvo_class_create(name, disturbed_class(), sizeof(disturbed), NULL);
  if (!made || kvo_class_register(made, NULL)) abort();
  return made;
}
