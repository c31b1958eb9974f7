#include "fixture_shared_node.h"

#include <stdatomic.h>

#include "fixture_threads.h"
#include "require.h"

struct shared_node {
  kvo_object object;
  _Atomic double value;
  kvo_object *_Atomic next;
};

static const kvo_method *set_value_method, *set_next_method;

static double value_of(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return atomic_load(&((shared_node *)self)->value);
}

static void store_value(kvo_object *self, const kvo_method *_cmd, double value) {
  (void)_cmd;
  atomic_store(&((shared_node *)self)->value, value);
}

static _Thread_local kvo_object *halts_at;
static _Thread_local gate *halt;

void shared_node_halt_at(kvo_object *node, gate *gate) {
  halts_at = node;
  halt = gate;
}

static void halt_if_due(const kvo_object *self) {
  if (halts_at != self || !self->observations) return;
  halts_at = NULL;
  fixture_raise(&halt->begun);
  fixture_await(&halt->let_go, 1);
}

static kvo_object *next_of(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_object *next = atomic_load(&((shared_node *)self)->next);
  halt_if_due(self);
  return next;
}

static kvo_object *next_next(kvo_object *self, const kvo_method *_cmd) {
  kvo_object *next = next_of(self, _cmd);
  return next ? next_of(next, _cmd) : NULL;
}

static void store_next(kvo_object *self, const kvo_method *_cmd, kvo_object *next) {
  (void)_cmd;
  atomic_store(&((shared_node *)self)->next, next);
}

static double twice(kvo_object *self, const kvo_method *_cmd) { return 2 * value_of(self, _cmd); }

static double next_twice(kvo_object *self, const kvo_method *_cmd) {
  kvo_object *next = next_of(self, _cmd);
  return next ? twice(next, _cmd) : 0;
}

static void depends(kvo_class *cls, const char *key, const char *key_path) {
  kvo_error error = {0};
  require_ok(kvo_class_add_dependency(cls, key, key_path, &error), &error);
}

static void setup(kvo_class *cls) {
  require_method(cls, "value", (kvo_imp)value_of, KVO_GETTER(double));
  require_method(cls, "setValue:", (kvo_imp)store_value, KVO_SETTER(double));
  require_method(cls, "next", (kvo_imp)next_of, KVO_GETTER_OF(kvo_object *, "@"));
  require_method(cls, "setNext:", (kvo_imp)store_next, KVO_SETTER_OF(kvo_object *, "@"));
  require_method(cls, "twice", (kvo_imp)twice, KVO_GETTER(double));
  require_method(cls, "nextTwice", (kvo_imp)next_twice, KVO_GETTER(double));
  require_method(cls, "nextNext", (kvo_imp)next_next, KVO_GETTER_OF(kvo_object *, "@"));
  depends(cls, "twice", "value");
  depends(cls, "nextTwice", "next.twice");
  depends(cls, "nextTwice", "next.nextTwice");
  depends(cls, "nextNext", "next.next");
  set_value_method = kvo_class_method(cls, "setValue:");
  set_next_method = kvo_class_method(cls, "setNext:");
}

static void destroy_nothing(kvo_object *self, const kvo_method *_cmd) {
  (void)self;
  (void)_cmd;
}

const kvo_class *shared_node_class(void) {
  static const kvo_class *once;
  static const kvo_property_definition none[1];
  static const kvo_class_definition definition = {
      "CWeave", kvo_root_class, sizeof(shared_node), 0, none, destroy_nothing, setup, 0};
  return kvo_class_define(&once, &definition);
}

void shared_node_set_value(kvo_object *node, double value) {
  ((void (*)(kvo_object *, const kvo_method *, double))kvo_method_lookup(node,
      set_value_method))(node, set_value_method, value);
}

void shared_node_set_next(kvo_object *node, kvo_object *next) {
  ((void (*)(kvo_object *, const kvo_method *, kvo_object *))kvo_method_lookup(node,
      set_next_method))(node, set_next_method, next);
}

void shared_node_forget_next(kvo_object *node) { atomic_store(&((shared_node *)node)->next, NULL); }
