// Tracks a key until a reading finds nothing new. A value may change after it is read and before it has a node, which
// another reading detects.
#include "paths/kvo_path_worklist.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"

static bool is_unattached(const kvo_path_observation *observation) {
  return !observation->first && !observation->ended;
}

// Whether the path observation's node was placed before the last reading, or can't be placed. A path observation that
// has ended does not count, because a getter may make objects for its own use.
static bool is_observation_settled(const kvo_dependent_key *dependent_key,
    const kvo_path_observation *observation) {
  if (observation->ended) return true;
  return observation->first ? observation->inserted_at < dependent_key->installed
                            : observation->is_void;
}

static bool is_settled_locked(const kvo_dependent_key *dependent_key) {
  for (uint32_t i = 0; i < dependent_key->count; i++)
    if (!is_observation_settled(dependent_key, dependent_key->path_observations[i])) return false;
  return true;
}

static bool is_settled_now(kvo_dependent_key *dependent_key) {
  KVO_LOCKED(&kvo_graph_lock);
  return is_settled_locked(dependent_key);
}

static void push_attachment(kvo_path_worklist *worklist, kvo_path_observation *observation) {
  if (!kvo_path_worklist_make_room(worklist, 1)) return;
  if (!observation->operations->try_retain(observation->root)) {
    observation->is_void = true;
    return;
  }
  kvo_path_observation_retain(observation);
  worklist->tasks[worklist->count++] =
      (kvo_task){.kind = KVO_ATTACH_PATH, .observation = observation, .object = observation->root};
}

// Pushes tasks for the path observations without a node, because another thread may not have got further. If another
// thread is working on the dependent key, pushes all path observations, because that thread may not have attached what
// it placed.
static void push_unattached_locked(kvo_path_worklist *worklist,
    const kvo_dependent_key *dependent_key) {
  bool all = kvo_active_threads_have_others_locked(&dependent_key->active_threads);
  for (uint32_t i = 0; i < dependent_key->count; i++)
    if (all || is_unattached(dependent_key->path_observations[i]))
      push_attachment(worklist, dependent_key->path_observations[i]);
}

// Whether the key is to be read again. If it is settled, that is so at the beginning of a change only (no rounds yet),
// and if a path observation could not be placed: this is tried again after each change.
static bool needs_another_round(const kvo_dependent_key *dependent_key, bool is_settled,
    uint64_t rounds) {
  if (!is_settled) return true;
  if (rounds) return false;
  for (uint32_t i = 0; i < dependent_key->count; i++)
    if (is_unattached(dependent_key->path_observations[i])) return true;
  return false;
}

enum { MOST_ROUNDS = 64, FEW_ROUNDS = 3 };

// Pushes the tasks of the next round, if there is to be one. Returns whether tracking gives up instead: a getter that
// creates and keeps a new object on every call would never settle. Tracking gives up after 64 rounds in which no other
// thread was involved, and after 3 on later changes. Even then everything that was read last has nodes, and the next
// change of any of it begins anew.
static bool decide_next_round_locked(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    uint64_t rounds) {
  bool is_alone = dependent_key->issued == dependent_key->installed;
  uint64_t next = is_alone ? rounds + 1 : 1;
  bool is_settled = is_settled_locked(dependent_key);
  bool gives_up = !is_settled && next > (dependent_key->never_settles ? FEW_ROUNDS : MOST_ROUNDS);
  if (is_settled || gives_up) dependent_key->never_settles = gives_up;
  if (is_settled) kvo_path_worklist_keep_sequence_locked(worklist, dependent_key);
  if (!gives_up && needs_another_round(dependent_key, is_settled, rounds))
    kvo_path_worklist_push_track(worklist, dependent_key, next);
  push_unattached_locked(worklist, dependent_key);
  return gives_up;
}

// Reported once per key.
static void report_unsettled(const kvo_accessors *accessors) {
  bool *is_reported = (bool *)(uintptr_t)&accessors->never_settles;
  if (__atomic_exchange_n(is_reported, true, __ATOMIC_RELAXED)) return;
  kvo_misuse(
      "\"%s\" of %s reads different properties on each read: a value that another thread sets "
      "during the search may only be reported with the next change.",
      accessors->key, accessors->cls->name);
}

static void begin_next_round(kvo_path_worklist *worklist, kvo_dependent_key *dependent_key,
    uint64_t rounds) {
  bool gives_up;
  {
    KVO_LOCKED(&kvo_graph_lock);
    gives_up = decide_next_round_locked(worklist, dependent_key, rounds);
  }
  if (gives_up) report_unsettled(dependent_key->accessors);
}

void kvo_path_worklist_track_until_settled(kvo_path_worklist *worklist,
    kvo_dependent_key *dependent_key, uint64_t rounds) {
  if (rounds && is_settled_now(dependent_key)) return;
  if (kvo_path_worklist_track(worklist, dependent_key))
    begin_next_round(worklist, dependent_key, rounds);
  kvo_reads_destroy(&worklist->reads);
}
