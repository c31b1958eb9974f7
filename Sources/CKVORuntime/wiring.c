// Wiring: following a key path from object to object, and moving along when a link changes.
//
// Where a link leads is found by reading its key (following.c). What is found may be derived, or
// lead on; that is put on a stack of tasks rather than recursed into, so that a path or a chain of
// derived keys may be as long as memory allows. The stack works off what a recursion would do, in
// its order: a key's derivation first, then what the key leads to. A derivation that another thread
// is still wiring is gone through once more by whoever needs it. A tracked key is read as well
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
      .object = stand->object,
      .id = stand->accessors->id,
      .key_path = chain->path->text};
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

// Whoever comes upon a derivation that another thread is wiring goes through all of it as well, so
// that no change is missed once he returns: it does no harm twice. Once for each, since derived
// keys may depend on one another in a circle.
static bool goes_through_foreign_locked(kvo_wiring *wiring, kvo_derivation *derivation) {
  for (size_t i = 0; i < wiring->foreign_count; i++)
    if (wiring->foreign[i] == derivation) return false;
  if (wiring->foreign_count == wiring->foreign_capacity) {
    kvo_derivation **larger = kvo_grow(wiring->foreign, wiring->foreign_count,
        wiring->foreign_count + 4, sizeof *larger, &wiring->foreign_capacity);
    if (!larger) return false;
    wiring->foreign = larger;
  }
  wiring->foreign[wiring->foreign_count++] = kvo_derivation_retain(derivation);
  return true;
}

static bool starts_wiring(kvo_wiring *wiring, kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->state == KVO_WIRED || derivation->wirer == wiring) return false;
  if (derivation->state == KVO_BEING_WIRED) return goes_through_foreign_locked(wiring, derivation);
  derivation->state = KVO_BEING_WIRED;
  derivation->wirer = wiring;
  derivation->next_own = wiring->own;
  wiring->own = kvo_derivation_retain(derivation);
  return true;
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
  if (stand->derivation && starts_wiring(wiring, stand->derivation))
    push_chains(wiring, stand->derivation);
  kvo_stand_settle(stand);
  kvo_registration_let_go(&link->entry);
}

// The derivation of the key where a link stands.
static kvo_derivation *derivation_at(const kvo_link *link) {
  KVO_LOCKED(&kvo_graph_lock);
  KVO_LOCKED_OBJECTS(link->entry.object, NULL);
  kvo_table *table = link->entry.state == KVO_LIVE ? link->entry.object->observations : NULL;
  kvo_cell *cell = table ? kvo_table_find(table, link->entry.id) : NULL;
  return cell && cell->derivation ? kvo_derivation_retain(cell->derivation) : NULL;
}

// Whoever has placed it may not have fenced yet.
static void ensure(kvo_wiring *wiring, kvo_link *link) {
  wiring->has_placed = true;
  push_follow(wiring, link, true);
  kvo_derivation *derivation = derivation_at(link);
  if (derivation && starts_wiring(wiring, derivation)) push_chains(wiring, derivation);
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
    kvo_misuse("\"%s\" of %s can't be observed further: %s", chain->path->text,
        chain->accessors->cls->name, error->message);
}

static bool prepare(kvo_chain *chain, kvo_object *object, uint32_t depth, kvo_stand *stand) {
  kvo_error error;
  if (!kvo_stand_prepare(object, chain->path->components[depth].key, stand, &error)) return true;
  if (error.status != KVO_NO_MEMORY) kvo_chain_report(chain, &error);
  return false;
}

// Places a chain's first link, unless another thread has, or the chain has ended.
static bool place_first(kvo_wiring *wiring, kvo_chain *chain, kvo_link *link, kvo_stand *stand) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->ended || chain->first) return false;
  if (!kvo_registration_place(&link->entry, stand, &wiring->retired)) return false;
  wiring->has_placed = true;
  chain->first = link;
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

