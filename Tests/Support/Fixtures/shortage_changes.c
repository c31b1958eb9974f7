#include <string.h>

#include "shortage_steps.h"

static void watch_values(world *world) {
  watch(world, 0, "value", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "value", KVO_DISTINCT);
}

static void watch_sum(world *world) { watch(world, 0, "items.@sum.value", KVO_NEW); }

static void watch_everything(world *world) {
  watch(world, 0, "name", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "span", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch(world, 0, "shout", KVO_NEW | KVO_OLD);
  world->values[0] = kvo_value_string("notified");
}

static void call_setter(world *world, const char *selector, const void *argument) {
  kvo_object *object = world_object(world, 0);
  const kvo_method *method = kvo_class_method(world->cls, selector);
  kvo_imp imp = kvo_method_lookup(object, method);
  if (!strcmp(selector, "setSpan:"))
    ((void (*)(kvo_object *, const kvo_method *, scarce_span))imp)(object, method,
        *(const scarce_span *)argument);
  else ((void (*)(kvo_object *, const kvo_method *, const char *))imp)(object, method, argument);
}

static kvo_status call_set_name(world *world) {
  call_setter(world, "setName:", "notified");
  return KVO_OK;
}

static kvo_status call_set_span(world *world) {
  call_setter(world, "setSpan:", &(scarce_span){{1, 2}, {3, 4}});
  return KVO_OK;
}

static void set_name_and_change(world *world) {
  call_set_name(world);
  world->log[0] = 0;
  change_all(world);
}

static void set_span_and_change(world *world) {
  call_set_span(world);
  change_all(world);
}

static void relink_and_change(world *world) {
  graph_node_setNext(node(world, 0), node(world, 2));
  world->log[0] = 0;
  change_all(world);
}

static kvo_status set_leaf(world *world) {
  graph_node_setValue(node(world, 1), 17);
  return KVO_OK;
}

static kvo_status insert_item(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 3), 1);
  return KVO_OK;
}

static kvo_status remove_item(world *world) {
  graph_node_removeItem(node(world, 0), 0);
  return KVO_OK;
}

static kvo_status replace_item(world *world) {
  graph_node_replaceItem(node(world, 0), 0, node(world, 3));
  return KVO_OK;
}

// A change of the list follows all links again.
static void insert_and_change(world *world) {
  graph_node_insertItem(node(world, 0), node(world, 0), 0);
  world->log[0] = 0;
  change_all(world);
}

static kvo_status add_tag(world *world) {
  graph_node_addTag(node(world, 0), node(world, 3));
  return KVO_OK;
}

static kvo_status remove_tag(world *world) {
  graph_node_removeTag(node(world, 0), node(world, 1));
  return KVO_OK;
}

static void add_tag_and_change(world *world) {
  graph_node_removeTag(node(world, 0), node(world, 2));
  world->log[0] = 0;
  change_all(world);
}

static kvo_status change_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "value");
  node(world, 0)->value = 8;
  kvo_did_change(world_object(world, 0), "value");
  return KVO_OK;
}

static kvo_status change_name_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "name");
  kvo_did_change(world_object(world, 0), "name");
  return KVO_OK;
}

static kvo_status change_link_by_hand(world *world) {
  kvo_will_change(world_object(world, 0), "next");
  graph_node_store_next(node(world, 0), node(world, 3));
  kvo_did_change(world_object(world, 0), "next");
  return KVO_OK;
}

static void watch_items_with_indexes(world *world) {
  watch_items(world);
  world->indexes = kvo_index_set_create_range(0, 1);
}

static kvo_status remove_by_hand(world *world) {
  kvo_object *object = world_object(world, 0);
  graph_node *rest[] = {node(world, 2)};
  kvo_will_change_indexes(object, KVO_REMOVAL, world->indexes, "items");
  graph_node_store_items(node(world, 0), rest, 1);
  kvo_did_change_indexes(object, KVO_REMOVAL, world->indexes, "items");
  return KVO_OK;
}

static void watch_tags_with_collection(world *world) {
  watch_tags(world);
  kvo_value value = kvo_value_object(world_object(world, 3));
  world->collection = kvo_collection_create(KVO_SET, &value, 1, NULL);
  kvo_value_destroy(&value);
}

static kvo_status union_by_hand(world *world) {
  kvo_object *object = world_object(world, 0);
  graph_node *all[] = {node(world, 1), node(world, 2), node(world, 3)};
  kvo_will_change_set(object, KVO_UNION, world->collection, "tags");
  graph_node_store_tags(node(world, 0), all, 3);
  kvo_did_change_set(object, KVO_UNION, world->collection, "tags");
  return KVO_OK;
}

static void change_in_body(void *context) {
  world *world = context;
  graph_node_setValue(node(world, 0), 7);
  graph_node_setValue(node(world, 0), 8);
  graph_node_setNext(node(world, 0), node(world, 3));
  graph_node_removeItem(node(world, 0), 0);
  graph_node_setValue(node(world, 0), 17);
}

static kvo_status change_in_batch(world *world) {
  kvo_coalesce(world_object(world, 0), change_in_body, world);
  return KVO_OK;
}

#define CHANGE(set_up, act, go_on) SCENARIO("change", ACT_TELLS, set_up, act, go_on, NULL)

SCENARIO_TABLE(shortage_changes, CHANGE(watch_values, set_value, change_all),
    // The setter's own lack of memory is reported separately.
    SCENARIO("change", ACT_TELLS_OFTEN, watch_everything, call_set_name, set_name_and_change, NULL),
    CHANGE(watch_everything, call_set_span, set_span_and_change),
    CHANGE(watch_paths, relink, relink_and_change), CHANGE(watch_paths, set_leaf, change_all),
    CHANGE(watch_sum, set_leaf, change_all), CHANGE(watch_items, insert_item, insert_and_change),
    CHANGE(watch_items, remove_item, insert_and_change),
    CHANGE(watch_items, replace_item, insert_and_change),
    CHANGE(watch_items, set_leaf, insert_and_change),
    CHANGE(watch_tags, add_tag, add_tag_and_change),
    CHANGE(watch_tags, remove_tag, add_tag_and_change),
    CHANGE(watch_values, change_by_hand, change_all),
    CHANGE(watch_everything, change_name_by_hand, change_all),
    CHANGE(watch_paths, change_link_by_hand, relink_and_change),
    CHANGE(watch_items_with_indexes, remove_by_hand, insert_and_change),
    CHANGE(watch_tags_with_collection, union_by_hand, add_tag_and_change),
    SCENARIO("change", ACT_TELLS_OFTEN, watch_values, change_in_batch, change_all, NULL),
    SCENARIO("change", ACT_TELLS_OFTEN, watch_paths, change_in_batch, relink_and_change, NULL),
    SCENARIO("change", ACT_TELLS_OFTEN, watch_items, change_in_batch, insert_and_change, NULL));
