/// Changes that reach further than the observers of one key: along key paths, to derived keys, and
/// those that tell which elements of a to-many key came and went.
#ifndef KVO_PROPAGATION_H
#define KVO_PROPAGATION_H

#include "delivery/kvo_delivery.h"
#include "graph/kvo_graph.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What a change of a to-many key does, and what came and went.
typedef struct kvo_mutation_record {
  kvo_change_kind kind; ///< KVO_SETTING: it is none
  kvo_set_mutation set_mutation;
  kvo_index_set *KVO_NULLABLE indexes;
  kvo_value objects;
  bool has_predicted, has_old, has_new, has_before;
  kvo_value
      predicted; ///< what will go, for prior calls, which may go on when the did has been made
  kvo_value old_value, new_value; ///< what went and what came
  kvo_value before;               ///< all of a set
  bool is_told;                   ///< the binding has said what goes and comes
} kvo_mutation_record;

/// A key that is changed, of the frame's object. One change has one; a batch (batch.c) has those of all changes
/// that it collects.
typedef struct kvo_root {
  uintptr_t id;
  kvo_mutation_record mutation;
  uint64_t last_serial; ///< of a batch: when the key was changed last (kvo_serial); else 0
  struct kvo_root *KVO_NULLABLE next; ///< of a batch: the key that was changed first after this one
} kvo_root;

/// A key of an object that a change affects: the changed one, or one derived from it.
typedef struct kvo_affected {
  kvo_object *object; ///< an unowned reference
  const kvo_class_operations *operations;
  uintptr_t id;
  const char *KVO_NULLABLE key; ///< of a derived one, interned
  uint64_t serial;              ///< when it came to be watched
  bool by_other_thread;         ///< found by a link that another thread has placed
  uint32_t tracked;             ///< of a tracked key: its place among the links, or KVO_NO_PLACE
  /// Found only by links behind one whose change is open: that change (open_links.c). Valid while the graph lock is held.
  struct kvo_propagation *KVO_NULLABLE behind;
  const kvo_root *KVO_NULLABLE root; ///< of a changed one
  bool is_read;
  kvo_value value; ///< what it was when it was read, for its plain observers
} kvo_affected;

/// A registration that is to be told, held.
typedef struct kvo_member {
  kvo_registration *registration;
  uint64_t serial;                   ///< the registration's
  uint32_t thread;                   ///< likewise
  kvo_derivation *KVO_NULLABLE path; ///< of the tracked path that it observes; a reference
  uint32_t affected;                 ///< else of which key it is an observer
  uint32_t tracked;                  ///< with `path`: its place among the links, or KVO_NO_PLACE
  bool is_whole;                     ///< gets whole values, not what came and went
  bool by_other_thread;              ///< found by a link that another thread has placed
  bool is_late;      ///< another thread has registered it since the will, or led it here
  bool lacks_old;    ///< which it asks for: new stands in for it
  bool is_unchanged; ///< it asks for distinct changes alone, and is passed over
  bool is_within;    ///< it was there when a key that leads to it was changed last in its batch
  bool is_found;     ///< of the recipients at will: it is there at did as well
  bool is_behind;    ///< an open change of a link notifies it (open_links.c)
  bool is_read;
  kvo_value value; ///< of a path

  union { // of one with `KVO_DISTINCT`
    struct {
      kvo_distinction distinction;
      uint32_t passed; ///< how many changes had passed it over
      bool is_shared;  ///< with another key of its token, which stands for both
    }; ///< at will
    kvo_telling telling; ///< at did
  };
  uint32_t was_place; ///< in the recipients at will, or KVO_NO_PLACE
} kvo_member;

enum { KVO_NO_PLACE = UINT32_MAX };

/// Where a registration stands in a set of recipients.
typedef struct kvo_placed {
  const kvo_registration *KVO_NULLABLE registration;
  uint32_t place;
} kvo_placed;

/// The registrations that are to be told of a change, in order. Few have room in place; it must not be moved.
typedef struct kvo_recipients {
  kvo_placed *KVO_NULLABLE index; ///< of many members: where each stands
  uint32_t index_mask;
  kvo_affected *affected;
  kvo_member *members;
  uint32_t affected_count, affected_capacity, member_count, member_capacity;
  kvo_affected few_affected[2];
  kvo_member few_members[3];
} kvo_recipients;

/// An empty one.
void kvo_recipients_init(kvo_recipients *recipients);

/// A tracked key that a change affects, held, and what it answered when it was tracked for that.
typedef struct kvo_tracked {
  kvo_derivation *derivation;
  kvo_answer answer;
} kvo_tracked;

/// Links to further keys from what a change affects, and tracked keys that it affects, each held.
typedef struct kvo_links {
  kvo_link *KVO_NULLABLE *KVO_NULLABLE items;
  size_t count, capacity;
  kvo_tracked *KVO_NULLABLE tracked;
  size_t tracked_count, tracked_capacity;
} kvo_links;

