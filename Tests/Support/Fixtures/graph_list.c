// A list is an array of retained nodes that grows by one at a time, because lists are short here.
#include "graph_list.h"

#include "fixture_memory.h"

#include <stdlib.h>
#include <string.h>

static void *required(void *memory) {
  if (!memory) abort();
  return memory;
}

void graph_list_insert(graph_list *list, graph_node *node, size_t index) {
  if (index > list->count) return;
  list->nodes = required(realloc(list->nodes, (list->count + 1) * sizeof *list->nodes));
  memmove(&list->nodes[index + 1], &list->nodes[index],
      (list->count - index) * sizeof *list->nodes);
  kvo_object_retain((kvo_object *)node);
  list->nodes[index] = node;
  list->count++;
}

void graph_list_remove(graph_list *list, size_t index) {
  if (index >= list->count) return;
  graph_node *gone = list->nodes[index];
  list->count--;
  memmove(&list->nodes[index], &list->nodes[index + 1],
      (list->count - index) * sizeof *list->nodes);
  kvo_object_release((kvo_object *)gone);
}

void graph_list_replace(graph_list *list, graph_node *node, size_t index) {
  if (index >= list->count) return;
  graph_node *gone = list->nodes[index];
  kvo_object_retain((kvo_object *)node);
  list->nodes[index] = node;
  kvo_object_release((kvo_object *)gone);
}

size_t graph_list_find(const graph_list *list, const graph_node *node) {
  size_t index = 0;
  while (index < list->count && list->nodes[index] != node) index++;
  return index;
}

void graph_list_add_new(graph_list *list, graph_node *node) {
  if (graph_list_find(list, node) < list->count) return;
  size_t index = 0;
  int mark = node->watcher.tracked.mark;
  while (index < list->count && list->nodes[index]->watcher.tracked.mark < mark) index++;
  graph_list_insert(list, node, index);
}

void graph_list_assign(graph_list *list, graph_node *const *nodes, size_t count) {
  graph_list old = *list;
  *list = (graph_list){NULL, 0};
  for (size_t i = 0; i < count; i++) graph_list_insert(list, nodes[i], i);
  graph_list_destroy(&old);
}

void graph_list_destroy(graph_list *list) {
  while (list->count) graph_list_remove(list, list->count - 1);
  free(list->nodes);
  list->nodes = NULL;
}

static kvo_collection *make(const graph_list *list, kvo_collection_kind kind) {
  kvo_value *values = required(calloc(list->count + 1, sizeof *values));
  for (size_t i = 0; i < list->count; i++)
    values[i] = kvo_value_object((kvo_object *)list->nodes[i]);
  kvo_collection *made = required(kvo_collection_create(kind, values, list->count, NULL));
  for (size_t i = 0; i < list->count; i++) kvo_value_destroy(&values[i]);
  free(values);
  return made;
}

// Memory limits are for the runtime, not for this class.
kvo_collection *graph_list_collection(const graph_list *list, kvo_collection_kind kind) {
  fixture_memory_limit limit = fixture_lift_memory_limit();
  kvo_collection *made = make(list, kind);
  fixture_restore_memory_limit(limit);
  return made;
}

graph_node *graph_collection_node(kvo_collection *collection, size_t index) {
  kvo_value value = KVO_VALUE_NIL;
  fixture_memory_limit limit = fixture_lift_memory_limit();
  if (kvo_collection_get(collection, index, &value, NULL)) abort();
  fixture_restore_memory_limit(limit);
  graph_node *node = (graph_node *)kvo_value_get_object(&value);
  kvo_value_destroy(&value);
  return node;
}
