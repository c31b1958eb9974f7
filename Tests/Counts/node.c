#include "node.h"

#include <stdlib.h>

#include "support.h"

// MARK: The computed key

static double read_tallied(node *self, kvo_reads *reads) {
  static const char *value;
  if (!value) value = kvo_key_intern("value");
  double tally = 0;
  for (size_t i = 0; i < self->tallied_count; i++) {
    kvo_object *read = &self->tallied[i]->object;
    if (reads && !kvo_reads_follow(reads, read, value))
      kvo_reads_add_known(reads, read, value, value);
    tally += node_value(self->tallied[i]);
  }
  return tally;
}

static kvo_status get_tally(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)binding, (void)error;
  *value = kvo_value_double(read_tallied((node *)object, NULL));
  return KVO_OK;
}

static void track_tally(kvo_object *object, const void *binding, kvo_reads *reads) {
  (void)binding;
  kvo_value *answer = kvo_reads_result(reads);
  double tally = read_tallied((node *)object, reads);
  if (answer) *answer = kvo_value_double(tally);
}

// MARK: The class

static void derive(kvo_class *cls, const char *key, const char *from) {
  kvo_error error;
  bench_require_ok(kvo_class_add_dependency(cls, key, from, &error), &error);
}

static void observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)self, (void)_cmd, (void)key_path, (void)object, (void)change, (void)context;
}

static void set_up(kvo_class *cls) {
  static const char *const parts[] = {"value", "a", "b", "c", "d"};
  static const char *const derived[] = {"s", "t", "u", "v", "w"};
  kvo_error error = {0};
  bench_require_ok(kvo_class_add_method(cls, "observeValueForKeyPath:ofObject:change:context:",
                       (kvo_imp)observe, KVO_HOOK, NULL, &error),
      &error);
  derive(cls, "twice", "other");
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) derive(cls, "total", parts[i]);
  for (size_t i = 0; i < sizeof derived / sizeof *derived; i++) derive(cls, derived[i], "d");
  const kvo_property_description tally = {.key = "tally",
      .type = kvo_type_for_encoding("d", &error),
      .get = get_tally,
      .track = track_tally};
  bench_require_ok(error.status, &error);
  bench_require_ok(kvo_class_add_property(cls, &tally, &error), &error);
}

KVO_CLASS_IMPLEMENTATION(node, "Node", kvo_root_class, NODE_PROPERTIES, set_up)

const kvo_class *node_subclass(const char *name) {
  const kvo_class *known = kvo_class_named(name);
  if (known) return known;
  kvo_error error;
  kvo_class *made = kvo_class_create(name, node_class(), sizeof(node), &error);
  bench_require(made != NULL, "%s", error.message);
  bench_require_ok(kvo_class_register(made, &error), &error);
  return made;
}

node *node_make(const kvo_class *cls) {
  kvo_object *object = kvo_object_create(cls);
  bench_require(object != NULL, "no memory for a node");
  return (node *)object;
}

node **nodes_make(size_t count) {
  node **nodes = bench_allocate(count, sizeof *nodes);
  for (size_t i = 0; i < count; i++) nodes[i] = node_make(node_class());
  return nodes;
}

void nodes_release(node **nodes, size_t count) {
  for (size_t i = 0; i < count; i++) kvo_object_release(&nodes[i]->object);
  free(nodes);
}

node *nodes_make_line(size_t count) {
  node *line = node_make(node_class());
  for (size_t i = 1; i < count; i++) {
    node *first = node_make(node_class());
    node_setNext(first, line);
    kvo_object_release(&line->object);
    line = first;
  }
  return line;
}

// MARK: Many keys

static void count_delivery(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  ++*(uint64_t *)context;
}

kvo_handle *observe_keys(kvo_object *object, const bench_keyed_class *keyed, uint64_t *deliveries) {
  const char **keys = bench_allocate(keyed->count, sizeof *keys);
  for (size_t i = 0; i < keyed->count; i++) keys[i] = keyed->keys[i].name;
  kvo_handle *handle;
  kvo_error error;
  kvo_status status = kvo_add_callback_for_keys(object, keys, keyed->count, 0, count_delivery,
      deliveries, 0, NULL, &handle, &error);
  bench_require_ok(status, &error);
  free(keys);
  return handle;
}
