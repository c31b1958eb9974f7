/// The memory of registrations, with the allocator's headers and rounding. A figure is the growth after all
/// registrations have been made and notified once.
#include <stdlib.h>

#include "counting.h"
#include "keyed_class.h"
#include "node.h"
#include "support.h"

static uint64_t deliveries;

static void set_all(kvo_object *object, const bench_keyed_class *keyed) {
  for (size_t i = 0; i < keyed->count; i++)
    bench_keyed_object_set(object, keyed->keys[i].setter, 1);
}

/// A registration for each key of one object.
static size_t bytes_of_keys(const bench_keyed_class *keyed) {
  kvo_object *object = bench_keyed_object_create(keyed);
  kvo_handle **handles = bench_allocate(keyed->count, sizeof *handles);
  size_t before = memory();
  for (size_t i = 0; i < keyed->count; i++)
    handles[i] = bench_observe(object, keyed->keys[i].name, 0, &deliveries);
  set_all(object, keyed);
  size_t bytes = memory() - before;
  for (size_t i = 0; i < keyed->count; i++) kvo_handle_release(handles[i]);
  free(handles);
  kvo_object_release(object);
  return bytes;
}

/// All keys of one object by one handle.
static size_t bytes_of_group(const bench_keyed_class *keyed) {
  kvo_object *object = bench_keyed_object_create(keyed);
  size_t before = memory();
  kvo_handle *handle = observe_keys(object, keyed, &deliveries);
  set_all(object, keyed);
  size_t bytes = memory() - before;
  kvo_handle_release(handle);
  kvo_object_release(object);
  return bytes;
}

/// All keys of one object by one observer object, each with its own context.
static size_t bytes_of_contexts(const bench_keyed_class *keyed) {
  kvo_object *object = bench_keyed_object_create(keyed);
  node *observer = node_make(node_class());
  char *contexts = bench_allocate(keyed->count, 1);
  size_t before = memory();
  for (size_t i = 0; i < keyed->count; i++) {
    kvo_error error;
    bench_require_ok(kvo_add_observer(object, &observer->object, keyed->keys[i].name, 0,
                         &contexts[i], &error),
        &error);
  }
  set_all(object, keyed);
  size_t bytes = memory() - before;
  kvo_object_release(&observer->object);
  kvo_object_release(object);
  free(contexts);
  return bytes;
}

static void tell_keys(size_t count) {
  char name[32];
  snprintf(name, sizeof name, "WeighedKeys%zu", count);
  const bench_keyed_class *keyed = bench_keyed_class_make(name, count);
  size_t first = bytes_of_keys(keyed), known = bytes_of_keys(keyed);
  tell_memory("what a class keeps of a key that has been observed", count, count, first - known);
  tell_memory("one of many keys of an object", count, count, known);
  tell_memory("a key of one handle for many", count, count, bytes_of_group(keyed));
  tell_memory("a context of an observer object", count, count, bytes_of_contexts(keyed));
}

/// One registration for each of many objects.
static void tell_each(const char *what, const char *key_path, size_t depth, size_t count) {
  node **nodes = bench_allocate(count, sizeof *nodes);
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  for (size_t i = 0; i < count; i++) nodes[i] = nodes_make_line(depth);
  size_t before = memory();
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&nodes[i]->object, key_path, 0, &deliveries);
  for (size_t i = 0; i < count; i++) node_setValue(nodes[i], 1);
  tell_memory(what, count, count, memory() - before);
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
  nodes_release(nodes, count);
}

void count_memory(void) {
  for (size_t count = 1000; count <= 10000; count *= 10) {
    tell_keys(count);
    tell_each("an object's only observation", "value", 1, count);
    tell_each("an object's only observation, of a derived key", "total", 1, count);
    tell_each("an object's only observation, of a path of two keys", "next.value", 2, count);
    tell_each("an object's only observation, of a path of four keys", "next.next.next.value", 4,
        count);
  }
}
