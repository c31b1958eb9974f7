#include "fixture_graph_odd.h"

#include "graph_list.h"
#include "graph_methods.h"
#include "require.h"

#include <pthread.h>

static void insert(kvo_object *object, const kvo_method *_cmd, graph_node *node, size_t index) {
  graph_odd_node *self = (graph_odd_node *)object;
  graph_list *items = &self->node.items;
  (void)_cmd;
  if (self->oddity == GRAPH_AT_FRONT) index = 0;
  graph_list_insert(items, node, index);
  if (items->count < 2 || self->oddity == GRAPH_AT_FRONT || self->oddity == GRAPH_REMOVES_LAST)
    return;
  if (self->oddity == GRAPH_EXCHANGES) {
    size_t exchanged = index + 1 < items->count ? index + 1 : index - 1;
    graph_list_remove(items, exchanged);
    graph_list_insert(items, self->node.other, exchanged);
    return;
  }
  size_t beside = index ? 0 : 1;
  if (self->oddity == GRAPH_DROPS) graph_list_remove(items, beside);
  else graph_node_replaceItem(&self->node, beside, self->node.other);
}

static void remove_(kvo_object *object, const kvo_method *_cmd, size_t index) {
  graph_odd_node *self = (graph_odd_node *)object;
  graph_list *items = &self->node.items;
  (void)_cmd;
  if (self->oddity == GRAPH_AT_FRONT) index = 0;
  if (self->oddity == GRAPH_REMOVES_LAST) index = items->count - 1;
  graph_list_remove(items, index);
}

static const kvo_class *made;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make(void) {
  kvo_error error = {0};
  kvo_class *cls =
      kvo_class_create("CGraphOddNode", graph_node_class(), sizeof(graph_odd_node), &error);
  require_ok(error.status, &error);
  graph_add_accessor(cls, "insertObject:inItemsAtIndex:", (kvo_imp)insert, "v@:@Q", NULL);
  graph_add_accessor(cls, "removeObjectFromItemsAtIndex:", (kvo_imp)remove_, "v@:Q", NULL);
  require_ok(kvo_class_register(cls, &error), &error);
  made = cls;
}

const kvo_class *graph_odd_node_class(void) {
  pthread_once(&once, make);
  return made;
}
