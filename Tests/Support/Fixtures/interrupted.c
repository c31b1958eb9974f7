#include "fixture_interrupted.h"

#include <stdio.h>
#include <stdlib.h>

static void pass(kvo_object *self, interruption where) {
  interrupted *me = (interrupted *)self;
  interruption expected = where;
  if (!__atomic_compare_exchange_n(&me->where, &expected, INTERRUPTED_NOWHERE, false,
          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return;
  me->happens(me->context);
}

#define ACCESSORS(type, key, Key)                                                              \
  static type interrupted_##key##_imp(kvo_object *self, const kvo_method *_cmd) {              \
    (void)_cmd;                                                                                \
    type found = __atomic_load_n(&((interrupted *)self)->key, __ATOMIC_SEQ_CST);               \
    pass(self, INTERRUPTED_AFTER_LOAD);                                                        \
    return found;                                                                              \
  }                                                                                            \
  static void interrupted_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type key) { \
    (void)_cmd;                                                                                \
    pass(self, INTERRUPTED_BEFORE_STORE);                                                      \
    __atomic_store_n(&((interrupted *)self)->key, key, __ATOMIC_SEQ_CST);                      \
    pass(self, INTERRUPTED_AFTER_STORE);                                                       \
  }
ACCESSORS(interrupted *, next, Next)
ACCESSORS(long, value, Value)
ACCESSORS(long, other, Other)

KVO_CLASS_IMPLEMENTATION(interrupted, "CInterrupted", tracked_class, INTERRUPTED_PROPERTIES, NULL)

const kvo_class *interrupted_fresh_class(void) {
  static int count;
  char name[40];
  snprintf(name, sizeof name, "CInterrupted%d", __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST));
  kvo_class *made = kvo_class_create(name, interrupted_class(), sizeof(interrupted), NULL);
  if (!made || kvo_class_register(made, NULL)) abort();
  return made;
}
