// Tracking until nothing new is found: a value may change after it is read and before there is a link at it, which
// is seen by reading once more.
#include "attaching/kvo_attachment.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"

static bool is_unattached(const kvo_chain *chain) { return !chain->first && !chain->ended; }

// Whether there was a link before the last reading, or none can be placed. What has died since counts no
// more: a getter may make objects for itself.
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

// Pushes the chains without a link, since another thread may have got no further. Where another thread is
// at it, pushes all: it may not have attached what it has placed.
static void push_unattached_locked(kvo_attachment *attachment, const kvo_derivation *derivation) {
  bool all = kvo_presence_has_others_locked(&derivation->attachers);
  for (uint32_t i = 0; i < derivation->count; i++)
    if (all || is_unattached(derivation->chains[i]))
      push_attachment(attachment, derivation->chains[i]);
}

// A chain that could not be placed is tried once more after each change.
static bool may_place(const kvo_derivation *derivation, bool is_settled, uint64_t rounds) {
  if (!is_settled || rounds) return !is_settled;
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unattached(derivation->chains[i])) return true;
  return false;
}

enum { MOST_ROUNDS = 64, FEW_ROUNDS = 3 };

// A value may change after it is read and before there is a link at it, so the key is read once more when all
// links are in place, until there is nothing new. A getter that makes an object each time and keeps it would
// never come to that: it is given up after many rounds in which no other thread was at it, and
// after few from then on. There are links at all that it read last all the same, and the next change of
// any of it begins anew.
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

// It is reported once for each key.
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
