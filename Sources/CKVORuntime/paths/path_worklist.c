// The stack of a worklist's tasks, so that a path or a path observation of derived keys may be as long as memory
// allows. Tasks for which there is no memory are dropped, and counted (kvo_shortages) for the caller to report.
#include "paths/kvo_path_worklist.h"

#include "base/kvo_memory.h"

bool kvo_path_worklist_make_room(kvo_path_worklist *worklist, size_t more) {
  if (worklist->count + more <= worklist->capacity) return true;
  kvo_task *tasks = kvo_grow(worklist->tasks, worklist->count, worklist->count + more + 8,
      sizeof *tasks, &worklist->capacity);
  if (tasks) worklist->tasks = tasks;
  return tasks;
}

void kvo_path_worklist_push_resolution(kvo_path_worklist *worklist, kvo_path_node *node,
    bool is_recursive) {
  if (kvo_path_node_is_last(node) || !kvo_path_worklist_make_room(worklist, 1)) return;
  kvo_registration_retain(&node->entry);
  worklist->tasks[worklist->count++] =
      (kvo_task){.kind = KVO_RESOLVE_NODE, .node = node, .is_recursive = is_recursive};
}

void kvo_path_worklist_push_delta(kvo_path_worklist *worklist, kvo_path_node *node, uint64_t ticket,
    const kvo_delta *delta) {
  if (!kvo_path_worklist_make_room(worklist, 1)) return;
  kvo_registration_retain(&node->entry);
  worklist->tasks[worklist->count++] =
      (kvo_task){.kind = KVO_APPLY_DELTA, .node = node, .ticket = ticket, .delta = delta};
}

void kvo_path_worklist_push_track(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    uint64_t again) {
  if (!kvo_path_worklist_make_room(worklist, 1)) return;
  worklist->tasks[worklist->count++] = (kvo_task){
      .kind = KVO_TRACK, .dependent_key = kvo_dependent_key_retain(dependent_key), .ticket = again};
}

void kvo_path_worklist_push_path_observations(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key) {
  if (dependent_key->is_tracked) {
    kvo_path_worklist_push_track(worklist, dependent_key, 0);
    return;
  }
  if (!kvo_path_worklist_make_room(worklist, dependent_key->count)) return;
  for (uint32_t i = dependent_key->count; i-- > 0;) {
    // Another thread may have begun to destroy the object, which ends its path observations.
    if (!dependent_key->operations->try_retain(dependent_key->object)) return;
    kvo_path_observation_retain(dependent_key->path_observations[i]);
    worklist->tasks[worklist->count++] = (kvo_task){.kind = KVO_ATTACH_PATH,
        .observation = dependent_key->path_observations[i],
        .object = dependent_key->object};
  }
}

void kvo_task_end(kvo_task *task) {
  if (task->observation) kvo_path_observation_release(task->observation);
  if (task->node) kvo_registration_release(&task->node->entry);
  if (task->object) kvo_object_release(task->object);
  if (task->dependent_key) kvo_dependent_key_release(task->dependent_key);
  *task = (kvo_task){0};
}

void kvo_path_worklist_fence(kvo_path_worklist *worklist) {
  if (worklist->has_inserted) kvo_fence_setters();
  worklist->has_inserted = false;
}
