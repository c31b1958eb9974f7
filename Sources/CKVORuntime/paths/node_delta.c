// Moves the nodes behind a node by the elements that a change has removed and added (C6).
//
// Each child stores how often its object is an element, and the node stores the sum of these counts. A delta
// (delta.c) is applied as a whole under the graph lock, or not at all. So is the difference that a reading finds by
// comparing references (followed_elements.c). A delta is applied only if
//
// * since the change took its ticket no other change and no reading has begun, and none was in progress then (for a
//   difference: no other reading or delta has been installed since the one that it is based on),
// * no other thread is working on the path,
// * each removed object had a child that counts it at least as often as it is removed,
// * each inserted object had no child, or is known to be the one that was to be inserted (an accessor may put it
//   elsewhere),
// * afterwards the children's counts add up to the number of elements.
//
// So the sum reveals an element that was added without a change, or that has no child for lack of memory. An
// installed ticket still means that everything which existed when it was issued has been followed.
#include "paths/kvo_path_worklist.h"

#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

#include <string.h>

enum { FEW = 4 };

typedef struct {
  kvo_path_worklist *worklist;
  kvo_path_node *node;
  uint64_t ticket;
  uint64_t since;         // the ticket of the reading that the difference is based on
  const kvo_delta *delta; // NULL: a reading has found the difference
  kvo_targets *found;     // what it has found; NULL: a delta
  bool is_set, is_known;  // the added elements are new members of a set, or are known
  const kvo_difference *difference;
  const char *key;             // the key of the children, interned
  kvo_path_node **gone;        // the child of each removed element, or NULL
  kvo_object_count *came;      // each added object once
  kvo_path_node **staying;     // the child that it already had, or NULL
  size_t came_count, inserted; // of `came`; elements without a child
  kvo_path_node *inline_nodes[2 * FEW];
  kvo_object_count inline_came[FEW];
} application;

// MARK: Memory

static bool make_arrays(application *application) {
  const kvo_difference *difference = application->difference;
  size_t gone = difference->gone_count, came = difference->came_count;
  bool are_few = gone <= FEW && came <= FEW;
  application->gone =
      are_few ? application->inline_nodes : kvo_alloc((gone + came) * sizeof *application->gone);
  application->came =
      are_few ? application->inline_came : kvo_alloc(came * sizeof(kvo_object_count) + 1);
  if (!application->gone || !application->came) return false;
  application->staying = application->gone + gone;
  memset(application->gone, 0, (gone + came) * sizeof *application->gone);
  application->came_count = kvo_count_objects(application->came, difference->came, came);
  return true;
}

static void free_arrays(application *application) {
  if (application->gone != application->inline_nodes) kvo_free(application->gone);
  if (application->came != application->inline_came) kvo_free(application->came);
}

// MARK: Finding children

static kvo_path_node *child_in(kvo_registration *entry, const kvo_path_node *parent) {
  kvo_path_node *node = entry && entry->state == KVO_LIVE ? kvo_path_node_of(entry) : NULL;
  return node && node->parent == parent ? node : NULL;
}

// An element may be in many collections. Then not all of its observers are searched, and it counts as an element
// without a child. If it is added, it gets a second child until all elements are read again. If it is removed, they
// are read again.
enum { MOST_OBSERVERS = 32 };

static kvo_path_node *child_among(kvo_observers observers, const kvo_path_node *parent) {
  if (!observers || kvo_observers_is_group_key(observers)) return NULL;
  if (!kvo_observers_is_list(observers))
    return child_in(kvo_observers_registration(observers), parent);
  const kvo_list *list = kvo_observers_list(observers);
  if (list->count > MOST_OBSERVERS) return NULL;
  kvo_path_node *found = NULL;
  for (uint32_t i = 0; !found && i < list->count; i++) found = child_in(list->items[i], parent);
  return found;
}

static kvo_path_node *find_child(const application *application, kvo_object *object,
    const kvo_class *cls) {
  uintptr_t id = kvo_class_key_id(cls, application->key);
  if (!id) return NULL;
  KVO_LOCKED_OBJECTS(object, NULL);
  return child_among(kvo_object_observers_locked(object, id), application->node);
}

// MARK: Applying

static bool is_current(const application *application) {
  const kvo_path_node *node = application->node;
  bool is_only_change = application->found || node->issued == application->ticket;
  return is_only_change && node->installed == application->since &&
         kvo_path_node_is_plain_locked(node) && kvo_path_node_misses_nothing_locked(node) &&
         !kvo_path_node_has_others_locked(node);
}

// An object that has died has no child any more.
static bool take_gone(application *application) {
  const kvo_difference *difference = application->difference;
  for (size_t i = 0; i < difference->gone_count; i++) {
    const kvo_element_reference *gone = &difference->gone[i];
    kvo_path_node *child = find_child(application, gone->object, gone->cls);
    if (!child) continue;
    if (!child->occurrences) return false;
    child->occurrences--;
    application->node->covered--;
    application->gone[i] = child;
  }
  return true;
}

// A set contains the added element once, even if it contained it before.
static bool add_to(const application *application, kvo_path_node *child, uint32_t count) {
  if (application->is_set) count = 0;
  else if (child->occurrences && !application->is_known) return false;
  child->occurrences += count;
  application->node->covered += count;
  return true;
}

