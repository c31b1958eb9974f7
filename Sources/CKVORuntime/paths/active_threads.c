// Coordinates worklists of several threads at one path or dependent key (I3).
//
// A thread that follows a path may find nodes that another thread has placed and not yet followed. It must not return
// before these are followed, or it would miss values that it sets there next. So each worklist is counted at the path
// observation of a node, or the tracked key's dependent key, for which it was begun, and at each dependent key whose
// path observations it follows. It is counted from before it places anything until all of it is followed. A thread that
// finds another one counted there follows the existing nodes as well, which does no harm twice. A thread that finds no
// other knows that everything is followed to its end. This costs one read of the count, under the graph lock, which is
// held anyway.
//
// Nested worklists of one thread, which occur because a getter may begin another, count as one.
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "paths/kvo_path_worklist.h"
#include "threads/kvo_thread.h"

// MARK: Presence

static uint32_t this_thread(void) { return kvo_this_thread ? kvo_this_thread->number : 0; }

static void active_threads_enter_locked(kvo_active_threads *active) {
  bool is_first = !__atomic_fetch_add(&active->count, 1, __ATOMIC_RELAXED);
  if (is_first) active->thread = this_thread();
  else if (active->thread != this_thread()) active->thread = KVO_SEVERAL_THREADS;
}

// Keeps the count raised, so that the next thread completes the work that an exception left undone, as if another
// thread were still busy.
static void active_threads_keep_counted(kvo_active_threads *active) {
  KVO_LOCKED(&kvo_graph_lock);
  active->thread = KVO_SEVERAL_THREADS;
}

static void active_threads_leave(kvo_active_threads *active, bool is_torn) {
  if (is_torn) active_threads_keep_counted(active);
  else __atomic_fetch_sub(&active->count, 1, __ATOMIC_RELEASE);
}

bool kvo_active_threads_have_others_locked(const kvo_active_threads *active) {
  return __atomic_load_n(&active->count, __ATOMIC_ACQUIRE) && active->thread != this_thread();
}

bool kvo_path_node_has_others_locked(const kvo_path_node *node) {
  const kvo_path_observation *observation = node->observation;
  return kvo_active_threads_have_others_locked(&observation->followers) ||
         (observation->dependent_key &&
             kvo_active_threads_have_others_locked(&observation->dependent_key->active_threads));
}

void kvo_path_worklist_enter_locked(kvo_path_worklist *worklist) {
  if (!worklist->active_threads || worklist->is_counted_active) return;
  worklist->is_counted_active = true;
  active_threads_enter_locked(worklist->active_threads);
}

// MARK: Dependent keys

// Counts the worklist at a dependent key that another worklist has begun to attach. False if it has been counted there:
// each dependent key is followed once, because derived keys may depend on one another in a circle.
static bool take_on_foreign_locked(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key) {
  for (size_t i = 0; i < worklist->foreign_count; i++)
    if (worklist->foreign[i] == dependent_key) return false;
  if (worklist->foreign_count == worklist->foreign_capacity) {
    kvo_dependent_key **larger = kvo_grow(worklist->foreign, worklist->foreign_count,
        worklist->foreign_count + 4, sizeof *larger, &worklist->foreign_capacity);
    if (!larger) return false;
    worklist->foreign = larger;
  }
  active_threads_enter_locked(&dependent_key->active_threads);
  worklist->foreign[worklist->foreign_count++] = kvo_dependent_key_retain(dependent_key);
  return true;
}

// Makes the worklist the one that attaches the dependent key.
static bool take_on_own_locked(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key) {
  active_threads_enter_locked(&dependent_key->active_threads);
  dependent_key->state = KVO_BEING_ATTACHED;
  dependent_key->attached_by = worklist;
  dependent_key->next_own = worklist->own;
  worklist->own = kvo_dependent_key_retain(dependent_key);
  return true;
}

bool kvo_path_worklist_take_on(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key) {
  KVO_LOCKED(&kvo_graph_lock);
  switch (dependent_key->state) {
  case KVO_UNATTACHED: return take_on_own_locked(worklist, dependent_key);
  case KVO_BEING_ATTACHED:
    return dependent_key->attached_by != worklist &&
           take_on_foreign_locked(worklist, dependent_key);
  case KVO_ATTACHED: break;
  }
  bool has_others = kvo_active_threads_have_others_locked(&dependent_key->active_threads);
  return has_others && take_on_foreign_locked(worklist, dependent_key);
}

static kvo_dependent_key *take_own(kvo_path_worklist *worklist) {
  kvo_dependent_key *own = worklist->own;
  if (!own) return NULL;
  KVO_LOCKED(&kvo_graph_lock);
  worklist->own = own->next_own;
  own->state = KVO_ATTACHED;
  own->attached_by = NULL;
  return own;
}

static void leave_dependent_key(kvo_dependent_key *dependent_key, bool is_torn) {
  active_threads_leave(&dependent_key->active_threads, is_torn);
  kvo_dependent_key_release(dependent_key);
}

void kvo_path_worklist_leave(kvo_path_worklist *worklist, bool is_torn) {
  if (worklist->is_counted_active) active_threads_leave(worklist->active_threads, is_torn);
  for (kvo_dependent_key *own; (own = take_own(worklist));) leave_dependent_key(own, is_torn);
  for (size_t i = 0; i < worklist->foreign_count; i++)
    leave_dependent_key(worklist->foreign[i], is_torn);
  kvo_free(worklist->foreign);
}
