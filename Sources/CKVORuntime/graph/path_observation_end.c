// Removes ended entries from the graph, with whatever was there only for them.
//
// The nodes that have been removed from their path observations are in a list, which is processed one by one instead
// of recursively. So the structure below them may have any depth: nodes further along, and dependent keys of keys
// that only those nodes observed.
#include "graph/kvo_followed_elements.h"
#include "graph/kvo_graph.h"

static void unlink_child_locked(kvo_path_node *child) {
  if (!child->slot) return;
  *child->slot = child->next;
  if (child->next) child->next->slot = child->slot;
  else child->parent->last_child = child->slot;
  child->parent->covered -= child->occurrences;
  child->slot = NULL;
  child->next = NULL;
}

// Adds a node to the list of those to be ended, which is linked by `next`.
static void add_doomed(kvo_path_node **doomed, kvo_path_node *node) {
  unlink_child_locked(node);
  node->next = *doomed;
  *doomed = node;
}

// Clears the first node before it is retired, so that a thread that protects its object from now on does not find it.
static void store_first(kvo_path_observation *observation, kvo_path_node *first) {
  __atomic_store_n(&observation->first, first, __ATOMIC_SEQ_CST);
}

// Adds the nodes of a dependent key that is in no cell any more, and releases the reference that its cell had.
static void add_observations(kvo_path_node **doomed, kvo_dependent_key *dependent_key) {
  for (uint32_t i = 0; i < dependent_key->count; i++) {
    kvo_path_observation *observation = dependent_key->path_observations[i];
    if (observation->first) add_doomed(doomed, observation->first);
    store_first(observation, NULL);
  }
  kvo_dependent_key_release(dependent_key);
}

// Ends a dependent key that no registration needs, directly or through other derived keys. Those may depend on one
// another in a circle, which must not keep itself alive.
static void end_unless_needed(kvo_path_node **doomed, kvo_dependent_key *dependent_key) {
  if (!kvo_dependent_key_is_needed_locked(dependent_key) &&
      kvo_dependent_key_remove_from_cell_locked(dependent_key))
    add_observations(doomed, dependent_key);
}

static void end_entry(kvo_path_node **doomed, kvo_registration *entry, kvo_retired **retired) {
  kvo_removal_result removal = {0};
  kvo_registration_take_out(entry, &removal, retired);
  if (removal.detached) add_observations(doomed, removal.detached);
  if (removal.maybe_unused) end_unless_needed(doomed, removal.maybe_unused);
}

static void end_doomed_locked(kvo_path_node *doomed, kvo_retired **retired) {
  while (doomed) {
    kvo_path_node *node = doomed;
    doomed = node->next;
    node->next = NULL;
    while (node->children) add_doomed(&doomed, node->children);
    kvo_followed_elements_free(node->followed);
    node->followed = NULL;
    end_entry(&doomed, &node->entry, retired);
  }
}

static void end_observation_from(kvo_path_node *first) {
  store_first(first->observation, NULL);
  first->observation->ended = true;
}

void kvo_entry_end_locked(kvo_registration *entry, kvo_retired **retired) {
  kvo_path_node *doomed = NULL, *node = kvo_path_node_of(entry);
  if (node && node->observation->first == node) end_observation_from(node);
  if (node) add_doomed(&doomed, node);
  else end_entry(&doomed, entry, retired);
  end_doomed_locked(doomed, retired);
}

void kvo_dependent_key_end_locked(kvo_dependent_key *dependent_key, kvo_retired **retired) {
  kvo_path_node *doomed = NULL;
  add_observations(&doomed, dependent_key);
  end_doomed_locked(doomed, retired);
}
