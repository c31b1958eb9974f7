// Wiring: following a key path from object to object, and moving along when a link changes.
//
// Where a link leads is found by reading its key (following.c). What is found may be derived, or
// lead on; that is put on a stack of tasks rather than recursed into, so that a path or a chain of
// derived keys may be as long as memory allows. The stack works off what a recursion would do, in
// its order: a key's derivation first, then what the key leads to. What another thread is still at is
// gone through once more by whoever needs it (sharing.c). A tracked key is read as well
// (tracking.c), and stands at what it read.
#include "kvo_wiring.h"

#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_thread.h"

static uint32_t first_key(const kvo_key_path *path) {
  return path->components[0].op == KVO_OP_NONE ? 0 : kvo_key_path_next_key(path, 0);
}

static kvo_link *make_link(kvo_chain *chain, uint32_t depth, const kvo_stand *stand) {
  kvo_link *link = kvo_alloc_zeroed(sizeof *link);
  if (!link) return NULL;
  link->entry = (kvo_registration){.references = 2, // its table's, and that of whoever makes it
      .options = KVO_LINKED,
      .thread = kvo_thread_number(),
      .reading = kvo_reading_of(stand->accessors),
      .object = stand->object};
  kvo_link_init(link, chain, depth);
  return link;
}

static void free_link(kvo_link *link) {
  kvo_registration_let_go(&link->entry);
  kvo_registration_let_go(&link->entry);
}

// MARK: Tasks

bool kvo_wiring_make_room(kvo_wiring *wiring, size_t more) {
  if (wiring->count + more <= wiring->capacity) return true;
  kvo_task *tasks = kvo_grow(wiring->tasks, wiring->count, wiring->count + more + 8, sizeof *tasks,
      &wiring->capacity);
  if (tasks) wiring->tasks = tasks;
  return tasks;
}

static void push_follow(kvo_wiring *wiring, kvo_link *link, bool thorough) {
  if (kvo_link_is_last(link) || !kvo_wiring_make_room(wiring, 1)) return;
  kvo_registration_hold(&link->entry);
  wiring->tasks[wiring->count++] =
      (kvo_task){.kind = KVO_FOLLOW_LINK, .link = link, .thorough = thorough};
}

static void push_track(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  if (!kvo_wiring_make_room(wiring, 1)) return;
  wiring->tasks[wiring->count++] = (kvo_task){
      .kind = KVO_TRACK, .derivation = kvo_derivation_retain(derivation), .ticket = again};
}

static void push_chains(kvo_wiring *wiring, kvo_derivation *derivation) {
  if (derivation->is_tracked) {
    push_track(wiring, derivation, 0);
    return;
  }
  if (!kvo_wiring_make_room(wiring, derivation->count)) return;
  for (uint32_t i = derivation->count; i-- > 0;) {
    kvo_chain_retain(derivation->chains[i]);
    kvo_object_retain(derivation->object);
    wiring->tasks[wiring->count++] = (kvo_task){
        .kind = KVO_WIRE_CHAIN, .chain = derivation->chains[i], .object = derivation->object};
  }
}

// What follows from standing at a key: pushed in the reverse of the order in which it is done. Ends
// the maker's reference.
static void push_consequences(kvo_wiring *wiring, kvo_link *link, kvo_stand *stand) {
  push_follow(wiring, link, true);
  if (stand->derivation && kvo_wiring_starts(wiring, stand->derivation))
    push_chains(wiring, stand->derivation);
  kvo_stand_settle(stand);
  kvo_registration_let_go(&link->entry);
}

// The derivation of the key where a link stands.
static kvo_derivation *derivation_at(const kvo_link *link) {
  KVO_LOCKED(&kvo_graph_lock);
  KVO_LOCKED_OBJECTS(link->entry.object, NULL);
  if (link->entry.state != KVO_LIVE) return NULL;
  kvo_derivation *derivation =
      kvo_observers_derivation(kvo_object_observers_locked(link->entry.object,
          kvo_registration_id(&link->entry)));
  return derivation ? kvo_derivation_retain(derivation) : NULL;
}

// Whoever has placed it may not have fenced yet.
static void ensure(kvo_wiring *wiring, kvo_link *link) {
  wiring->has_placed = true;
  push_follow(wiring, link, true);
  kvo_derivation *derivation = derivation_at(link);
  if (derivation && kvo_wiring_starts(wiring, derivation)) push_chains(wiring, derivation);
  kvo_derivation_release(derivation);
}

static void end_task(kvo_task *task) {
  if (task->chain) kvo_chain_release(task->chain);
  if (task->link) kvo_registration_let_go(&task->link->entry);
  if (task->object) kvo_object_release(task->object);
  kvo_derivation_release(task->derivation);
  *task = (kvo_task){0};
}

void kvo_wiring_settle(kvo_wiring *wiring) {
  if (wiring->has_placed) kvo_fence_setters();
  wiring->has_placed = false;
}

// MARK: Standing

