// Path observations and their nodes: memory, shape, and reports.
//
// A node is freed when its entry has been reclaimed and nothing holds it any more. It keeps its path observation, which
// keeps the memory of its root. For how they end see path_observation_end.c.
#include "graph/kvo_graph.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "graph/kvo_path_cache.h"

#include <stdio.h>
#include <string.h>

// The length of a key path's text before a component and its dot. An operator's @ is not in its name.
static int length_before(const kvo_key_path *path, uint32_t component) {
  size_t length = 0;
  for (uint32_t i = 0; i < component; i++)
    length +=
        strlen(path->components[i].key) + 1 + kvo_operator_is_collective(path->components[i].op);
  return length ? (int)length - 1 : 0;
}

// An operator that reads the elements of a collection, with a result on which the operator before it works.
static const char *element_operator(const kvo_key_path *path, uint32_t behind) {
  uint32_t i = behind;
  while (i && !kvo_operator_is_collective(path->components[i - 1].op)) i--;
  const kvo_component *last = i ? &path->components[i - 1] : NULL;
  switch (last ? last->op : KVO_OP_NONE) {
  case KVO_OP_SUM:
  case KVO_OP_AVG:
  case KVO_OP_MIN:
  case KVO_OP_MAX: return last->key;
  case KVO_OP_UNION_OF_SETS:
  case KVO_OP_DISTINCT_UNION_OF_SETS: return "distinctUnionOfObjects";
  default: return "unionOfObjects";
  }
}

kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t behind,
    const kvo_class *cls, kvo_error *error) {
  const char *next = path->components[behind].key;
  int length = length_before(path, behind);
  kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, path->text,
      "\"%s\" of %s goes on through \"%.*s\", which is a collection: use an operator, as in "
      "\"%.*s.@%s.%s\".",
      path->text, cls->name, length, path->text, length, path->text, element_operator(path, behind),
      next);
  kvo_fail_component(error, "", next);
  return KVO_INVALID_KEY_PATH;
}

// MARK: Memory

kvo_path_observation *kvo_path_observation_make(kvo_object *root, const kvo_key_path *path,
    const kvo_accessors *accessors, kvo_dependent_key *dependent_key) {
  kvo_path_observation *observation = kvo_alloc_zeroed(sizeof *observation);
  const kvo_key_path *held = observation ? kvo_key_path_retain(path) : NULL;
  if (!held) {
    kvo_free(observation);
    return NULL;
  }
  observation->references = 1;
  observation->path = held;
  observation->accessors = accessors;
  observation->root = root;
  observation->operations = kvo_class_of(root)->operations;
  observation->dependent_key = dependent_key;
  observation->is_tracked = dependent_key && dependent_key->is_tracked;
  observation->operations->unowned_retain(root);
  return observation;
}

void kvo_path_observation_retain(kvo_path_observation *observation) {
  __atomic_fetch_add(&observation->references, 1, __ATOMIC_RELAXED);
}

void kvo_path_observation_release(kvo_path_observation *observation) {
  if (__atomic_sub_fetch(&observation->references, 1, __ATOMIC_ACQ_REL)) return;
  observation->operations->unowned_release(observation->root);
  kvo_path_cache_release(observation->path_cache);
  kvo_key_path_release(observation->path);
  kvo_free(observation);
}

void kvo_path_node_init(kvo_path_node *node, kvo_path_observation *observation, uint32_t depth) {
  const kvo_component *component = &observation->path->components[depth];
  kvo_path_observation_retain(observation);
  node->observation = observation;
  node->depth = (uint16_t)depth;
  bool is_leaf = component->next_key == observation->path->count && !component->operates;
  node->target = is_leaf ? KVO_LEAF : KVO_ANYWHERE;
  node->last_child = &node->children;
}

void kvo_path_node_add_child_locked(kvo_path_node *parent, kvo_path_node *child) {
  child->slot = parent->last_child;
  *parent->last_child = child;
  parent->last_child = &child->next;
  parent->covered += child->occurrences;
}

// MARK: Reports

static bool is_first_report(kvo_path_observation *observation) {
  return !__atomic_exchange_n(&observation->is_reported, true, __ATOMIC_RELAXED);
}

// Reported once per class, because a dependency is declared by the class: all of its objects have the same mistake.
static void report_dependency(const kvo_path_observation *observation, const kvo_error *error) {
  char message[768];
  snprintf(message, sizeof message, "\"%s\" of %s can't depend on \"%s\": %s",
      observation->accessors->key, observation->accessors->cls->name, observation->path->text,
      error->message);
  if (kvo_text_add(message)) kvo_misuse("%s", message);
}

void kvo_path_observation_report(kvo_path_observation *observation, const kvo_error *error) {
  if (!is_first_report(observation)) return;
  if (observation->dependent_key) report_dependency(observation, error);
  else
    kvo_misuse("\"%s\" of %s can't be observed further: %s", observation->path->text,
        observation->accessors->cls->name, error->message);
}

void kvo_path_observation_report_unread(kvo_path_observation *observation, const kvo_error *error) {
  if (!is_first_report(observation)) return;
  kvo_misuse("\"%s\" of %s is reported as nil: %s", observation->path->text,
      observation->accessors->cls->name, error->message);
}
