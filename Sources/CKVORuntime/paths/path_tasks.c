// Attaching: follows a key path from object to object, and moves its nodes when a node changes (F3, G1, G2).
//
// Reading a node's key shows where the node leads (node_resolution.c). The key found there may be derived, and the path
// may continue. Both become tasks on a stack instead of recursive calls, so that a path or a path observation of
// derived keys may be as long as memory allows. The tasks run in the order of a recursion: first a key's dependent key,
// then the objects that the key leads to. If another thread is still attaching, a thread that needs the result does the
// same work again (active_threads.c). Tracked keys are read as well (tracking.c), and have nodes at every property that
// they read.
#include "paths/kvo_path_worklist.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "threads/kvo_thread.h"

static kvo_path_node *make_node(const kvo_path_worklist *worklist,
    kvo_path_observation *observation, uint32_t depth, const kvo_prepared_registration *prepared) {
  kvo_path_node *node = kvo_alloc(sizeof *node);
  if (!node) return NULL;
  *node = (kvo_path_node){.entry = {.references = 2, // for the observer table and the creator
                              .options = KVO_PATH_NODE,
                              .thread = kvo_thread_number(),
                              .tagged_accessors = kvo_tag_accessors(prepared->accessors),
                              .object = prepared->object}};
  node->is_led = worklist->is_following;
  kvo_path_node_init(node, observation, depth);
  return node;
}

static void free_node(kvo_path_node *node) {
  kvo_registration_release(&node->entry);
  kvo_registration_release(&node->entry);
}

// Pushes the tasks that follow from placing a node, in the reverse of their order. Releases the creator's reference.
static void push_consequences(kvo_path_worklist *worklist, kvo_path_node *node,
    kvo_prepared_registration *prepared) {
  kvo_path_worklist_push_resolution(worklist, node, true);
  if (prepared->dependent_key && kvo_path_worklist_take_on(worklist, prepared->dependent_key))
    kvo_path_worklist_push_path_observations(worklist, prepared->dependent_key);
  kvo_prepared_registration_finish(prepared);
  kvo_registration_release(&node->entry);
}

// The dependent key of the key at which a node is placed.
static kvo_dependent_key *dependent_key_at(const kvo_path_node *node) {
  KVO_LOCKED(&kvo_graph_lock);
  KVO_LOCKED_OBJECTS(node->entry.object, NULL);
  if (node->entry.state != KVO_LIVE) return NULL;
  kvo_dependent_key *dependent_key =
      kvo_observers_dependent_key(kvo_object_observers_locked(node->entry.object,
          kvo_registration_id(&node->entry)));
  return dependent_key ? kvo_dependent_key_retain(dependent_key) : NULL;
}

// Pushes the tasks to attach a dependent key, if this worklist has to. Releases the reference to it.
static void push_dependent_key(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key) {
  if (kvo_path_worklist_take_on(worklist, dependent_key))
    kvo_path_worklist_push_path_observations(worklist, dependent_key);
  kvo_dependent_key_release(dependent_key);
}

// Pushes the tasks to follow a node that exists already, with the dependent key of its key. The thread that placed the
// node may not have fenced yet, so this one does.
static void follow_existing(kvo_path_worklist *worklist, kvo_path_node *node) {
  worklist->has_inserted = true;
  kvo_path_worklist_push_resolution(worklist, node, true);
  kvo_dependent_key *dependent_key = dependent_key_at(node);
  if (dependent_key) push_dependent_key(worklist, dependent_key);
}

// MARK: Placing

// Whether the path of a dependency is one key that its class does not have. The object may announce changes of such a
// key manually. The key may also be misspelt, so there is a hint, given here or, for a class of a binding, by the
// binding.
static bool can_only_be_announced(const kvo_path_observation *observation, uint32_t depth,
    const kvo_error *error) {
  const kvo_component *component = &observation->path->components[depth];
  bool is_own = depth == observation->path->first_key;
  bool is_last = component->next_key == observation->path->count && !component->operates;
  return observation->dependent_key && is_own && is_last && error->status == KVO_UNDEFINED_KEY;
}

static void hint_at_announced(const kvo_path_observation *observation, const kvo_error *error) {
  if (!kvo_wants_hints() || kvo_class_of(observation->root)->is_bound) return;
  kvo_hint("\"%s\" of %s depends on \"%s\", which only manual changes can change: %s",
      observation->dependent_key->accessors->key, kvo_class_of(observation->root)->name,
      observation->path->text, error->message);
}