static bool add_came(application *application) {
  for (size_t i = 0; i < application->came_count; i++) {
    kvo_object *object = (kvo_object *)application->came[i].object;
    uint32_t count = application->came[i].count;
    kvo_path_node *child = find_child(application, object, kvo_class_of(object));
    if (!child) application->inserted += count;
    else if (!add_to(application, child, count)) return false;
    application->staying[i] = child;
  }
  return true;
}

// Undoes the counting of `take_gone` and `add_came`, as far as they came: elements without a child were not counted.
static void node_delta_take_back(application *application) {
  for (size_t i = 0; !application->is_set && i < application->came_count; i++) {
    if (!application->staying[i]) continue;
    application->staying[i]->occurrences -= application->came[i].count;
    application->node->covered -= application->came[i].count;
  }
  for (size_t i = 0; i < application->difference->gone_count; i++) {
    if (!application->gone[i]) continue;
    application->gone[i]->occurrences++;
    application->node->covered++;
  }
}

static void end_gone(const application *application) {
  for (size_t i = 0; i < application->difference->gone_count; i++) {
    kvo_path_node *child = application->gone[i];
    if (child && !child->occurrences && child->entry.state == KVO_LIVE)
      kvo_entry_end_locked(&child->entry, &application->worklist->retired);
  }
}

// Pushes tasks to place children at the added objects that have none. The others are marked as taken, so that they are
// passed over. The first task is processed first, so it is pushed last.
static void push_came(const application *application) {
  const kvo_difference *difference = application->difference;
  kvo_path_worklist *worklist = application->worklist;
  for (size_t i = 0; i < application->came_count; i++)
    if (application->staying[i]) application->came[i].object |= 1;
  for (size_t i = difference->came_count; i-- > 0;) {
    const kvo_object_count *one =
        kvo_object_count_take(application->came, application->came_count, difference->came[i]);
    if (!one) continue;
    kvo_registration_retain(&application->node->entry);
    worklist->tasks[worklist->count++] = (kvo_task){.kind = KVO_INSERT_NODE,
        .node = application->node,
        .object = kvo_object_retain(difference->came[i]),
        .ticket = application->ticket,
        .depth =
            application->node->observation->path->components[application->node->depth].next_key,
        .occurrences = one->count};
  }
}

// The list of elements that the node has followed gets those that have come instead of those that have gone.
static void update_followed_locked(kvo_path_node *node, const kvo_delta *delta) {
  const kvo_index_set *indexes = delta->named.indexes;
  bool is_one = kvo_index_set_range_count(indexes) == 1;
  if (!node->followed) return;
  if (is_one && kvo_followed_elements_replace(node->followed,
                    kvo_index_set_range(indexes, 0).location, &delta->difference))
    return;
  kvo_followed_elements_free(node->followed);
  node->followed = NULL;
}

// Applies the difference as a whole. True if there is nothing more to do: it has been applied, or the node has ended.
static bool node_delta_apply(application *application) {
  kvo_path_node *node = application->node;
  KVO_LOCKED(&kvo_graph_lock);
  if (node->entry.state != KVO_LIVE) return true;
  kvo_path_worklist_enter_locked(application->worklist);
  if (!is_current(application)) return false;
  bool adds_up = take_gone(application) && add_came(application) &&
                 node->covered + application->inserted == application->difference->total;
  if (!adds_up) {
    node_delta_take_back(application);
    return false;
  }
  node->installed = application->ticket;
  if (application->delta) update_followed_locked(node, application->delta);
  else kvo_swap_followed_locked(node, application->found);
  end_gone(application);
  push_came(application);
  if (application->found) kvo_difference_end(&node->followed->difference);
  return true;
}

static bool apply(application *application) {
  const kvo_path_node *node = application->node;
  const kvo_component *component = &node->observation->path->components[node->depth];
  application->key = kvo_key_find(node->observation->path->components[component->next_key].key);
  uint64_t shortages = kvo_shortages;
  bool is_done =
      application->key &&
      kvo_path_worklist_make_room(application->worklist, application->difference->came_count) &&
      make_arrays(application) && node_delta_apply(application);
  free_arrays(application);
  kvo_shortages = shortages; // the node is read again
  return is_done;
}

bool kvo_path_worklist_apply_delta(kvo_path_worklist *worklist, kvo_path_node *node,
    uint64_t ticket, const kvo_delta *delta) {
  application application = {.worklist = worklist,
      .node = node,
      .ticket = ticket,
      .since = ticket - 1,
      .is_set = !delta->named.indexes,
      .is_known = delta->is_known || delta->named.kind == KVO_REPLACEMENT,
      .difference = &delta->difference,
      .delta = delta};
  return apply(&application);
}

bool kvo_path_worklist_apply_difference(kvo_path_worklist *worklist, kvo_path_node *node,
    uint64_t ticket, kvo_targets *found) {
  application application = {.worklist = worklist,
      .node = node,
      .ticket = ticket,
      .since = found->followed->since,
      .is_known = true,
      .difference = &found->followed->difference,
      .found = found};
  return apply(&application);
}
