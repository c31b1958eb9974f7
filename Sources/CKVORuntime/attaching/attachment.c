// Attaching: follows a key path from object to object, and moves its links when a link changes (F3, G1, G2).
//
// Reading a link's key shows where the link leads (link_resolution.c). The key found there may be derived, and the
// path may continue. Both become tasks on a stack instead of recursive calls, so that a path or a chain of derived
// keys may be as long as memory allows. The tasks run in the order of a recursion: first a key's derivation, then the
// objects that the key leads to. If another thread is still attaching, a thread that needs the result does the same
// work again (sharing.c). Tracked keys are read as well (tracking.c), and have links at every property that they
// read.
#include "attaching/kvo_attachment.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "threads/kvo_thread.h"

static kvo_link *make_link(kvo_chain *chain, uint32_t depth, const kvo_placement *placement) {
  kvo_link *link = kvo_alloc(sizeof *link);
  if (!link) return NULL;
  *link = (kvo_link){.entry = {.references = 2, // for the observer table and the creator
                         .options = KVO_LINKED,
                         .thread = kvo_thread_number(),
                         .reading = kvo_reading_of(placement->accessors),
                         .object = placement->object}};
  kvo_link_init(link, chain, depth);
  return link;
}

static void free_link(kvo_link *link) {
  kvo_registration_let_go(&link->entry);
  kvo_registration_let_go(&link->entry);
}

// Pushes the tasks that follow from placing a link, in the reverse of their order. Releases the creator's reference.
static void push_consequences(kvo_attachment *attachment, kvo_link *link,
    kvo_placement *placement) {
  kvo_attachment_push_resolution(attachment, link, true);
  if (placement->derivation && kvo_attachment_starts(attachment, placement->derivation))
    kvo_attachment_push_chains(attachment, placement->derivation);
  kvo_placement_settle(placement);
  kvo_registration_let_go(&link->entry);
}

// The derivation of the key at which a link is placed.
static kvo_derivation *derivation_at(const kvo_link *link) {
  KVO_LOCKED(&kvo_graph_lock);
  KVO_LOCKED_OBJECTS(link->entry.object, NULL);
  if (link->entry.state != KVO_LIVE) return NULL;
  kvo_derivation *derivation =
      kvo_observers_derivation(kvo_object_observers_locked(link->entry.object,
          kvo_registration_id(&link->entry)));
  return derivation ? kvo_derivation_retain(derivation) : NULL;
}

// Takes over the reference.
static void push_derivation(kvo_attachment *attachment, kvo_derivation *derivation) {
  if (kvo_attachment_starts(attachment, derivation))
    kvo_attachment_push_chains(attachment, derivation);
  kvo_derivation_release(derivation);
}

// Follows a link that exists already. The thread that placed it may not have fenced yet, so this one does.
static void ensure(kvo_attachment *attachment, kvo_link *link) {
  attachment->has_placed = true;
  kvo_attachment_push_resolution(attachment, link, true);
  kvo_derivation *derivation = derivation_at(link);
  if (derivation) push_derivation(attachment, derivation);
}

// MARK: Placing

// A key may depend on one that the object announces by hand and its class does not have. Such a key may be
// misspelled, so this is a hint, given here or, for a class of a binding, by the binding.
static bool is_by_hand(const kvo_chain *chain, uint32_t depth, const kvo_error *error) {
  const kvo_component *component = &chain->path->components[depth];
  bool is_own = depth == chain->path->first_key;
  bool is_last = component->next_key == chain->path->count && !component->operates;
  return chain->derivation && is_own && is_last && error->status == KVO_UNDEFINED_KEY;
}

static void hint_by_hand(const kvo_chain *chain, const kvo_error *error) {
  if (!kvo_wants_hints() || kvo_class_of(chain->root)->is_bound) return;
  kvo_hint("\"%s\" of %s depends on \"%s\", which only changes by hand can change: %s",
      chain->derivation->accessors->key, kvo_class_of(chain->root)->name, chain->path->text,
      error->message);
}

static bool prepare(kvo_chain *chain, kvo_object *object, uint32_t depth,
    kvo_placement *placement) {
  kvo_error error;
  const char *key = chain->path->components[depth].key;
  if (!kvo_placement_prepare(object, key, placement, &error)) return true;
  if (is_by_hand(chain, depth, &error)) {
    hint_by_hand(chain, &error);
    if (!kvo_placement_prepare_by_hand(object, key, placement, &error)) return true;
  }
  if (error.status != KVO_NO_MEMORY) kvo_chain_report(chain, &error);
  return false;
}

// Records when the link was placed: a reading of the tracked key that begins from now on sees whatever is set later.
static void note_placed_locked(kvo_chain *chain) {
  chain->placed_at = chain->derivation->issued;
  chain->derivation->placed++;
}

// Places a chain's first link, unless another thread has placed one or the chain has ended.
static bool place_first(kvo_attachment *attachment, kvo_chain *chain, kvo_link *link,
    kvo_placement *placement) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->ended || chain->first) return false;
  if (!kvo_registration_place(&link->entry, placement, &attachment->retired)) return false;
  attachment->has_placed = true;
  __atomic_store_n(&chain->first, link, __ATOMIC_SEQ_CST);
  if (chain->derivation && chain->derivation->is_tracked) note_placed_locked(chain);
  return true;
}

static kvo_link *hold_first(kvo_chain *chain) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->first) kvo_registration_hold(&chain->first->entry);
  return chain->first;
}

// Follows the chain's first link. False if there is none.
static bool ensure_first(kvo_attachment *attachment, kvo_chain *chain) {
  kvo_link *first = hold_first(chain);
  if (!first) return false;
  ensure(attachment, first);
  kvo_registration_let_go(&first->entry);
  return true;
}