static bool path_task_prepare(kvo_path_observation *observation, kvo_object *object, uint32_t depth,
    kvo_prepared_registration *prepared) {
  kvo_error error;
  const char *key = observation->path->components[depth].key;
  if (!kvo_registration_prepare(object, key, prepared, &error)) return true;
  if (can_only_be_announced(observation, depth, &error)) {
    hint_at_announced(observation, &error);
    if (!kvo_registration_prepare_manual(object, key, prepared, &error)) return true;
  }
  if (error.status != KVO_NO_MEMORY) kvo_path_observation_report(observation, &error);
  return false;
}

// Records when the node was placed: a reading of the tracked key that begins from now on sees whatever is set later.
static void note_inserted_locked(kvo_path_observation *observation) {
  observation->inserted_at = observation->dependent_key->issued;
  observation->dependent_key->insertions++;
}

// Places a path observation's first node, unless another thread has placed one or the path observation has ended.
static bool insert_first(kvo_path_worklist *worklist, kvo_path_observation *observation,
    kvo_path_node *node, kvo_prepared_registration *prepared) {
  KVO_LOCKED(&kvo_graph_lock);
  if (observation->ended || observation->first) return false;
  if (!kvo_entry_insert(&node->entry, prepared, &worklist->retired)) return false;
  worklist->has_inserted = true;
  __atomic_store_n(&observation->first, node, __ATOMIC_SEQ_CST);
  if (observation->dependent_key && observation->dependent_key->is_tracked)
    note_inserted_locked(observation);
  return true;
}

static kvo_path_node *hold_first(kvo_path_observation *observation) {
  KVO_LOCKED(&kvo_graph_lock);
  if (observation->first) kvo_registration_retain(&observation->first->entry);
  return observation->first;
}

// Follows the path observation's first node. False if there is none.
static bool follow_existing_first(kvo_path_worklist *worklist, kvo_path_observation *observation) {
  kvo_path_node *first = hold_first(observation);
  if (!first) return false;
  follow_existing(worklist, first);
  kvo_registration_release(&first->entry);
  return true;
}

// Notes that the node could not be placed, unless another thread has done so: tracking does not wait for it.
static void note_unplaced(kvo_path_observation *observation) {
  KVO_LOCKED(&kvo_graph_lock);
  observation->is_void = !observation->first;
}

static void attach_path(kvo_path_worklist *worklist, kvo_path_observation *observation,
    kvo_object *root) {
  if (follow_existing_first(worklist, observation)) return;
  kvo_prepared_registration prepared;
  uint32_t depth = observation->path->first_key;
  bool is_ready =
      depth < observation->path->count && path_task_prepare(observation, root, depth, &prepared);
  kvo_path_node *node = is_ready ? make_node(worklist, observation, depth, &prepared) : NULL;
  if (node && insert_first(worklist, observation, node, &prepared)) {
    push_consequences(worklist, node, &prepared);
    return;
  }
  if (node) free_node(node);
  if (is_ready) kvo_prepared_registration_discard(&prepared);
  // Another thread may not have finished placing it.
  if (!follow_existing_first(worklist, observation)) note_unplaced(observation);
}

// Whether the node can be found by the object's class and the key (node_delta.c).
static bool is_found_by_key(const kvo_prepared_registration *prepared) {
  const kvo_accessors *accessors = prepared->accessors;
  return kvo_class_key_id(kvo_class_of(prepared->object), accessors->key) == accessors->id;
}

// Places a child. If another thread has read the parent later, and may not have finished, this thread reads it again
// itself, so that nothing is missed when it returns.
static bool insert_child(kvo_path_worklist *worklist, kvo_path_node *parent, uint64_t ticket,
    kvo_path_node *child, kvo_prepared_registration *prepared) {
  KVO_LOCKED(&kvo_graph_lock);
  if (parent->entry.state != KVO_LIVE) return false;
  if (parent->installed != ticket) {
    kvo_path_worklist_push_resolution(worklist, parent, true);
    return false;
  }
  child->parent = parent; // before the entry is visible: it shows what the entry serves
  if (!kvo_entry_insert(&child->entry, prepared, &worklist->retired)) return false;
  worklist->has_inserted = true;
  kvo_path_node_add_child_locked(parent, child);
  if (!is_found_by_key(prepared)) kvo_path_node_set_plain_locked(parent, false);
  return true;
}

