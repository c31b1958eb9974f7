// Coordinates attachments of several threads at one path or derivation (I3).
//
// A thread that follows a path may find links that another thread has placed and not yet followed. It must not return
// before these are followed, or it would miss values that it sets there next. So each attachment is counted at the
// chain of a link, or the tracked key's derivation, for which it was begun, and at each derivation whose chains it
// follows. It is counted from before it places anything until all of it is followed. A thread that finds another one
// counted there follows the existing links as well, which does no harm twice. A thread that finds no other knows that
// everything is followed to its end. This costs one read of the count, under the graph lock, which is held anyway.
//
// Nested attachments of one thread, which occur because a getter may begin another, count as one.
#include "attaching/kvo_attachment.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "threads/kvo_thread.h"

// MARK: Presence

static uint32_t this_thread(void) { return kvo_this_thread ? kvo_this_thread->number : 0; }

static void enter_locked(kvo_presence *presence) {
  bool is_first = !__atomic_fetch_add(&presence->count, 1, __ATOMIC_RELAXED);
  if (is_first) presence->thread = this_thread();
  else if (presence->thread != this_thread()) presence->thread = KVO_SEVERAL_THREADS;
}

// Keeps the count raised, so that the next thread completes the work that an exception left undone, as if another
// thread were still busy.
static void stay(kvo_presence *presence) {
  KVO_LOCKED(&kvo_graph_lock);
  presence->thread = KVO_SEVERAL_THREADS;
}

static void leave(kvo_presence *presence, bool is_torn) {
  if (is_torn) stay(presence);
  else __atomic_fetch_sub(&presence->count, 1, __ATOMIC_RELEASE);
}

bool kvo_presence_has_others_locked(const kvo_presence *presence) {
  return __atomic_load_n(&presence->count, __ATOMIC_ACQUIRE) && presence->thread != this_thread();
}

bool kvo_link_has_others_locked(const kvo_link *link) {
  const kvo_chain *chain = link->chain;
  return kvo_presence_has_others_locked(&chain->followers) ||
         (chain->derivation && kvo_presence_has_others_locked(&chain->derivation->attachers));
}

void kvo_attachment_enter_locked(kvo_attachment *attachment) {
  if (!attachment->presence || attachment->is_present) return;
  attachment->is_present = true;
  enter_locked(attachment->presence);
}

// MARK: Derivations

// Each derivation is followed once, because derived keys may depend on one another in a circle.
static bool joins_locked(kvo_attachment *attachment, kvo_derivation *derivation) {
  for (size_t i = 0; i < attachment->foreign_count; i++)
    if (attachment->foreign[i] == derivation) return false;
  if (attachment->foreign_count == attachment->foreign_capacity) {
    kvo_derivation **larger = kvo_grow(attachment->foreign, attachment->foreign_count,
        attachment->foreign_count + 4, sizeof *larger, &attachment->foreign_capacity);
    if (!larger) return false;
    attachment->foreign = larger;
  }
  enter_locked(&derivation->attachers);
  attachment->foreign[attachment->foreign_count++] = kvo_derivation_retain(derivation);
  return true;
}

static bool takes_locked(kvo_attachment *attachment, kvo_derivation *derivation) {
  enter_locked(&derivation->attachers);
  derivation->state = KVO_BEING_ATTACHED;
  derivation->attacher = attachment;
  derivation->next_own = attachment->own;
  attachment->own = kvo_derivation_retain(derivation);
  return true;
}

bool kvo_attachment_starts(kvo_attachment *attachment, kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  switch (derivation->state) {
  case KVO_UNATTACHED: return takes_locked(attachment, derivation);
  case KVO_BEING_ATTACHED:
    return derivation->attacher != attachment && joins_locked(attachment, derivation);
  case KVO_ATTACHED: break;
  }
  bool has_others = kvo_presence_has_others_locked(&derivation->attachers);
  return has_others && joins_locked(attachment, derivation);
}

static kvo_derivation *take_own(kvo_attachment *attachment) {
  kvo_derivation *own = attachment->own;
  if (!own) return NULL;
  KVO_LOCKED(&kvo_graph_lock);
  attachment->own = own->next_own;
  own->state = KVO_ATTACHED;
  own->attacher = NULL;
  return own;
}

static void leave_derivation(kvo_derivation *derivation, bool is_torn) {
  leave(&derivation->attachers, is_torn);
  kvo_derivation_release(derivation);
}

void kvo_attachment_leave(kvo_attachment *attachment, bool is_torn) {
  if (attachment->is_present) leave(attachment->presence, is_torn);
  for (kvo_derivation *own; (own = take_own(attachment));) leave_derivation(own, is_torn);
  for (size_t i = 0; i < attachment->foreign_count; i++)
    leave_derivation(attachment->foreign[i], is_torn);
  kvo_free(attachment->foreign);
}
