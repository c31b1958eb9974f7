// What several threads are at, at the same time.
//
// Who follows a path may find what another thread has placed there and not yet followed. He must
// not return before that is followed as well, or he would miss what he sets there next. So each
// wiring is counted at what it was begun for, the chain of a link or a tracked key's derivation, and
// at each derivation whose chains it goes through, from before it places anything until all of it is
// followed. Who finds another thread counted there goes through what stands there already (it does
// no harm twice); who finds none knows that all of it is followed to its end. That costs a look at
// the count, under the graph lock that is held anyway.
//
// Several wirings of one thread, whose getters lead on to others, are one.
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_thread.h"
#include "kvo_wiring.h"

// MARK: Presence

static uint32_t this_thread(void) { return kvo_this_thread ? kvo_this_thread->number : 0; }

static void enter_locked(kvo_presence *presence) {
  bool is_first = !__atomic_fetch_add(&presence->count, 1, __ATOMIC_RELAXED);
  if (is_first) presence->thread = this_thread();
  else if (presence->thread != this_thread()) presence->thread = KVO_SEVERAL_THREADS;
}

// What an exception has left undone is gone through by whoever comes, as if somebody were still at
// it.
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
         (chain->derivation && kvo_presence_has_others_locked(&chain->derivation->wirers));
}

void kvo_wiring_enter_locked(kvo_wiring *wiring) {
  if (!wiring->presence || wiring->is_present) return;
  wiring->is_present = true;
  enter_locked(wiring->presence);
}

// MARK: Derivations

// Once for each, since derived keys may depend on one another in a circle.
static bool joins_locked(kvo_wiring *wiring, kvo_derivation *derivation) {
  for (size_t i = 0; i < wiring->foreign_count; i++)
    if (wiring->foreign[i] == derivation) return false;
  if (wiring->foreign_count == wiring->foreign_capacity) {
    kvo_derivation **larger = kvo_grow(wiring->foreign, wiring->foreign_count,
        wiring->foreign_count + 4, sizeof *larger, &wiring->foreign_capacity);
    if (!larger) return false;
    wiring->foreign = larger;
  }
  enter_locked(&derivation->wirers);
  wiring->foreign[wiring->foreign_count++] = kvo_derivation_retain(derivation);
  return true;
}

static bool takes_locked(kvo_wiring *wiring, kvo_derivation *derivation) {
  enter_locked(&derivation->wirers);
  derivation->state = KVO_BEING_WIRED;
  derivation->wirer = wiring;
  derivation->next_own = wiring->own;
  wiring->own = kvo_derivation_retain(derivation);
  return true;
}

bool kvo_wiring_starts(kvo_wiring *wiring, kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  switch (derivation->state) {
  case KVO_UNWIRED: return takes_locked(wiring, derivation);
  case KVO_BEING_WIRED: return derivation->wirer != wiring && joins_locked(wiring, derivation);
  case KVO_WIRED: break;
  }
  bool has_others = kvo_presence_has_others_locked(&derivation->wirers);
  return has_others && joins_locked(wiring, derivation);
}

static kvo_derivation *take_own(kvo_wiring *wiring) {
  kvo_derivation *own = wiring->own;
  if (!own) return NULL;
  KVO_LOCKED(&kvo_graph_lock);
  wiring->own = own->next_own;
  own->state = KVO_WIRED;
  own->wirer = NULL;
  return own;
}

static void leave_derivation(kvo_derivation *derivation, bool is_torn) {
  leave(&derivation->wirers, is_torn);
  kvo_derivation_release(derivation);
}

void kvo_wiring_leave(kvo_wiring *wiring, bool is_torn) {
  if (wiring->is_present) leave(wiring->presence, is_torn);
  for (kvo_derivation *own; (own = take_own(wiring));) leave_derivation(own, is_torn);
  for (size_t i = 0; i < wiring->foreign_count; i++) leave_derivation(wiring->foreign[i], is_torn);
  kvo_free(wiring->foreign);
}
