// graph_node: its methods, and the dependencies of its derived keys. The accessors of its
// collections are in graph_items.c and graph_tags.c.
#include "fixture_graph.h"

#include "graph_list.h"
#include "graph_methods.h"
#include "require.h"

// Derived keys

static double total(const graph_node *node) { return node ? node->value + node->extra : 0; }

static double get_total(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return total((graph_node *)self);
}

static double get_next_total(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return total(((graph_node *)self)->next);
}

static double get_both(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *node = (graph_node *)self;
  (void)_cmd;
  return (node->next ? node->next->value : 0) + (node->other ? node->other->value : 0);
}

static double get_circle(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *node = (graph_node *)self;
  (void)_cmd;
  return node->value + (node->next ? node->next->value : 0);
}

static double get_grand(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *node = (graph_node *)self;
  (void)_cmd;
  return total(node->next) + total(node);
}

static double get_sum(kvo_object *self, const kvo_method *_cmd) {
  const graph_list *items = &((graph_node *)self)->items;
  double sum = 0;
  (void)_cmd;
  for (size_t i = 0; i < items->count; i++) sum += items->nodes[i]->value;
  return sum;
}

static double get_loud(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((graph_node *)self)->quiet;
}

static double get_hush(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((graph_node *)self)->value;
}

static double get_far(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *next = ((graph_node *)self)->next;
  (void)_cmd;
  return next && next->next ? next->next->value : 0;
}

static double get_joint(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *next = ((graph_node *)self)->next;
  (void)_cmd;
  return (next ? next->value : 0) + total((graph_node *)self);
}

static graph_node *get_heir(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *node = (graph_node *)self;
  (void)_cmd;
  return node->next ? node->next : node->other;
}

static void affects_total(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "value");
  kvo_key_paths_add(paths, "extra");
}

static void affects_both(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "next.value");
  kvo_key_paths_add(paths, "other.value");
}

static void affects_sum(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "items.@sum.value");
}

static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void depends(kvo_class *cls, const char *key, const char *key_path) {
  kvo_error error = {0};
  require_ok(kvo_class_add_dependency(cls, key, key_path, &error), &error);
}

static void add_derived_getters(kvo_class *cls) {
  require_method(cls, "total", (kvo_imp)get_total, KVO_GETTER(double));
  require_method(cls, "nextTotal", (kvo_imp)get_next_total, KVO_GETTER(double));
  require_method(cls, "both", (kvo_imp)get_both, KVO_GETTER(double));
  require_method(cls, "ringA", (kvo_imp)get_total, KVO_GETTER(double));
  require_method(cls, "ringB", (kvo_imp)get_total, KVO_GETTER(double));
  require_method(cls, "circle", (kvo_imp)get_circle, KVO_GETTER(double));
  require_method(cls, "grand", (kvo_imp)get_grand, KVO_GETTER(double));
  require_method(cls, "sum", (kvo_imp)get_sum, KVO_GETTER(double));
  require_method(cls, "loud", (kvo_imp)get_loud, KVO_GETTER(double));
  require_method(cls, "hush", (kvo_imp)get_hush, KVO_GETTER(double));
  require_method(cls, "far", (kvo_imp)get_far, KVO_GETTER(double));
  require_method(cls, "joint", (kvo_imp)get_joint, KVO_GETTER(double));
  require_method(cls, "heir", (kvo_imp)get_heir, KVO_GETTER_OF(graph_node *, "@"));
}

static void add_dependencies(kvo_class *cls) {
  require_class_method(cls, "keyPathsForValuesAffectingTotal", (kvo_imp)affects_total);
  require_class_method(cls, "keyPathsForValuesAffectingBoth", (kvo_imp)affects_both);
  require_class_method(cls, "keyPathsForValuesAffectingSum", (kvo_imp)affects_sum);
  depends(cls, "nextTotal", "next.total");
  depends(cls, "ringA", "ringB");
  depends(cls, "ringA", "value");
  depends(cls, "ringB", "ringA");
  depends(cls, "ringB", "extra");
  depends(cls, "circle", "value");
  depends(cls, "circle", "next.circle");
  depends(cls, "grand", "nextTotal");
  depends(cls, "grand", "total");
  depends(cls, "loud", "quiet");
  depends(cls, "hush", "value");
  depends(cls, "heir", "next");
  depends(cls, "heir", "other");
  depends(cls, "far", "next.next.value");
  depends(cls, "joint", "next.value");
  depends(cls, "joint", "total");
  require_class_method(cls, "automaticallyNotifiesObserversOfQuiet", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversOfManual", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversOfHush", (kvo_imp)says_no);
}

static void graph_node_dealloc(kvo_object *self, const kvo_method *_cmd) {
  graph_node *node = (graph_node *)self;
  (void)_cmd;
  graph_list_destroy(&node->items);
  graph_list_destroy(&node->tags);
}

static void graph_node_setup(kvo_class *cls) {
  require_hook(cls, "dealloc", (kvo_imp)graph_node_dealloc);
  add_derived_getters(cls);
  add_dependencies(cls);
  graph_add_items(cls);
  graph_add_tags(cls);
}

KVO_CLASS_IMPLEMENTATION(graph_node, "CGraphNode", watcher_class, GRAPH_NODE_PROPERTIES,
    graph_node_setup)

static double graph_node_manual_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((graph_node *)self)->manual;
}

static void graph_node_setManual_imp(kvo_object *self, const kvo_method *_cmd, double value) {
  (void)_cmd;
  if (((graph_node *)self)->manual == value) return;
  kvo_will_change(self, "manual");
  ((graph_node *)self)->manual = value;
  kvo_did_change(self, "manual");
}

// Stores without notifying

void graph_node_store_next(graph_node *self, graph_node *next) {
  kvo_store_retained_object(&self->next, next);
}

void graph_node_store_other(graph_node *self, graph_node *other) {
  kvo_store_retained_object(&self->other, other);
}

void graph_node_store_wares(graph_node *self, kvo_collection *wares) {
  kvo_store_retained_object(&self->wares, wares);
}

void graph_node_store_items(graph_node *self, graph_node *const *nodes, size_t count) {
  graph_list_assign(&self->items, nodes, count);
}

void graph_node_store_tags(graph_node *self, graph_node *const *nodes, size_t count) {
  graph_list_assign(&self->tags, nodes, count);
}