static void note_void(kvo_chain *chain) {
  KVO_LOCKED(&kvo_graph_lock);
  chain->is_void = !chain->first;
}

static void attach_chain(kvo_attachment *attachment, kvo_chain *chain, kvo_object *root) {
  if (ensure_first(attachment, chain)) return;
  kvo_placement placement;
  uint32_t depth = chain->path->first_key;
  bool is_ready = depth < chain->path->count && prepare(chain, root, depth, &placement);
  kvo_link *link = is_ready ? make_link(chain, depth, &placement) : NULL;
  if (link && place_first(attachment, chain, link, &placement)) {
    push_consequences(attachment, link, &placement);
    return;
  }
  if (link) free_link(link);
  if (is_ready) kvo_placement_discard(&placement);
  // Another thread may not have finished placing it.
  if (!ensure_first(attachment, chain)) note_void(chain);
}

// Whether the link can be found by the object's class and the key (link_delta.c).
static bool is_found_by_key(const kvo_placement *placement) {
  const kvo_accessors *accessors = placement->accessors;
  return kvo_class_key_id(kvo_class_of(placement->object), accessors->key) == accessors->id;
}

// Places a child. If another thread has read the parent later, and may not have finished, this thread reads it again
// itself, so that nothing is missed when it returns.
static bool place_child(kvo_attachment *attachment, kvo_link *parent, uint64_t ticket,
    kvo_link *child, kvo_placement *placement) {
  KVO_LOCKED(&kvo_graph_lock);
  if (parent->entry.state != KVO_LIVE) return false;
  if (parent->installed != ticket) {
    kvo_attachment_push_resolution(attachment, parent, true);
    return false;
  }
  child->parent = parent; // before the entry is visible: it shows what the entry serves
  if (!kvo_registration_place(&child->entry, placement, &attachment->retired)) return false;
  attachment->has_placed = true;
  kvo_link_add_child_locked(parent, child);
  if (!is_found_by_key(placement)) parent->is_plain = false;
  return true;
}

static void place_at(kvo_attachment *attachment, const kvo_task *task) {
  kvo_placement placement;
  kvo_link *parent = task->link;
  if (!prepare(parent->chain, task->object, task->depth, &placement)) return;
  kvo_link *child = make_link(parent->chain, task->depth, &placement);
  if (child) child->occurrences = task->occurrences;
  if (child && place_child(attachment, parent, task->ticket, child, &placement)) {
    push_consequences(attachment, child, &placement);
    return;
  }
  if (child) free_link(child);
  kvo_placement_discard(&placement);
}

static void run_task(kvo_attachment *attachment, const kvo_task *task) {
  switch (task->kind) {
  case KVO_ATTACH_CHAIN: attach_chain(attachment, task->chain, task->object); break;
  case KVO_RESOLVE_LINK: kvo_attachment_resolve_link(attachment, task->link, task->thorough); break;
  case KVO_ENSURE_LINK: ensure(attachment, task->link); break;
  case KVO_APPLY_DELTA:
    if (!kvo_attachment_apply_delta(attachment, task->link, task->ticket, task->delta))
      kvo_attachment_push_resolution(attachment, task->link, false);
    break;
  case KVO_PLACE_LINK: place_at(attachment, task); break;
  case KVO_TRACK:
    kvo_attachment_track_until_settled(attachment, task->derivation, task->ticket);
    break;
  }
}

static void run_tasks(void *opaque) {
  kvo_attachment *attachment = opaque;
  attachment->is_running = true;
  while (attachment->count) {
    attachment->current = attachment->tasks[--attachment->count];
    run_task(attachment, &attachment->current);
    kvo_task_end(&attachment->current);
  }
  attachment->is_running = false;
}

// Also runs if a getter or hook throws.
static void end_attachment(void *opaque) {
  kvo_attachment *attachment = opaque;
  bool is_torn = attachment->is_running;
  kvo_task_end(&attachment->current);
  while (attachment->count) kvo_task_end(&attachment->tasks[--attachment->count]);
  kvo_free(attachment->tasks);
  if (is_torn) kvo_reads_destroy(&attachment->reads);
  kvo_attachment_leave(attachment, is_torn);
  kvo_retire(attachment->retired);
}

static void work_off(kvo_attachment *attachment) {
  kvo_unwinding(run_tasks, end_attachment, attachment);
  end_attachment(attachment);
}

void kvo_attach(kvo_link *first, kvo_derivation *derivation) {
  kvo_attachment attachment = {
      .has_placed = true, .presence = first ? &first->chain->followers : NULL};
  if (first) kvo_attachment_push_resolution(&attachment, first, false);
  if (derivation) push_derivation(&attachment, derivation);
  work_off(&attachment);
}

void kvo_link_follow(kvo_link *link) {
  kvo_attachment attachment = {.presence = &link->chain->followers};
  kvo_attachment_push_resolution(&attachment, link, false);
  work_off(&attachment);
  kvo_attachment_settle(&attachment);
}

void kvo_link_follow_delta(kvo_link *link, uint64_t ticket, const kvo_delta *delta) {
  kvo_attachment attachment = {.presence = &link->chain->followers};
  kvo_attachment_push_delta(&attachment, link, ticket, delta);
  work_off(&attachment);
  kvo_attachment_settle(&attachment);
}

void kvo_derivation_follow(kvo_derivation *derivation, kvo_answer *answer) {
  kvo_attachment attachment = {.presence = &derivation->attachers, .answer = answer};
  kvo_attachment_push_track(&attachment, derivation, 0);
  work_off(&attachment);
  kvo_attachment_settle(&attachment);
}