void kvo_chain_report(kvo_chain *chain, const kvo_error *error) {
  if (__atomic_exchange_n(&chain->is_reported, true, __ATOMIC_RELAXED)) return;
  if (chain->derivation)
    kvo_misuse("\"%s\" of %s can't depend on \"%s\": %s", chain->accessors->key,
        chain->accessors->cls->name, chain->path->text, error->message);
  else
    kvo_misuse(error->status == KVO_TYPE_MISMATCH ? "\"%s\" of %s is told as nil: %s"
                                                  : "\"%s\" of %s can't be observed further: %s",
        chain->path->text, chain->accessors->cls->name, error->message);
}

static bool prepare(kvo_chain *chain, kvo_object *object, uint32_t depth, kvo_stand *stand) {
  kvo_error error;
  if (!kvo_stand_prepare(object, chain->path->components[depth].key, stand, &error)) return true;
  if (error.status != KVO_NO_MEMORY) kvo_chain_report(chain, &error);
  return false;
}

// A reading of the tracked key that begins from now on finds whatever is set after it.
static void note_placed_locked(kvo_chain *chain) {
  chain->placed_at = chain->derivation->issued;
  chain->derivation->placed++;
}

// Places a chain's first link, unless another thread has, or the chain has ended.
static bool place_first(kvo_wiring *wiring, kvo_chain *chain, kvo_link *link, kvo_stand *stand) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->ended || chain->first) return false;
  if (!kvo_registration_place(&link->entry, stand, &wiring->retired)) return false;
  wiring->has_placed = true;
  __atomic_store_n(&chain->first, link, __ATOMIC_SEQ_CST);
  if (chain->derivation && chain->derivation->is_tracked) note_placed_locked(chain);
  return true;
}

static kvo_link *hold_first(kvo_chain *chain) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->first) kvo_registration_hold(&chain->first->entry);
  return chain->first;
}

// False if there is none.
static bool ensure_first(kvo_wiring *wiring, kvo_chain *chain) {
  kvo_link *first = hold_first(chain);
  if (!first) return false;
  ensure(wiring, first);
  kvo_registration_let_go(&first->entry);
  return true;
}

static void note_void(kvo_chain *chain) {
  KVO_LOCKED(&kvo_graph_lock);
  chain->is_void = !chain->first;
}

static void wire_chain(kvo_wiring *wiring, kvo_chain *chain, kvo_object *root) {
  if (ensure_first(wiring, chain)) return;
  kvo_stand stand;
  uint32_t depth = first_key(chain->path);
  bool is_ready = depth < chain->path->count && prepare(chain, root, depth, &stand);
  kvo_link *link = is_ready ? make_link(chain, depth, &stand) : NULL;
  if (link && place_first(wiring, chain, link, &stand)) {
    push_consequences(wiring, link, &stand);
    return;
  }
  if (link) free_link(link);
  if (is_ready) kvo_stand_discard(&stand);
  if (!ensure_first(wiring, chain)) note_void(chain); // another thread's may not be done yet
}

bool kvo_wiring_is_superseded_locked(kvo_wiring *wiring, kvo_link *link, bool is_newer) {
  if (is_newer) push_follow(wiring, link, true);
  return is_newer;
}

static bool place_child(kvo_wiring *wiring, kvo_link *parent, uint64_t ticket, kvo_link *child,
    kvo_stand *stand) {
  KVO_LOCKED(&kvo_graph_lock);
  if (parent->entry.state != KVO_LIVE) return false;
  if (kvo_wiring_is_superseded_locked(wiring, parent, parent->installed != ticket)) return false;
  child->parent = parent; // before the entry can be seen: it tells whose it is
  if (!kvo_registration_place(&child->entry, stand, &wiring->retired)) return false;
  wiring->has_placed = true;
  kvo_link_add_child_locked(parent, child);
  return true;
}

static void stand_at(kvo_wiring *wiring, kvo_link *parent, uint64_t ticket, kvo_object *object) {
  kvo_stand stand;
  uint32_t depth = kvo_key_path_next_key(parent->chain->path, parent->depth);
  if (!prepare(parent->chain, object, depth, &stand)) return;
  kvo_link *child = make_link(parent->chain, depth, &stand);
  if (child && place_child(wiring, parent, ticket, child, &stand)) {
    push_consequences(wiring, child, &stand);
    return;
  }
  if (child) free_link(child);
  kvo_stand_discard(&stand);
}

// MARK: Tracking

static bool is_unwired(const kvo_chain *chain) { return !chain->first && !chain->ended; }

// Stood at since before it was last read, or to no avail. What has died since counts no more: a
// getter may make objects for itself.
static bool is_settled(const kvo_derivation *derivation, const kvo_chain *chain) {
  if (chain->ended) return true;
  return chain->first ? chain->placed_at < derivation->installed : chain->is_void;
}

static bool is_settled_locked(const kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++)
    if (!is_settled(derivation, derivation->chains[i])) return false;
  return true;
}

static bool needs_no_more(kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  return is_settled_locked(derivation);
}