// Places a node at an object to which its parent was found to lead.
static void place_child(kvo_path_worklist *worklist, const kvo_task *task) {
  kvo_prepared_registration prepared;
  kvo_path_node *parent = task->node;
  if (!path_task_prepare(parent->observation, task->object, task->depth, &prepared)) return;
  kvo_path_node *child = make_node(worklist, parent->observation, task->depth, &prepared);
  if (child) child->occurrences = task->occurrences;
  if (child && insert_child(worklist, parent, task->ticket, child, &prepared)) {
    push_consequences(worklist, child, &prepared);
    return;
  }
  if (child) free_node(child);
  kvo_prepared_registration_discard(&prepared);
}

static void run_task(kvo_path_worklist *worklist, const kvo_task *task) {
  switch (task->kind) {
  case KVO_ATTACH_PATH: attach_path(worklist, task->observation, task->object); break;
  case KVO_RESOLVE_NODE:
    kvo_path_worklist_resolve_node(worklist, task->node, task->is_recursive);
    break;
  case KVO_FOLLOW_NODE: follow_existing(worklist, task->node); break;
  case KVO_APPLY_DELTA:
    if (!kvo_path_worklist_apply_delta(worklist, task->node, task->ticket, task->delta))
      kvo_path_worklist_push_resolution(worklist, task->node, false);
    break;
  case KVO_INSERT_NODE: place_child(worklist, task); break;
  case KVO_TRACK:
    kvo_path_worklist_track_until_settled(worklist, task->dependent_key, task->ticket);
    break;
  }
}

static void run_tasks(void *opaque) {
  kvo_path_worklist *worklist = opaque;
  worklist->is_running = true;
  while (worklist->count) {
    worklist->current = worklist->tasks[--worklist->count];
    run_task(worklist, &worklist->current);
    kvo_task_end(&worklist->current);
  }
  worklist->is_running = false;
}

// Also runs if a getter or hook throws.
static void end_worklist(void *opaque) {
  kvo_path_worklist *worklist = opaque;
  bool is_torn = worklist->is_running;
  if (is_torn) kvo_targets_destroy(&worklist->found);
  kvo_task_end(&worklist->current);
  while (worklist->count) kvo_task_end(&worklist->tasks[--worklist->count]);
  kvo_free(worklist->tasks);
  if (is_torn) kvo_reads_destroy(&worklist->reads);
  kvo_path_worklist_leave(worklist, is_torn);
  kvo_retire(worklist->retired);
}

static void run_worklist(kvo_path_worklist *worklist) {
  kvo_unwinding(run_tasks, end_worklist, worklist);
  end_worklist(worklist);
}

void kvo_path_attach(kvo_path_node *first, kvo_dependent_key *dependent_key) {
  kvo_path_worklist worklist = {
      .has_inserted = true, .active_threads = first ? &first->observation->followers : NULL};
  if (first) kvo_path_worklist_push_resolution(&worklist, first, false);
  if (dependent_key) push_dependent_key(&worklist, dependent_key);
  run_worklist(&worklist);
}

void kvo_path_node_follow(kvo_path_node *node) {
  kvo_path_worklist worklist = {
      .active_threads = &node->observation->followers, .is_following = true};
  kvo_path_worklist_push_resolution(&worklist, node, false);
  run_worklist(&worklist);
  kvo_path_worklist_fence(&worklist);
}

void kvo_path_node_follow_delta(kvo_path_node *node, uint64_t ticket, const kvo_delta *delta) {
  kvo_path_worklist worklist = {
      .active_threads = &node->observation->followers, .is_following = true};
  kvo_path_worklist_push_delta(&worklist, node, ticket, delta);
  run_worklist(&worklist);
  kvo_path_worklist_fence(&worklist);
}

void kvo_dependent_key_follow(kvo_dependent_key *dependent_key, kvo_read_result *result) {
  kvo_path_worklist worklist = {
      .active_threads = &dependent_key->active_threads, .is_following = true, .result = result};
  kvo_path_worklist_push_track(&worklist, dependent_key, 0);
  run_worklist(&worklist);
  kvo_path_worklist_fence(&worklist);
}