/// Takes away again what was added since there were so many.
void kvo_recipients_shorten(kvo_recipients *recipients, uint32_t affected_count,
    uint32_t member_count);
/// Adds a member of the recipients at will that is not to be found at did, behind all others. False if memory
/// is out.
bool kvo_recipients_add_lost(kvo_recipients *recipients, const kvo_recipients *before,
    uint32_t place);
/// Makes it, empty before, the recipients of a change of the frame's key which was found to reach one recipient:
/// the user's registration of the chain, or of the derived key that it serves; none, if that has ended. It gets
/// the frame's old value. False if memory is out.
bool kvo_recipients_adopt(kvo_recipients *recipients, kvo_frame *frame, const kvo_chain *chain,
    kvo_registration *recipient);
void kvo_recipients_destroy(kvo_recipients *recipients);
void kvo_links_destroy(kvo_links *links);

/// Copies what is kept. False if memory is out.
bool kvo_mutation_begin(kvo_mutation_record *record, const kvo_mutation *mutation);
void kvo_mutation_destroy(kvo_mutation_record *record);
/// Read what observers with these options ask for, before and after the change.
void kvo_mutation_read_before(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options);
void kvo_mutation_read_after(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options);

/// What a frame or an open pair keeps of such a change.
typedef struct kvo_propagation {
  uint32_t references; ///< atomic: frames and pairs
  uint32_t opener;     ///< with `slot`: the number of the thread that opened the change
  bool has_before;     ///< the recipients at will are known
  bool
      has_others; ///< it stands for changes behind its links, which notified no observer; graph lock
  bool is_short;  ///< memory was out for some of what is new
  bool has_distinct;                    ///< some of those at will have asked for distinct changes
  kvo_root first;                       ///< the changed key; those of a batch follow by `next`
  struct kvo_batch *KVO_NULLABLE batch; ///< batch.c's
  kvo_recipients before, after;
  kvo_links links; ///< to be followed at did
  /// In the list of its thread's open changes of links (open_links.c); graph lock. `slot` points at what points here.
  struct kvo_propagation *KVO_NULLABLE next;
  struct kvo_propagation *KVO_NULLABLE *KVO_NULLABLE slot;
} kvo_propagation;

/// Adds the recipients that a change of the root has before it is made, after those that are there. False if memory is out.
bool kvo_recipients_find_before(kvo_propagation *propagation, kvo_object *object,
    const kvo_root *root);
/// Adds those that it has when it has been made; a member that was there before gets its place there. The first search also
/// collects the links and tracked keys to follow. When these have been read, search again: keys and members get their place
/// among them. False if memory is out.
bool kvo_recipients_find_after(kvo_propagation *propagation, kvo_object *object,
    const kvo_root *root, bool is_again);

/// Puts a change of a link in the list of those that this thread has open, unless it is there. Graph lock held, as for the others.
void kvo_open_links_add_locked(kvo_propagation *propagation);
void kvo_open_links_remove_locked(kvo_propagation *propagation);
/// The open change of another link of the same path before this one, or NULL.
kvo_propagation *KVO_NULLABLE kvo_open_links_find_locked(const kvo_link *link,
    const kvo_propagation *searching);
/// Takes one that was never finished out of the list. No lock held.
void kvo_open_links_leave(kvo_propagation *propagation);
/// Whether the change stands for others, which would be lost if it notified no observer. No lock held.
bool kvo_propagation_has_others(kvo_propagation *propagation);

/// Begins it: finds the recipients, reads old, in the frame from now on. False if memory is out.
bool kvo_propagation_begin(kvo_frame *frame, const kvo_mutation *KVO_NULLABLE mutation);
/// Goes on with a change that single_recipient.c has begun: the recipient that was found there, if it has not
/// ended, is all of the recipients at will.
void kvo_propagation_resume(kvo_frame *frame, const kvo_chain *chain, kvo_registration *recipient);
void kvo_propagation_deliver_priors(kvo_frame *frame);
/// The same for what a batch collects (batch.c), apart from what is being recorded.
bool kvo_change_add_root(kvo_frame *frame, kvo_root *root,
    const kvo_mutation *KVO_NULLABLE mutation);
/// Adds a root to the propagation of a batch's frame: finds its recipients, reads old for those that no earlier
/// root has reached, also for those that `mutation` is told in detail, and calls their prior observers. False if
/// memory is out: then nothing has been added.
bool kvo_propagation_add(kvo_frame *frame, kvo_root *root,
    const kvo_mutation *KVO_NULLABLE mutation);
/// A propagation without roots, in the frame from now on. NULL if memory is out.
kvo_propagation *KVO_NULLABLE kvo_propagation_make(kvo_frame *frame);
/// Ends it: follows links and tracked keys anew, finds the recipients again, reads new, calls the observers. The
/// frame may have no propagation yet, where the key had only plain observers when the change began.
void kvo_propagation_finish(kvo_frame *frame);
kvo_propagation *kvo_propagation_retain(kvo_propagation *propagation);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
