/// The parts of graph_node's class.
#ifndef FIXTURE_GRAPH_METHODS_H
#define FIXTURE_GRAPH_METHODS_H

#include <CKVORuntime.h>

/// Adds the accessors of the array `items`, and of the set `tags`.
void graph_add_items(kvo_class *cls);
void graph_add_tags(kvo_class *cls);

/// Adds a method, and stores its handle.
void graph_add_accessor(kvo_class *cls, const char *selector, kvo_imp imp, const char *encoding,
    const kvo_method **method);

/// Calls a method with arguments through the dispatch table.
#define GRAPH_CALL(self, method, types, ...)                                               \
  ((void(*) types)kvo_method_lookup((kvo_object *)(self), (method)))((kvo_object *)(self), \
      (method), __VA_ARGS__)

#endif
