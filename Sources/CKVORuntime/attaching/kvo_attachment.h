/// The work of following key paths: a stack of tasks, each of which may add others. worklist.c implements the stack,
/// attachment.c runs the tasks, link_resolution.c follows single links.
#ifndef KVO_ATTACHMENT_H
#define KVO_ATTACHMENT_H

#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_task {
  enum { KVO_ATTACH_CHAIN, KVO_RESOLVE_LINK, KVO_ENSURE_LINK, KVO_PLACE_LINK, KVO_TRACK } kind;
  bool thorough;                 ///< the existing links further along are followed again as well
  kvo_chain *KVO_NULLABLE chain; ///< the chain to attach; a reference
  /// The link to follow, or the parent of the one to place; a reference.
  kvo_link *KVO_NULLABLE link;
  /// The chain's root, or the object to place a link at; a reference.
  kvo_object *KVO_NULLABLE object;
  kvo_derivation *KVO_NULLABLE derivation; ///< the derivation to track; a reference
  uint32_t depth;                          ///< of the link to place
  uint64_t ticket; ///< the reading that found `object`; or how often the key was tracked so far
} kvo_task;

typedef struct kvo_attachment {
  kvo_task *KVO_NULLABLE tasks;
  size_t count, capacity;
  kvo_task current;
  kvo_reads reads;                 ///< of the key that is being tracked
  uint64_t ticket;                 ///< the ticket of that reading
  kvo_answer *KVO_NULLABLE answer; ///< where to store the key's value
  kvo_retired *KVO_NULLABLE retired;
  /// Derivations that this one has begun to attach, linked by `next_own`; references.
  kvo_derivation *KVO_NULLABLE own;
  /// Derivations that another thread is working on and whose chains are followed here too; references.
  kvo_derivation *KVO_NONNULL *KVO_NULLABLE foreign;
  size_t foreign_count, foreign_capacity;
  /// Has placed something that a change under way on another thread may not have found.
  bool has_placed;
  bool is_present;                     ///< it is counted in `presence`
  bool is_running;                     ///< some of its tasks are not done
  kvo_presence *KVO_NULLABLE presence; ///< of the chain or derivation it was begun for
} kvo_attachment;

/// Makes room for `more` tasks. False if memory is out.
bool kvo_attachment_make_room(kvo_attachment *attachment, size_t more);
/// Pushes a task to follow a link, unless the link is the last of its path.
void kvo_attachment_push_resolution(kvo_attachment *attachment, kvo_link *link, bool thorough);
/// Pushes a task to track a derivation that has been tracked `again` times already.
void kvo_attachment_push_track(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t again);
/// Pushes tasks to attach all chains of a derivation, or, if it is tracked, a task to track it.
void kvo_attachment_push_chains(kvo_attachment *attachment, kvo_derivation *derivation);
/// Releases the references of a task.
void kvo_task_end(kvo_task *task);
/// Call before reading anything: makes visible what was stored by changes that did not find the links placed here
/// (I3).
void kvo_attachment_settle(kvo_attachment *attachment);
/// Reads where a link leads, ends its children at other objects, and pushes tasks to place the missing ones. Calls a
/// getter: no lock held.
void kvo_attachment_resolve_link(kvo_attachment *attachment, kvo_link *link, bool thorough);
/// Reads a tracked key and replaces its derivation's chains. Then there is a chain for each property read, by this
/// reading or by one that began later; the caller attaches those that have no link. Calls the getter: no lock held.
/// Returns false if nothing more is to be done: the same was read as last time, the derivation has ended, or memory
/// is out.
bool kvo_attachment_track(kvo_attachment *attachment, kvo_derivation *derivation);
/// Tracks until all properties that were read have links, or gives up. `rounds`: how often it was tracked so far.
void kvo_attachment_track_until_settled(kvo_attachment *attachment, kvo_derivation *derivation,
    uint64_t rounds);
/// Keeps the reads, in order, for comparison with the next reading, provided that all of them have links. The
/// derivation is settled; graph lock held.
void kvo_attachment_keep_sequence_locked(kvo_attachment *attachment, kvo_derivation *derivation);

/// Counts the attachment in its `presence`, before it places anything.
void kvo_attachment_enter_locked(kvo_attachment *attachment);
/// Ends the presence, and that at the derivations it has worked on. `is_torn`: an exception has left something
/// undone.
void kvo_attachment_leave(kvo_attachment *attachment, bool is_torn);
/// Whether this attachment has to follow the derivation's chains: either no thread has done so, or another one is
/// still doing it.
bool kvo_attachment_starts(kvo_attachment *attachment, kvo_derivation *derivation);
/// Whether another thread may have placed links that it has not followed yet. Graph lock held.
bool kvo_presence_has_others_locked(const kvo_presence *presence);
bool kvo_link_has_others_locked(const kvo_link *link);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
