// The accessors of graph_node's set `tags`, and their callers.
#include "fixture_graph.h"
#include "graph_list.h"
#include "graph_methods.h"

static const kvo_method *set_tags, *add_one, *remove_one, *add_many, *remove_many, *intersect_many;

static graph_list *tags(kvo_object *self) { return &((graph_node *)self)->tags; }

static bool is_in(kvo_collection *objects, const graph_node *node) {
  for (size_t i = 0; i < kvo_collection_count(objects); i++)
    if (graph_collection_node(objects, i) == node) return true;
  return false;
}

static size_t count_of_tags(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return tags(self)->count;
}

static kvo_collection *enumerator_of_tags(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return graph_list_collection(tags(self), KVO_SET);
}

static graph_node *member_of_tags(kvo_object *self, const kvo_method *_cmd, graph_node *node) {
  (void)_cmd;
  return graph_list_find(tags(self), node) < tags(self)->count ? node : NULL;
}

static void add(kvo_object *self, const kvo_method *_cmd, graph_node *node) {
  (void)_cmd;
  graph_list_add_new(tags(self), node);
}

static void remove_(kvo_object *self, const kvo_method *_cmd, graph_node *node) {
  (void)_cmd;
  graph_list_remove(tags(self), graph_list_find(tags(self), node));
}

static void add_all(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects) {
  for (size_t i = 0; i < kvo_collection_count(objects); i++)
    add(self, _cmd, graph_collection_node(objects, i));
}

static void remove_all(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects) {
  for (size_t i = 0; i < kvo_collection_count(objects); i++)
    remove_(self, _cmd, graph_collection_node(objects, i));
}

static void intersect(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects) {
  (void)_cmd;
  for (size_t i = tags(self)->count; i-- > 0;)
    if (!is_in(objects, tags(self)->nodes[i])) graph_list_remove(tags(self), i);
}

static void set(kvo_object *self, const kvo_method *_cmd, kvo_collection *objects) {
  intersect(self, _cmd, objects);
  add_all(self, _cmd, objects);
}

void graph_add_tags(kvo_class *cls) {
  graph_add_accessor(cls, "countOfTags", (kvo_imp)count_of_tags, "Q@:", NULL);
  graph_add_accessor(cls, "enumeratorOfTags", (kvo_imp)enumerator_of_tags, "@@:", NULL);
  graph_add_accessor(cls, "memberOfTags:", (kvo_imp)member_of_tags, "@@:@", NULL);
  graph_add_accessor(cls, "setTags:", (kvo_imp)set, "v@:@", &set_tags);
  graph_add_accessor(cls, "addTagsObject:", (kvo_imp)add, "v@:@", &add_one);
  graph_add_accessor(cls, "removeTagsObject:", (kvo_imp)remove_, "v@:@", &remove_one);
  graph_add_accessor(cls, "addTags:", (kvo_imp)add_all, "v@:@", &add_many);
  graph_add_accessor(cls, "removeTags:", (kvo_imp)remove_all, "v@:@", &remove_many);
  graph_add_accessor(cls, "intersectTags:", (kvo_imp)intersect, "v@:@", &intersect_many);
}

static void call_with_node(graph_node *self, const kvo_method *method, graph_node *node) {
  GRAPH_CALL(self, method, (kvo_object *, const kvo_method *, graph_node *), node);
}

static void call_with_nodes(graph_node *self, const kvo_method *method, kvo_collection *nodes) {
  GRAPH_CALL(self, method, (kvo_object *, const kvo_method *, kvo_collection *), nodes);
}

void graph_node_addTag(graph_node *self, graph_node *tag) { call_with_node(self, add_one, tag); }
void graph_node_removeTag(graph_node *self, graph_node *tag) {
  call_with_node(self, remove_one, tag);
}
void graph_node_setTags(graph_node *self, kvo_collection *nodes) {
  call_with_nodes(self, set_tags, nodes);
}
void graph_node_addTags(graph_node *self, kvo_collection *nodes) {
  call_with_nodes(self, add_many, nodes);
}
void graph_node_removeTags(graph_node *self, kvo_collection *nodes) {
  call_with_nodes(self, remove_many, nodes);
}
void graph_node_intersectTags(graph_node *self, kvo_collection *nodes) {
  call_with_nodes(self, intersect_many, nodes);
}