static void push_wire(kvo_wiring *wiring, kvo_chain *chain) {
  if (!kvo_wiring_make_room(wiring, 1)) return;
  if (!chain->operations->try_retain(chain->root)) {
    chain->is_void = true;
    return;
  }
  kvo_chain_retain(chain);
  wiring->tasks[wiring->count++] =
      (kvo_task){.kind = KVO_WIRE_CHAIN, .chain = chain, .object = chain->root};
}

// Where there is no link yet: another thread may have got no further. Beside another thread all,
// since what it has placed it may not have wired.
static void push_unwired_locked(kvo_wiring *wiring, const kvo_derivation *derivation) {
  bool all = kvo_presence_has_others_locked(&derivation->wirers);
  for (uint32_t i = 0; i < derivation->count; i++)
    if (all || is_unwired(derivation->chains[i])) push_wire(wiring, derivation->chains[i]);
}

// What could not be stood at is tried once more after each change.
static bool may_place(const kvo_derivation *derivation, bool is_settled, uint64_t rounds) {
  if (!is_settled || rounds) return !is_settled;
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unwired(derivation->chains[i])) return true;
  return false;
}

enum { MOST_ROUNDS = 64, FEW_ROUNDS = 3 };

// What is set between being read and being stood at is seen by reading once more when all are in
// place, until there is nothing new. A getter that keeps an object which it makes each time would
// never come to that: so it is given up after many rounds in which no other thread was at it, and
// after few from then on. All that it read last is stood at all the same, and the next change of
// any of it begins anew.
static bool go_on_locked(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t rounds) {
  bool is_alone = derivation->issued == derivation->installed;
  uint64_t next = is_alone ? rounds + 1 : 1;
  bool is_settled = is_settled_locked(derivation);
  bool gives_up = !is_settled && next > (derivation->is_restless ? FEW_ROUNDS : MOST_ROUNDS);
  if (is_settled || gives_up) derivation->is_restless = gives_up;
  if (is_settled) kvo_wiring_keep_sequence_locked(wiring, derivation);
  if (!gives_up && may_place(derivation, is_settled, rounds)) push_track(wiring, derivation, next);
  push_unwired_locked(wiring, derivation);
  return gives_up;
}

static void go_on(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t rounds) {
  bool gives_up;
  {
    KVO_LOCKED(&kvo_graph_lock);
    gives_up = go_on_locked(wiring, derivation, rounds);
  }
  if (gives_up) kvo_report_restless(derivation->accessors);
}

static void track(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t rounds) {
  if (rounds && needs_no_more(derivation)) return;
  if (kvo_wiring_track(wiring, derivation)) go_on(wiring, derivation, rounds);
  kvo_reads_destroy(&wiring->reads);
}

static void run_task(kvo_wiring *wiring, const kvo_task *task) {
  switch (task->kind) {
  case KVO_WIRE_CHAIN: wire_chain(wiring, task->chain, task->object); break;
  case KVO_FOLLOW_LINK: kvo_wiring_follow(wiring, task->link, task->thorough); break;
  case KVO_ENSURE_LINK: ensure(wiring, task->link); break;
  case KVO_STAND: stand_at(wiring, task->link, task->ticket, task->object); break;
  case KVO_TRACK: track(wiring, task->derivation, task->ticket); break;
  }
}

static void run_tasks(void *opaque) {
  kvo_wiring *wiring = opaque;
  wiring->is_running = true;
  while (wiring->count) {
    wiring->current = wiring->tasks[--wiring->count];
    run_task(wiring, &wiring->current);
    end_task(&wiring->current);
  }
  wiring->is_running = false;
}

// Also where a getter or hook throws.
static void end_wiring(void *opaque) {
  kvo_wiring *wiring = opaque;
  bool is_torn = wiring->is_running;
  end_task(&wiring->current);
  while (wiring->count) end_task(&wiring->tasks[--wiring->count]);
  kvo_free(wiring->tasks);
  kvo_reads_destroy(&wiring->reads);
  kvo_wiring_leave(wiring, is_torn);
  kvo_retire(wiring->retired);
}

static void work_off(kvo_wiring *wiring) {
  kvo_unwinding(run_tasks, end_wiring, wiring);
  end_wiring(wiring);
}

void kvo_wire(kvo_link *first, kvo_derivation *derivation) {
  kvo_wiring wiring = {.has_placed = true, .presence = first ? &first->chain->followers : NULL};
  if (first) push_follow(&wiring, first, false);
  if (derivation && kvo_wiring_starts(&wiring, derivation)) push_chains(&wiring, derivation);
  kvo_derivation_release(derivation);
  work_off(&wiring);
}

void kvo_link_follow(kvo_link *link) {
  kvo_wiring wiring = {.presence = &link->chain->followers};
  push_follow(&wiring, link, false);
  work_off(&wiring);
  kvo_wiring_settle(&wiring);
}

void kvo_derivation_follow(kvo_derivation *derivation, kvo_answer *answer) {
  kvo_wiring wiring = {.presence = &derivation->wirers, .answer = answer};
  push_track(&wiring, derivation, 0);
  work_off(&wiring);
  kvo_wiring_settle(&wiring);
}
