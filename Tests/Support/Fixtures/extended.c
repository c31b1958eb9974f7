#include "fixture_extended.h"

#include <string.h>

#include "require.h"

static double get_a(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((extended *)self)->a;
}

static double get_b(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((extended *)self)->b;
}

static extended *get_peer(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((extended *)self)->peer;
}

static double get_sum(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((extended *)self)->a + ((extended *)self)->b;
}

static double get_twice_sum(kvo_object *self, const kvo_method *_cmd) {
  return 2 * get_sum(self, _cmd);
}

static double get_peer_sum(kvo_object *self, const kvo_method *_cmd) {
  extended *peer = ((extended *)self)->peer;
  return peer ? get_sum(&peer->object, _cmd) : 0;
}

static void set_a(kvo_object *self, const kvo_method *_cmd, double a) {
  (void)_cmd;
  ((extended *)self)->a = a;
}

static void set_b(kvo_object *self, const kvo_method *_cmd, double b) {
  (void)_cmd;
  ((extended *)self)->b = b;
}

static void set_peer(kvo_object *self, const kvo_method *_cmd, extended *peer) {
  (void)_cmd;
  kvo_store_retained_object(&((extended *)self)->peer, peer);
}

static void extended_dealloc(kvo_object *self, const kvo_method *_cmd) {
  set_peer(self, _cmd, NULL);
}

static void add_methods(kvo_class *cls) {
  require_method(cls, "a", (kvo_imp)get_a, KVO_GETTER(double));
  require_method(cls, "setA:", (kvo_imp)set_a, KVO_SETTER(double));
  require_method(cls, "b", (kvo_imp)get_b, KVO_GETTER(double));
  require_method(cls, "setB:", (kvo_imp)set_b, KVO_SETTER(double));
  require_method(cls, "peer", (kvo_imp)get_peer, KVO_GETTER_OF(extended *, "@"));
  require_method(cls, "setPeer:", (kvo_imp)set_peer, KVO_SETTER_OF(extended *, "@"));
  require_method(cls, "sum", (kvo_imp)get_sum, KVO_GETTER(double));
  require_method(cls, "peerSum", (kvo_imp)get_peer_sum, KVO_GETTER(double));
  require_hook(cls, "dealloc", (kvo_imp)extended_dealloc);
}

static void set_sum(kvo_object *self, const kvo_method *_cmd, double sum) {
  (void)_cmd;
  extended_setA((extended *)self, sum - 1);
  extended_setB((extended *)self, 1);
}

void extended_add_setter_of_sum(kvo_class *cls) {
  require_method(cls, "setSum:", (kvo_imp)set_sum, KVO_SETTER(double));
}

kvo_class *extended_class(const char *name) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, NULL, sizeof(extended), &error);
  require_ok(error.status, &error);
  add_methods(cls);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

kvo_class *extended_subclass(const char *name, const kvo_class *superclass) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, superclass, sizeof(extended), &error);
  require_ok(error.status, &error);
  require_method(cls, "sum", (kvo_imp)get_twice_sum, KVO_GETTER(double));
  require_method(cls, "setA:", (kvo_imp)set_a, KVO_SETTER(double));
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static void affects_sum(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "a");
  kvo_key_paths_add(paths, "b");
  kvo_key_paths_add(paths, "a");
}

void extended_add_hook_of_key(kvo_class *cls) {
  require_class_method(cls, "keyPathsForValuesAffectingSum", (kvo_imp)affects_sum);
}

// The one class with the general hook, which adds to its superclass's answer.
static const kvo_class *extending;

static void affects(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  (void)cls;
  kvo_class_key_paths_affecting(kvo_class_superclass(extending), key, paths);
  if (!strcmp(key, "sum")) kvo_key_paths_add(paths, "a");
}

void extended_add_general_hook(kvo_class *cls) {
  extending = cls;
  require_class_method(cls, "keyPathsForValuesAffectingValueForKey:", (kvo_imp)affects);
}

static const kvo_method *method(const extended *self, const char *selector) {
  return kvo_class_method(kvo_class_of(&self->object), selector);
}

static void set_number(extended *self, const char *selector, double value) {
  const kvo_method *setter = method(self, selector);
  ((void (*)(kvo_object *, const kvo_method *, double))kvo_method_lookup(&self->object,
      setter))(&self->object, setter, value);
}

void extended_setA(extended *self, double a) { set_number(self, "setA:", a); }
void extended_setB(extended *self, double b) { set_number(self, "setB:", b); }
void extended_setSum(extended *self, double sum) { set_number(self, "setSum:", sum); }

void extended_setPeer(extended *self, extended *peer) {
  const kvo_method *setter = method(self, "setPeer:");
  ((void (*)(kvo_object *, const kvo_method *, extended *))kvo_method_lookup(&self->object,
      setter))(&self->object, setter, peer);
}
