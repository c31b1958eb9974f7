/// The work of following key paths: a stack of tasks, each of which may bring others. wiring.c
/// works it off, following.c follows single links.
#ifndef KVO_WIRING_H
#define KVO_WIRING_H

#include "kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_task {
  enum { KVO_WIRE_CHAIN, KVO_FOLLOW_LINK, KVO_ENSURE_LINK, KVO_STAND, KVO_TRACK } kind;
  bool thorough;                   ///< what stands further along already is gone through as well
  kvo_chain *KVO_NULLABLE chain;   ///< to be wired; a reference
  kvo_link *KVO_NULLABLE link;     ///< to be followed, or the parent of what is to stand; held
  kvo_object *KVO_NULLABLE object; ///< the chain's root, or where to stand; a reference
  kvo_derivation *KVO_NULLABLE derivation; ///< to be tracked; a reference
  uint64_t ticket; ///< by which it was found where to stand; how often it was tracked so far
} kvo_task;

typedef struct kvo_wiring {
  kvo_task *KVO_NULLABLE tasks;
  size_t count, capacity;
  kvo_task current;
  kvo_reads reads;                 ///< of the key that is being tracked
  uint64_t ticket;                 ///< of its reading
  kvo_answer *KVO_NULLABLE answer; ///< where what it answers is to go
  kvo_retired *KVO_NULLABLE retired;
  kvo_derivation
      *KVO_NULLABLE own; ///< those that this one has begun to wire, by `next_own`; references
  /// Those that another thread is at, gone through here; references.
  kvo_derivation *KVO_NONNULL *KVO_NULLABLE foreign;
  size_t foreign_count, foreign_capacity;
  bool has_placed; ///< something that a change under way on another thread may not have found
  bool is_present; ///< `presence` counts it
  bool is_running; ///< not all of its tasks are done
  kvo_presence *KVO_NULLABLE presence; ///< at what it was begun for
} kvo_wiring;

/// Room for so many tasks more. False if memory is out.
bool kvo_wiring_make_room(kvo_wiring *wiring, size_t more);
/// To be called before something is read: what was stored by changes that did not find what has been
/// placed here is seen from now on (I3).
void kvo_wiring_settle(kvo_wiring *wiring);
/// Reads where a link leads, ends what stands elsewhere, and pushes what is to stand there. Calls a
/// getter: no lock held.
void kvo_wiring_follow(kvo_wiring *wiring, kvo_link *link, bool thorough);
/// Reads a tracked key and replaces its derivation's chains: there is one for each read then, of
/// this reading or of one that began later; those without a link are to be wired. Calls the getter:
/// no lock held. False if there is nothing more to do: the same was read as last time, the derivation has
/// ended, or memory is out.
bool kvo_wiring_track(kvo_wiring *wiring, kvo_derivation *derivation);
/// Keeps the order of what was read for the next reading, where all of it is stood at. The derivation is
/// settled; graph lock held.
void kvo_wiring_keep_sequence_locked(kvo_wiring *wiring, kvo_derivation *derivation);

/// Counts the wiring among those that are at what it was begun for, before it places anything.
void kvo_wiring_enter_locked(kvo_wiring *wiring);
/// Ends that, and what it has begun to wire. `is_torn`: an exception has left something undone.
void kvo_wiring_leave(kvo_wiring *wiring, bool is_torn);
/// Whether the derivation's chains are to be gone through here: nobody else has done so, or another
/// thread is still at it.
bool kvo_wiring_starts(kvo_wiring *wiring, kvo_derivation *derivation);
/// Whether another thread may have placed what it has not yet followed. Graph lock held.
bool kvo_presence_has_others_locked(const kvo_presence *presence);
bool kvo_link_has_others_locked(const kvo_link *link);

/// Another thread read the link later, but may not be done yet: so this one follows it once more
/// itself, and nothing is missed once it returns. Graph lock held.
bool kvo_wiring_is_superseded_locked(kvo_wiring *wiring, kvo_link *link, bool is_newer);
/// What can't be followed is told to the developer, once for each chain; the path counts as broken
/// there.
void kvo_chain_report(kvo_chain *chain, const kvo_error *error);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
