#include "fixture_disturbed.h"

#include <stdio.h>
#include <stdlib.h>

#include "require.h"

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

static kvo_class *make_fresh_class(void) {
  static int count;
  char name[40];
  snprintf(name, sizeof name, "CDisturbed%d", __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST));
  kvo_class *made = kvo_class_create(name, disturbed_class(), sizeof(disturbed), NULL);
  if (!made) abort();
  return made;
}

const kvo_class *disturbed_fresh_class(void) {
  kvo_class *made = make_fresh_class();
  if (kvo_class_register(made, NULL)) abort();
  return made;
}

// MARK: Two keys with one setter

typedef struct triple {
  long x, y, z;
} triple;

static long twin(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((disturbed *)self)->value;
}

static triple large_twin(kvo_object *self, const kvo_method *_cmd) {
  return (triple){twin(self, _cmd), 0, 0};
}

static void setTwin(kvo_object *self, const kvo_method *_cmd, long twin) {
  disturbed_setValue_imp(self, _cmd, twin);
}

static void set_large_twin(kvo_object *self, const kvo_method *_cmd, triple twin) {
  disturbed_setValue_imp(self, _cmd, twin.x);
}

#define LARGE "{triple=qqq}"

const kvo_class *disturbed_fresh_class_of_twins(bool is_large) {
  kvo_class *made = make_fresh_class();
  kvo_imp getter = is_large ? (kvo_imp)large_twin : (kvo_imp)twin;
  kvo_signature get = is_large ? KVO_GETTER_OF(triple, LARGE) : KVO_GETTER(long);
  kvo_signature set = is_large ? KVO_SETTER_OF(triple, LARGE) : KVO_SETTER(long);
  require_method(made, "twin", getter, get);
  require_method(made, "Twin", getter, get);
  require_method(made, "setTwin:", is_large ? (kvo_imp)set_large_twin : (kvo_imp)setTwin, set);
  if (kvo_class_register(made, NULL)) abort();
  return made;
}

void disturbed_setTwin(disturbed *self, bool is_large, long twin) {
  kvo_object *object = &self->tracked.object;
  const kvo_method *method = kvo_class_method(kvo_class_of(object), "setTwin:");
  kvo_imp imp = kvo_method_lookup(object, method);
  if (is_large)
    ((void (*)(kvo_object *, const kvo_method *, triple))imp)(object, method, (triple){twin, 0, 0});
  else ((void (*)(kvo_object *, const kvo_method *, long))imp)(object, method, twin);
}
