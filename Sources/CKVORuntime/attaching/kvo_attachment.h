/// The work of following key paths: a stack of tasks, each of which may bring others. worklist.c
/// holds it, attachment.c works it off, link_resolution.c follows single links.
#ifndef KVO_ATTACHMENT_H
#define KVO_ATTACHMENT_H

#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_task {
  enum { KVO_ATTACH_CHAIN, KVO_RESOLVE_LINK, KVO_ENSURE_LINK, KVO_PLACE_LINK, KVO_TRACK } kind;
  bool thorough;                   ///< links further along are gone through as well
  kvo_chain *KVO_NULLABLE chain;   ///< to be attached; a reference
  kvo_link *KVO_NULLABLE link;     ///< to be followed, or the parent of the one to be placed; held
  kvo_object *KVO_NULLABLE object; ///< the chain's root, or where to place a link; a reference
  kvo_derivation *KVO_NULLABLE derivation; ///< to be tracked; a reference
  uint32_t depth;                          ///< of the link to be placed
  uint64_t ticket; ///< of the reading that found `object`; how often it was tracked so far
} kvo_task;

typedef struct kvo_attachment {
  kvo_task *KVO_NULLABLE tasks;
  size_t count, capacity;
  kvo_task current;
  kvo_reads reads;                 ///< of the key that is being tracked
  uint64_t ticket;                 ///< of its reading
  kvo_answer *KVO_NULLABLE answer; ///< where what it answers is to go
  kvo_retired *KVO_NULLABLE retired;
  kvo_derivation
      *KVO_NULLABLE own; ///< those that this one has begun to attach, by `next_own`; references
  /// Those that another thread is at, gone through here; references.
  kvo_derivation *KVO_NONNULL *KVO_NULLABLE foreign;
  size_t foreign_count, foreign_capacity;
  bool has_placed; ///< something that a change under way on another thread may not have found
  bool is_present; ///< `presence` counts it
  bool is_running; ///< not all of its tasks are done
  kvo_presence *KVO_NULLABLE presence; ///< of what it was begun for
} kvo_attachment;

/// Room for so many tasks more. False if memory is out.
bool kvo_attachment_make_room(kvo_attachment *attachment, size_t more);
/// Pushes a link to be followed, unless it is the last.
void kvo_attachment_push_resolution(kvo_attachment *attachment, kvo_link *link, bool thorough);
/// Pushes a derivation to be tracked, which has been so often already.
void kvo_attachment_push_track(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t again);
/// Pushes all chains of a derivation, or that it is to be tracked.
void kvo_attachment_push_chains(kvo_attachment *attachment, kvo_derivation *derivation);
/// Gives back what a task holds.
void kvo_task_end(kvo_task *task);
/// To be called before something is read: what was stored by changes that did not find what has been
/// placed here is seen from now on (I3).
void kvo_attachment_settle(kvo_attachment *attachment);
/// Reads where a link leads, ends its children at other objects, and pushes those to be placed. Calls a
/// getter: no lock held.
void kvo_attachment_resolve_link(kvo_attachment *attachment, kvo_link *link, bool thorough);
/// Reads a tracked key and replaces its derivation's chains: there is one for each read then, of
/// this reading or of one that began later; those without a link are to be attached. Calls the getter:
/// no lock held. False if there is nothing more to do: the same was read as last time, the derivation has
/// ended, or memory is out.
bool kvo_attachment_track(kvo_attachment *attachment, kvo_derivation *derivation);
/// Tracks until there are links at all that was read, or that is given up; `rounds`: how often it was so far.
void kvo_attachment_track_until_settled(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t rounds);
/// Keeps the order of what was read for the next reading, where there are links at all of it. The derivation is
/// settled; graph lock held.
void kvo_attachment_keep_sequence_locked(kvo_attachment *attachment, kvo_derivation *derivation);

/// Counts the attachment as present at what it was begun for, before it places anything.
void kvo_attachment_enter_locked(kvo_attachment *attachment);
/// Ends that, and what it has begun to attach. `is_torn`: an exception has left something undone.
void kvo_attachment_leave(kvo_attachment *attachment, bool is_torn);
/// Whether the derivation's chains are to be gone through here: no thread has done so, or another one
/// is still at it.
bool kvo_attachment_starts(kvo_attachment *attachment, kvo_derivation *derivation);
/// Whether another thread may have placed what it has not yet followed. Graph lock held.
bool kvo_presence_has_others_locked(const kvo_presence *presence);
bool kvo_link_has_others_locked(const kvo_link *link);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
