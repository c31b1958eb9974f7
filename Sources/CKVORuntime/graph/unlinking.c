// Removes ended entries from the graph, with whatever was there only for them.
//
// The links that have been removed from their chains are in a list, which is worked off one by one instead of
// recursively. So the structure below them may have any depth: links further along, and derivations of keys that only
// those links observed.
#include "graph/kvo_graph.h"

static void unlink_child_locked(kvo_link *child) {
  if (!child->slot) return;
  *child->slot = child->next;
  if (child->next) child->next->slot = child->slot;
  else child->parent->last_child = child->slot;
  child->parent->covered -= child->occurrences;
  child->slot = NULL;
  child->next = NULL;
}

// Adds a link to the list of those to be ended, which is linked by `next`.
static void add_doomed(kvo_link **doomed, kvo_link *link) {
  unlink_child_locked(link);
  link->next = *doomed;
  *doomed = link;
}

// Clears the first link before it is retired, so that a thread that protects its object from now on does not find it.
static void set_first(kvo_chain *chain, kvo_link *first) {
  __atomic_store_n(&chain->first, first, __ATOMIC_SEQ_CST);
}

static void add_chains(kvo_link **doomed, kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *chain = derivation->chains[i];
    if (chain->first) add_doomed(doomed, chain->first);
    set_first(chain, NULL);
  }
  kvo_derivation_release(derivation);
}

// Ends a derivation if nothing but its own dependents may still watch it. Derived keys may depend on one another in a
// circle, which must not keep itself alive.
static void end_unless_needed(kvo_link **doomed, kvo_derivation *derivation) {
  if (!kvo_derivation_is_needed_locked(derivation) && kvo_derivation_leave_locked(derivation))
    add_chains(doomed, derivation);
}

static void end_entry(kvo_link **doomed, kvo_registration *entry, kvo_retired **retired) {
  kvo_aftermath aftermath = {0};
  kvo_registration_take_out(entry, &aftermath, retired);
  if (aftermath.orphan) add_chains(doomed, aftermath.orphan);
  if (aftermath.suspect) end_unless_needed(doomed, aftermath.suspect);
}

static void end_all_locked(kvo_link *doomed, kvo_retired **retired) {
  while (doomed) {
    kvo_link *link = doomed;
    doomed = link->next;
    link->next = NULL;
    while (link->children) add_doomed(&doomed, link->children);
    end_entry(&doomed, &link->entry, retired);
  }
}

static void end_chain_of(kvo_link *first) {
  set_first(first->chain, NULL);
  first->chain->ended = true;
}

void kvo_entry_end_locked(kvo_registration *entry, kvo_retired **retired) {
  kvo_link *doomed = NULL, *link = kvo_link_of(entry);
  if (link && link->chain->first == link) end_chain_of(link);
  if (link) add_doomed(&doomed, link);
  else end_entry(&doomed, entry, retired);
  end_all_locked(doomed, retired);
}

void kvo_derivation_end_locked(kvo_derivation *derivation, kvo_retired **retired) {
  kvo_link *doomed = NULL;
  add_chains(&doomed, derivation);
  end_all_locked(doomed, retired);
}