static void wire_chain(kvo_wiring *wiring, kvo_chain *chain, kvo_object *root) {
  if (ensure_first(wiring, chain)) return;
  kvo_stand stand;
  uint32_t depth = first_key(chain->path);
  if (depth == chain->path->count || !prepare(chain, root, depth, &stand)) return;
  kvo_link *link = make_link(chain, depth, &stand);
  if (link && place_first(wiring, chain, link, &stand)) {
    push_consequences(wiring, link, &stand);
    return;
  }
  if (link) free_link(link);
  kvo_stand_discard(&stand);
  if (link) ensure_first(wiring, chain); // another thread's, which may not be done yet
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

static bool has_unwired(const kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unwired(derivation->chains[i])) return true;
  return false;
}

static void push_wire(kvo_wiring *wiring, kvo_chain *chain) {
  if (!kvo_wiring_make_room(wiring, 1) || !chain->operations->try_retain(chain->root)) return;
  kvo_chain_retain(chain);
  wiring->tasks[wiring->count++] =
      (kvo_task){.kind = KVO_WIRE_CHAIN, .chain = chain, .object = chain->root};
}

enum { MOST_AGAIN = 3 };

// Where there is no link yet: another thread may have got no further. What is set between being
// read and being stood at is seen by reading once more, when all are in place; several times only
// where other threads keep setting.
static void push_unwired(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  KVO_LOCKED(&kvo_graph_lock);
  if (!has_unwired(derivation)) return;
  if (again < MOST_AGAIN) push_track(wiring, derivation, again + 1);
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unwired(derivation->chains[i])) push_wire(wiring, derivation->chains[i]);
}

// Not for objects that the getter made for itself, and that have died since.
static bool has_new_links(const kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  bool found = false;
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *chain = derivation->chains[i];
    found = found || (chain->is_new && chain->first);
    chain->is_new = false;
  }
  return found;
}

static void track(kvo_wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  if (again && !has_new_links(derivation)) return;
  kvo_wiring_settle(wiring);
  kvo_tracked result = kvo_derivation_track(derivation, &wiring->reads, &wiring->retired);
  if (result == KVO_TRACKED) push_unwired(wiring, derivation, again);
  else if (result == KVO_TRACKED_LATE) push_track(wiring, derivation, again);
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
  while (wiring->count) {
    wiring->current = wiring->tasks[--wiring->count];
    run_task(wiring, &wiring->current);
    end_task(&wiring->current);
  }
}

static kvo_derivation *take_own(kvo_wiring *wiring) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_derivation *own = wiring->own;
  if (!own) return NULL;
  wiring->own = own->next_own;
  own->state = KVO_WIRED;
  own->wirer = NULL;
  return own;
}

static void end_derivations(kvo_wiring *wiring) {
  for (kvo_derivation *own; (own = take_own(wiring));) kvo_derivation_release(own);
  for (size_t i = 0; i < wiring->foreign_count; i++) kvo_derivation_release(wiring->foreign[i]);
  kvo_free(wiring->foreign);
}

// Also where a getter or hook throws.
static void end_wiring(void *opaque) {
  kvo_wiring *wiring = opaque;
  end_task(&wiring->current);
  while (wiring->count) end_task(&wiring->tasks[--wiring->count]);
  kvo_free(wiring->tasks);
  kvo_reads_destroy(&wiring->reads);
  end_derivations(wiring);
  kvo_retire(wiring->retired);
}

static void work_off(kvo_wiring *wiring) {
  kvo_unwinding(run_tasks, end_wiring, wiring);
  end_wiring(wiring);
}

void kvo_wire(kvo_link *first, kvo_derivation *derivation) {
  kvo_wiring wiring = {.has_placed = true};
  if (first) push_follow(&wiring, first, false);
  if (derivation && starts_wiring(&wiring, derivation)) push_chains(&wiring, derivation);
  kvo_derivation_release(derivation);
  work_off(&wiring);
}

void kvo_link_follow(kvo_link *link) {
  kvo_wiring wiring = {0};
  push_follow(&wiring, link, false);
  work_off(&wiring);
  kvo_wiring_settle(&wiring);
}

void kvo_derivation_follow(kvo_derivation *derivation) {
  kvo_wiring wiring = {0};
  push_track(&wiring, derivation, 0);
  work_off(&wiring);
  kvo_wiring_settle(&wiring);
}
