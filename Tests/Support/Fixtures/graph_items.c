// The accessors of graph_node's array `items`, and their callers.
#include "fixture_graph.h"
#include "graph_list.h"
#include "graph_methods.h"
#include "require.h"

static const kvo_method *set_items, *insert_one, *remove_one, *replace_one, *insert_many,
    *remove_many, *replace_many;

static graph_list *items(kvo_object *self) { return &((graph_node *)self)->items; }

static size_t count_of_items(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return items(self)->count;
}

static graph_node *object_at(kvo_object *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  ((graph_node *)self)->item_reads++;
  return items(self)->nodes[index];
}

static void set(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects) {
  graph_list new = {NULL, 0};
  (void)_cmd;
  for (size_t i = 0; i < kvo_collection_count(objects); i++)
    graph_list_insert(&new, graph_collection_node(objects, i), i);
  graph_list_assign(items(self), new.nodes, new.count);
  graph_list_destroy(&new);
}

static void insert(kvo_object *self, const kvo_method *_cmd, graph_node *node, size_t index) {
  (void)_cmd;
  graph_list_insert(items(self), node, index);
}

static void remove_(kvo_object *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  graph_list_remove(items(self), index);
}

static void replace(kvo_object *self, const kvo_method *_cmd, size_t index, graph_node *node) {
  (void)_cmd;
  graph_list_replace(items(self), node, index);
}

static void insert_all(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects,
    const kvo_index_set *indexes) {
  (void)_cmd;
  for (size_t i = 0; i < kvo_index_set_count(indexes); i++)
    graph_list_insert(items(self), graph_collection_node(objects, i),
        kvo_index_set_index(indexes, i));
}

static void remove_all(kvo_object *self, const kvo_method *_cmd, const kvo_index_set *indexes) {
  (void)_cmd;
  for (size_t i = kvo_index_set_count(indexes); i-- > 0;)
    graph_list_remove(items(self), kvo_index_set_index(indexes, i));
}

static void replace_all(kvo_object *self, const kvo_method *_cmd, const kvo_index_set *indexes,
    kvo_collection *objects) {
  (void)_cmd;
  for (size_t i = 0; i < kvo_index_set_count(indexes); i++)
    graph_list_replace(items(self), graph_collection_node(objects, i),
        kvo_index_set_index(indexes, i));
}

void graph_add_accessor(kvo_class *cls, const char *selector, kvo_imp imp, const char *encoding,
    const kvo_method **method) {
  kvo_error error = {0};
  require_ok(kvo_class_add_method(cls, selector, imp, KVO_ENCODED(encoding), method, &error),
      &error);
}

void graph_add_items(kvo_class *cls) {
  graph_add_accessor(cls, "countOfItems", (kvo_imp)count_of_items, "Q@:", NULL);
  graph_add_accessor(cls, "objectInItemsAtIndex:", (kvo_imp)object_at, "@@:Q", NULL);
  graph_add_accessor(cls, "setItems:", (kvo_imp)set, "v@:@", &set_items);
  graph_add_accessor(cls, "insertObject:inItemsAtIndex:", (kvo_imp)insert, "v@:@Q", &insert_one);
  graph_add_accessor(cls, "removeObjectFromItemsAtIndex:", (kvo_imp)remove_, "v@:Q", &remove_one);
  graph_add_accessor(cls, "replaceObjectInItemsAtIndex:withObject:", (kvo_imp)replace, "v@:Q@",
      &replace_one);
  graph_add_accessor(cls, "insertItems:atIndexes:", (kvo_imp)insert_all, "v@:@^v", &insert_many);
  graph_add_accessor(cls, "removeItemsAtIndexes:", (kvo_imp)remove_all, "v@:^v", &remove_many);
  graph_add_accessor(cls, "replaceItemsAtIndexes:withItems:", (kvo_imp)replace_all, "v@:^v@",
      &replace_many);
}

void graph_node_setItems(graph_node *self, kvo_collection *objects) {
  GRAPH_CALL(self, set_items, (kvo_object *, const kvo_method *, kvo_collection *), objects);
}

void graph_node_insertItem(graph_node *self, graph_node *item, size_t index) {
  GRAPH_CALL(self, insert_one, (kvo_object *, const kvo_method *, graph_node *, size_t), item,
      index);
}

void graph_node_removeItem(graph_node *self, size_t index) {
  GRAPH_CALL(self, remove_one, (kvo_object *, const kvo_method *, size_t), index);
}

void graph_node_replaceItem(graph_node *self, size_t index, graph_node *item) {
  GRAPH_CALL(self, replace_one, (kvo_object *, const kvo_method *, size_t, graph_node *), index,
      item);
}

void graph_node_insertItems(graph_node *self, kvo_collection *objects,
    const kvo_index_set *indexes) {
  GRAPH_CALL(self, insert_many,
      (kvo_object *, const kvo_method *, kvo_collection *, const kvo_index_set *), objects,
      indexes);
}

void graph_node_removeItems(graph_node *self, const kvo_index_set *indexes) {
  GRAPH_CALL(self, remove_many, (kvo_object *, const kvo_method *, const kvo_index_set *), indexes);
}

void graph_node_replaceItems(graph_node *self, const kvo_index_set *indexes,
    kvo_collection *objects) {
  GRAPH_CALL(self, replace_many,
      (kvo_object *, const kvo_method *, const kvo_index_set *, kvo_collection *), indexes,
      objects);
}
