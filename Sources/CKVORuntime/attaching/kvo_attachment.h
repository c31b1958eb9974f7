/// The work of following key paths: a stack of tasks, each of which may add others. worklist.c implements the stack,
/// attachment.c runs the tasks, link_resolution.c follows single links.
#ifndef KVO_ATTACHMENT_H
#define KVO_ATTACHMENT_H

#include "base/kvo_memory.h"
#include "graph/kvo_delta.h"
#include "graph/kvo_graph.h"
#include "values/kvo_collection_internal.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_task {
  enum {
    KVO_ATTACH_CHAIN,
    KVO_RESOLVE_LINK,
    KVO_APPLY_DELTA,
    KVO_ENSURE_LINK,
    KVO_PLACE_LINK,
    KVO_TRACK
  } kind;
  bool thorough;                 ///< the existing links further along are followed again as well
  kvo_chain *KVO_NULLABLE chain; ///< the chain to attach; a reference
  /// The link to follow, or the parent of the one to place; a reference.
  kvo_link *KVO_NULLABLE link;
  /// The chain's root, or the object to place a link at; a reference.
  kvo_object *KVO_NULLABLE object;
  kvo_derivation *KVO_NULLABLE derivation; ///< the derivation to track; a reference
  uint32_t depth, occurrences;             ///< of the link to place
  /// The reading that found `object`, or the delta's; or how often the key was tracked so far.
  uint64_t ticket;
  const kvo_delta *KVO_NULLABLE delta; ///< to apply to the link
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
/// Pushes a task to apply a delta to a link, which is not the last one of its path.
void kvo_attachment_push_delta(kvo_attachment *attachment, kvo_link *link, uint64_t ticket,
    const kvo_delta *delta);
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
/// Moves the links behind a link as a change has moved its elements, and pushes those to be placed. False, with nothing
/// changed, if the link has to be read. No lock held.
bool kvo_attachment_apply_delta(kvo_attachment *attachment, kvo_link *link, uint64_t ticket,
    const kvo_delta *delta);
/// A link that was there when a change began.
typedef struct kvo_announced_link {
  kvo_link *link; ///< held
  uint64_t ticket;
} kvo_announced_link;
/// An element that the change removes.
typedef struct kvo_gone {
  kvo_object *object; ///< an unowned reference
  const kvo_class *cls;
} kvo_gone;
/// The elements beside a removed range; their addresses are only compared.
typedef struct kvo_neighbours {
  const kvo_object *KVO_NULLABLE before, *KVO_NULLABLE behind;
} kvo_neighbours;
struct kvo_delta {
  enum { KVO_DELTA_SPOILED, KVO_DELTA_BEGUN, KVO_DELTA_READ } state;
  bool is_known; ///< what came by an insertion is what was to be inserted
  kvo_announced_link *KVO_NULLABLE links;
  size_t count, capacity, next; ///< of the links, and which is followed next
  kvo_part_named part;
  kvo_gone *KVO_NULLABLE gone;
  kvo_neighbours *KVO_NULLABLE neighbours; ///< of each range of a removal
  kvo_value value;                         ///< the key's, while it is looked at
  kvo_elements elements;                   ///< of it, which hold what came
  kvo_object *KVO_NONNULL *KVO_NULLABLE came;
  size_t gone_count, came_count, total; ///< how many elements there are after the change
};
/// Whether no memory was lacking since the link was read. A change that could not be followed for lack of memory is not known
/// to the link.
KVO_INLINE bool kvo_link_misses_nothing_locked(const kvo_link *link) {
  return link->shortages == __atomic_load_n(&kvo_shortages_of_all, __ATOMIC_SEQ_CST);
}
/// An object, and how often it occurs.
typedef struct kvo_counted {
  uintptr_t object; ///< its address; the lowest bit marks it as taken
  uint32_t count;
} kvo_counted;
/// Fills in each object once, in the order of addresses, and returns their number. `sorted` must have room for all objects.
size_t kvo_count_objects(kvo_counted *sorted, kvo_object *KVO_NONNULL const *KVO_NONNULL objects,
    size_t count);
/// Takes an object out. NULL if it is not there, or was taken before.
kvo_counted *KVO_NULLABLE kvo_counted_take(kvo_counted *sorted, size_t count,
    const kvo_object *object);
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
