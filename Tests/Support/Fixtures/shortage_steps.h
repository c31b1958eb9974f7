/// Steps shared by several groups of scenarios.
#ifndef FIXTURE_SHORTAGE_STEPS_H
#define FIXTURE_SHORTAGE_STEPS_H

#include "require.h"
#include "shortage.h"

#define SCENARIO(group, kind, set_up, act, go_on, key) \
  {group, #set_up " " #act, kind, set_up, act, go_on, key}
/// Defines the rows as a table.
#define SCENARIO_TABLE(name, ...)               \
  static const scenario rows[] = {__VA_ARGS__}; \
  const scenario_table name = {rows, sizeof rows / sizeof *rows, NULL}
/// Defines the rows as a table of scenarios that park threads.
#define SCENARIO_TABLE_WITH_THREADS(name, ...)  \
  static const scenario rows[] = {__VA_ARGS__}; \
  const scenario_table name = {rows, sizeof rows / sizeof *rows, unpark_threads}

static inline graph_node *node(world *world, int i) { return (graph_node *)world->nodes[i]; }

static inline void must(kvo_status status) { require_ok(status, &(kvo_error){0}); }

static inline void watch(world *world, int i, const char *key_path, kvo_options options) {
  must(world_observe(world, i, key_path, options));
}

static inline kvo_status set_by_key(world *world, int i, const char *key, const kvo_value *value) {
  return kvo_set_value_for_key(world_object(world, i), key, value, &world->error);
}

static inline void set_name(world *world, int i, const char *name) {
  kvo_value value = kvo_value_string(name);
  must(set_by_key(world, i, "name", &value));
  kvo_value_destroy(&value);
}

static inline void nothing(world *world) { (void)world; }

// MARK: After an act

static inline void set_values(world *world) {
  for (int i = 0; i < SHORTAGE_NODES; i++) graph_node_setValue(node(world, i), 10 + i);
}

static inline void change_all(world *world) {
  set_values(world);
  for (int i = 0; i < SHORTAGE_NODES; i++) set_name(world, i, "after");
  graph_node_setNext(node(world, 1), node(world, 3));
  graph_node_setNext(node(world, 0), node(world, 3));
  graph_node_setNext(node(world, 3), node(world, 2));
  set_values(world);
  graph_node_insertItem(node(world, 0), node(world, 3), 1);
  graph_node_removeItem(node(world, 0), 0);
  graph_node_addTag(node(world, 0), node(world, 3));
  graph_node_removeTag(node(world, 0), node(world, 1));
  set_values(world);
}

// MARK: Registering

static inline kvo_status add_observer(world *world) {
  return kvo_add_observer(world_object(world, 0), world_object(world, 3), "value",
      KVO_NEW | KVO_INITIAL, world, &world->error);
}

static inline void log_notified(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  (void)object, (void)key, (void)change;
  world_log(context, "notified ");
}

static inline void log_key(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  (void)object, (void)change;
  world_log(context, "%s ", key);
}

static inline void end_group(void *context) { ((world *)context)->ended++; }

static inline kvo_status add_group(world *world) {
  static const char *const keys[] = {"value", "name", "total"};
  kvo_status status = kvo_add_callback_for_keys(world_object(world, 0), keys, 3, KVO_NEW, log_key,
      world, 0, end_group, &world->handles[world->handle_count], &world->error);
  if (!status) world->handle_count++, world->begun++;
  return status;
}

static inline void watch_paths(world *world) {
  watch(world, 0, "next", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "next.value", KVO_NEW | KVO_OLD);
  watch(world, 0, "next.next.name", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "total", KVO_NEW | KVO_OLD);
}

static inline void watch_items(world *world) {
  watch(world, 0, "items", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "items.@sum.value", KVO_NEW | KVO_OLD);
  watch(world, 0, "items.@count", KVO_NEW);
}

static inline void watch_tags(world *world) {
  watch(world, 0, "tags", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "tags.@sum.value", KVO_NEW | KVO_OLD);
}

// MARK: Changing

static inline kvo_status set_value(world *world) {
  graph_node_setValue(node(world, 0), 7);
  return KVO_OK;
}

static inline kvo_status relink(world *world) {
  graph_node_setNext(node(world, 0), node(world, 3));
  return KVO_OK;
}

static inline kvo_status add(world *world) {
  return kvo_collection_add(world->proxy, &world->values[0], &world->error);
}

static inline kvo_status unite(world *world) {
  return kvo_collection_union(world->proxy, world->collection, &world->error);
}

static inline kvo_status subtract(world *world) {
  return kvo_collection_minus(world->proxy, world->collection, &world->error);
}

static inline kvo_status intersect(world *world) {
  return kvo_collection_intersect(world->proxy, world->collection, &world->error);
}

static inline kvo_status set_all(world *world) {
  return kvo_collection_set(world->proxy, world->collection, &world->error);
}

// MARK: Ending

static inline kvo_status release_handles(world *world) {
  world_release_handles(world);
  return KVO_OK;
}

#endif
