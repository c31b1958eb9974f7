// Tracks a key until a reading finds nothing new. A value may change after it is read and before it has a link, which
// another reading detects.
#include "attaching/kvo_attachment.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"

static bool is_unattached(const kvo_chain *chain) { return !chain->first && !chain->ended; }

// Whether the chain's link was placed before the last reading, or can't be placed. A chain that has ended does not
// count, because a getter may make objects for its own use.
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

static void push_attachment(kvo_attachment *attachment, kvo_chain *chain) {
  if (!kvo_attachment_make_room(attachment, 1)) return;
  if (!chain->operations->try_retain(chain->root)) {
    chain->is_void = true;
    return;
  }
  kvo_chain_retain(chain);
  attachment->tasks[attachment->count++] =
      (kvo_task){.kind = KVO_ATTACH_CHAIN, .chain = chain, .object = chain->root};
}

// Pushes tasks for the chains without a link, because another thread may not have got further. If another thread is
// working on the derivation, pushes all chains, because that thread may not have attached what it placed.
static void push_unattached_locked(kvo_attachment *attachment, const kvo_derivation *derivation) {
  bool all = kvo_presence_has_others_locked(&derivation->attachers);
  for (uint32_t i = 0; i < derivation->count; i++)
    if (all || is_unattached(derivation->chains[i]))
      push_attachment(attachment, derivation->chains[i]);
}

// A chain that could not be placed is tried again after each change.
static bool may_place(const kvo_derivation *derivation, bool is_settled, uint64_t rounds) {
  if (!is_settled || rounds) return !is_settled;
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unattached(derivation->chains[i])) return true;
  return false;
}

enum { MOST_ROUNDS = 64, FEW_ROUNDS = 3 };

// A value may change after it is read and before it has a link. So the key is read again when all links are in place,
// until nothing is new. A getter that creates and keeps a new object on every call would never settle. Tracking gives
// up after 64 rounds in which no other thread was involved, and after 3 on later changes. Even then everything that
// was read last has links, and the next change of any of it begins anew.
static bool go_on_locked(kvo_attachment *attachment, kvo_derivation *derivation, uint64_t rounds) {
  bool is_alone = derivation->issued == derivation->installed;
  uint64_t next = is_alone ? rounds + 1 : 1;
  bool is_settled = is_settled_locked(derivation);
  bool gives_up = !is_settled && next > (derivation->is_restless ? FEW_ROUNDS : MOST_ROUNDS);
  if (is_settled || gives_up) derivation->is_restless = gives_up;
  if (is_settled) kvo_attachment_keep_sequence_locked(attachment, derivation);
  if (!gives_up && may_place(derivation, is_settled, rounds))
    kvo_attachment_push_track(attachment, derivation, next);
  push_unattached_locked(attachment, derivation);
  return gives_up;
}

// Reported once per key.
static void report_restless(const kvo_accessors *accessors) {
  bool *is_reported = (bool *)(uintptr_t)&accessors->is_restless;
  if (__atomic_exchange_n(is_reported, true, __ATOMIC_RELAXED)) return;
  kvo_misuse(
      "\"%s\" of %s reads other properties each time that it is read: what another thread sets "
      "while they are looked for may be told with the next change only.",
      accessors->key, accessors->cls->name);
}

static void go_on(kvo_attachment *attachment, kvo_derivation *derivation, uint64_t rounds) {
  bool gives_up;
  {
    KVO_LOCKED(&kvo_graph_lock);
    gives_up = go_on_locked(attachment, derivation, rounds);
  }
  if (gives_up) report_restless(derivation->accessors);
}

void kvo_attachment_track_until_settled(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t rounds) {
  if (rounds && needs_no_more(derivation)) return;
  if (kvo_attachment_track(attachment, derivation)) go_on(attachment, derivation, rounds);
  kvo_reads_destroy(&attachment->reads);
}
