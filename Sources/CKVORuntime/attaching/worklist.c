// The stack of an attachment's tasks, so that a path or a chain of derived keys may be as long as memory allows.
// Tasks for which memory is out are dropped, and counted (kvo_shortages) for the caller to report.
#include "attaching/kvo_attachment.h"

#include "base/kvo_memory.h"

bool kvo_attachment_make_room(kvo_attachment *attachment, size_t more) {
  if (attachment->count + more <= attachment->capacity) return true;
  kvo_task *tasks = kvo_grow(attachment->tasks, attachment->count, attachment->count + more + 8,
      sizeof *tasks, &attachment->capacity);
  if (tasks) attachment->tasks = tasks;
  return tasks;
}

void kvo_attachment_push_resolution(kvo_attachment *attachment, kvo_link *link, bool thorough) {
  if (kvo_link_is_last(link) || !kvo_attachment_make_room(attachment, 1)) return;
  kvo_registration_hold(&link->entry);
  attachment->tasks[attachment->count++] =
      (kvo_task){.kind = KVO_RESOLVE_LINK, .link = link, .thorough = thorough};
}

void kvo_attachment_push_delta(kvo_attachment *attachment, kvo_link *link, uint64_t ticket,
    const kvo_delta *delta) {
  if (!kvo_attachment_make_room(attachment, 1)) return;
  kvo_registration_hold(&link->entry);
  attachment->tasks[attachment->count++] =
      (kvo_task){.kind = KVO_APPLY_DELTA, .link = link, .ticket = ticket, .delta = delta};
}

void kvo_attachment_push_track(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t again) {
  if (!kvo_attachment_make_room(attachment, 1)) return;
  attachment->tasks[attachment->count++] = (kvo_task){
      .kind = KVO_TRACK, .derivation = kvo_derivation_retain(derivation), .ticket = again};
}

void kvo_attachment_push_chains(kvo_attachment *attachment, kvo_derivation *derivation) {
  if (derivation->is_tracked) {
    kvo_attachment_push_track(attachment, derivation, 0);
    return;
  }
  if (!kvo_attachment_make_room(attachment, derivation->count)) return;
  for (uint32_t i = derivation->count; i-- > 0;) {
    kvo_chain_retain(derivation->chains[i]);
    kvo_object_retain(derivation->object);
    attachment->tasks[attachment->count++] = (kvo_task){
        .kind = KVO_ATTACH_CHAIN, .chain = derivation->chains[i], .object = derivation->object};
  }
}

void kvo_task_end(kvo_task *task) {
  if (task->chain) kvo_chain_release(task->chain);
  if (task->link) kvo_registration_let_go(&task->link->entry);
  if (task->object) kvo_object_release(task->object);
  if (task->derivation) kvo_derivation_release(task->derivation);
  *task = (kvo_task){0};
}

void kvo_attachment_settle(kvo_attachment *attachment) {
  if (attachment->has_placed) kvo_fence_setters();
  attachment->has_placed = false;
}
