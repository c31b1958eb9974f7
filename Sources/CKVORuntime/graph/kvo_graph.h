/// What is placed along key paths: links, chains and derivations.
///
/// A *link* is placed at one key of one object: it is an entry among that key's observers. A *chain*
/// is a key path that is followed from a root: a tree of links, the first at the root's key, each
/// with a child at the next key of each object that it leads to (one, or with an operator in
/// between one for each element of a collection). A chain serves a registration, whose own entry is
/// then the first link, or a *derivation*: all chains by which one key of one object is derived
/// from others, there while that key is observed or has links itself.
///
/// A change of a key is told to its observers, and reaches further: to the key of each
/// derivation whose chains have a link there (recipients.c).
///
/// | state | protection |
/// |---|---|
/// | the shape of chains, tickets, stamps, a chain's and a derivation's `ended` | graph lock |
/// | a link's entry in its object's table, a cell's `derivation` | that object's lock, under the graph lock |
/// | references | atomic |
#ifndef KVO_GRAPH_H
#define KVO_GRAPH_H

#include "coding/kvo_key_path.h"
#include "tables/kvo_registration.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef struct kvo_link kvo_link;
typedef struct kvo_derivation kvo_derivation;
typedef struct kvo_route kvo_route;

/// Which threads are at work on something: what one of them has placed there it may not have followed yet.
typedef struct kvo_presence {
  uint32_t count;  ///< of attachments; atomic
  uint32_t thread; ///< the number of the only one, or KVO_SEVERAL_THREADS
} kvo_presence;
#define KVO_SEVERAL_THREADS UINT32_MAX

typedef struct kvo_chain {
  uint32_t references; ///< its links, and its derivation
  bool ended;
  bool is_reported;   ///< that it can't be followed, or read; atomic
  bool is_void;       ///< its first link could not be placed when that was last tried
  bool is_tracked;    ///< it serves a tracked key
  uint64_t placed_at; ///< of a tracked key: which ticket had been issued when its link was placed
  kvo_presence followers; ///< those that follow links of it that have been set
  const kvo_key_path *path;
  const kvo_accessors *accessors; ///< of the root's key: the derived one, or the path's first
  kvo_object *root;               ///< an unowned reference
  const kvo_class_operations *operations;  ///< the root's
  kvo_derivation *KVO_NULLABLE derivation; ///< that it serves; NULL: the first link is the user's
  /// Written under the graph lock; atomic: of a chain that serves the user it is read without it (single_recipient.c).
  kvo_link *KVO_NULLABLE first;
  /// Of a tracked path, at the key of its last property: how it was come to. Set once, under the graph lock;
  /// atomic: read without it.
  kvo_route *KVO_NULLABLE route;
} kvo_chain;

struct kvo_link {
  struct kvo_handle entry; ///< first: entries with KVO_LINKED are these
  kvo_counts counts;       ///< behind it, as with any registration that has some
  kvo_chain *chain;
  uint32_t depth; ///< which component of the path it is for
  bool is_leaf;   ///< the path goes on behind it neither to a key nor by an operator
  kvo_link *KVO_NULLABLE parent;
  kvo_link *KVO_NULLABLE children;
  kvo_link *KVO_NULLABLE *KVO_NONNULL last_child; ///< where the next one is linked
  kvo_link *KVO_NULLABLE next;                    ///< sibling
  kvo_link *KVO_NULLABLE *KVO_NULLABLE slot;      ///< what points at this one
  /// Following goes on in any order on several threads; the reading that began last wins.
  uint64_t issued, installed;
};

struct kvo_derivation {
  uint32_t references;  ///< its cell, and attachments of it
  bool ended;           ///< its cell has let it go
  bool by_other_thread; ///< the recipients that it was last found for came by another thread's link
  bool is_tracked;      ///< its chains go by what the key's getter reads (tracking.c)
  bool is_restless;     ///< each reading read other properties, until that was given up
  uint32_t place;       ///< among the links of the change that it was last found for; graph lock
  /// That search found it only behind a link whose change is open: that change. Graph lock.
  struct kvo_propagation *KVO_NULLABLE behind;
  enum { KVO_UNATTACHED, KVO_BEING_ATTACHED, KVO_ATTACHED } state;
  const void *KVO_NULLABLE attacher;     ///< the attachment that is at it
  kvo_presence attachers;                ///< that one, and others that go through its chains
  kvo_derivation *KVO_NULLABLE next_own; ///< of those that the same attachment has begun
  kvo_derivation *KVO_NULLABLE next;     ///< of those that end with their object
  kvo_derivation *KVO_NULLABLE below;    ///< on a search's stack
  uint32_t low, high;                    ///< which of its observers that search has yet to look at
  kvo_object *object;                    ///< an unowned reference
  const kvo_class_operations *operations;
  const kvo_accessors *accessors;
  const struct kvo_dependencies *dependencies;
  uint64_t serial;                      ///< in which order keys came to be watched
  uint64_t stamp;                       ///< of the recipients that it was last found for
  kvo_derivation *KVO_NULLABLE pending; ///< of those whose observers that search is to look at next
  uint64_t issued, installed;           ///< tickets of tracking, as a link's
  uint64_t placed, fenced;              ///< how often a chain of a tracked one was placed, and
                                        ///< how much of that a reading has fenced
  /// Of a tracked one that is settled: what was read by the reading that was installed last. The next
  /// reading takes it. Graph lock.
  struct kvo_sequence *KVO_NULLABLE sequence;
  kvo_route *KVO_NULLABLE route; ///< likewise: of a path of stored properties; graph lock
  uint32_t count;
  kvo_chain *KVO_NONNULL *KVO_NONNULL chains;
};

KVO_INLINE kvo_link *KVO_NULLABLE kvo_link_of(kvo_registration *entry) {
  return entry->options & KVO_LINKED ? (kvo_link *)entry : NULL;
}
/// Whether a registration is the user's, not a link that serves one further along.
KVO_INLINE bool kvo_registration_is_users(const kvo_registration *entry) {
  if (!(entry->options & KVO_LINKED)) return true;
  const kvo_link *link = (const kvo_link *)entry;
  return !link->parent && !link->chain->derivation;
}

/// Fills in the error for a path that goes on through a plain collection, with that component.
kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t behind,
    const kvo_class *cls, kvo_error *KVO_NULLABLE error);
/// Looks along the path from a component of the object's on, reading what is there now. Fails where
/// it can't be followed: KVO_UNDEFINED_KEY, KVO_INVALID_KEY_PATH, KVO_NO_MEMORY. No lock held.
kvo_status kvo_key_path_walk(kvo_object *object, const kvo_key_path *path, uint32_t depth,
    kvo_error *KVO_NULLABLE error);
/// Whether the link leads nowhere further.
KVO_INLINE bool kvo_link_is_last(const kvo_link *link) {
  const kvo_key_path *path = link->chain->path;
  return path->components[link->depth].next_key == path->count;
}

/// A chain from a living root, with one reference. NULL if memory is out.
kvo_chain *KVO_NULLABLE kvo_chain_make(kvo_object *root, const kvo_key_path *path,
    const kvo_accessors *accessors, kvo_derivation *KVO_NULLABLE derivation);
void kvo_chain_release(kvo_chain *chain);
/// The part of a link that is not its entry, all zero before.
void kvo_link_init(kvo_link *link, kvo_chain *chain, uint32_t depth);
/// One more reference to a chain.
void kvo_chain_retain(kvo_chain *chain);
/// Puts a link, whose `parent` has been set before it could be found at its key, behind its other
/// children. Graph lock held.
void kvo_link_add_child_locked(kvo_link *parent, kvo_link *child);

/// Tells the developer that a path can't be followed, once for each chain; the path counts as broken
/// there.
void kvo_chain_report(kvo_chain *chain, const kvo_error *error);
/// The same of an observed path that leads to something, but not to what can be read: it is told as nil.
void kvo_chain_report_unread(kvo_chain *chain, const kvo_error *error);

/// Follows the path from a registration's first link, and attaches the derivation of its key if there
/// is one, which is released. Calls getters and hooks: no lock held; the object is held by the
/// caller.
void kvo_attach(kvo_link *KVO_NULLABLE first, kvo_derivation *KVO_NULLABLE derivation);
/// Reads again where a link leads, and moves the links further along. No lock held.
void kvo_link_follow(kvo_link *link);

/// One property that a tracked key's getter read.
typedef struct kvo_read {
  kvo_object *object;                     ///< a reference
  const char *key;                        ///< interned
  const void *KVO_NULLABLE token;         ///< by which the binding knows the key, if it has said so
  const void *KVO_NULLABLE place;         ///< of a path's property: where it is stored
  const kvo_class_operations *operations; ///< the object's
} kvo_read;

/// What one reading read, in the order in which it came. Of objects the memory is held.
typedef struct kvo_sequence {
  size_t count;
  kvo_read reads[];
} kvo_sequence;
void kvo_sequence_free(kvo_sequence *KVO_NULLABLE sequence);

/// What a reading of a tracked key answered.
typedef struct kvo_answer {
  kvo_value value;
  bool is_read;
  uint64_t ticket; ///< of that reading
} kvo_answer;
/// Ends the value, if there is one.
void kvo_answer_destroy(kvo_answer *answer);
/// Reads a tracked key again, and follows what it reads now. What the last reading answered is in
/// `*answer`, which is zero before, if its observers want it. No lock held.
void kvo_derivation_follow(kvo_derivation *derivation, kvo_answer *answer);
/// Whether reading a tracked key again would read what it read last, as far as that is seen from memory: that of a
/// path of stored properties.
bool kvo_derivation_is_current(kvo_derivation *derivation);

/// What a tracked key's getter reads. As long as it is what it was last time, in that order, it is compared
/// and nothing else; else each read is an item, which are sorted by object and key, each once, when it
/// has been tracked.
struct kvo_reads {
  kvo_read *KVO_NULLABLE items;
  size_t count, capacity;
  bool is_short; ///< memory ran out
  kvo_sequence
      *KVO_NULLABLE expected;      ///< what was read last time; NULL once something else is read
  size_t matched;                  ///< how much of that has been read
  kvo_sequence *KVO_NULLABLE made; ///< the items in the order in which they came, not held
  kvo_answer *KVO_NULLABLE answer; ///< where what the getter answers is to go
  size_t path_length;              ///< of a path of stored properties; 0: it is none
  ptrdiff_t reference_offset;      ///< with it
  uint64_t epoch;                  ///< of the classes (kvo_class_epoch), when the reading began
  kvo_route *KVO_NULLABLE route;   ///< by `made`
};
void kvo_reads_destroy(kvo_reads *reads);

/// Takes an entry, and all links further along if it is a link, out of the graph, with what
/// was only there for them. Graph lock held; the entry itself may have ended already.
void kvo_entry_end_locked(kvo_registration *entry, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// The same for all chains of a derivation whose cell has let it go.
void kvo_derivation_end_locked(kvo_derivation *derivation,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// A derivation for a key of a living object, not yet in its cell; `*made` is NULL if the key is
/// not derived. Asks the class; no lock held. False if memory is out.
bool kvo_derivation_make(kvo_object *object, const kvo_accessors *accessors,
    kvo_derivation *KVO_NULLABLE *KVO_NONNULL made);
kvo_derivation *kvo_derivation_retain(kvo_derivation *derivation);
void kvo_derivation_release(kvo_derivation *KVO_NULLABLE derivation);
/// Hangs it at the list of its key's observers. Graph and object lock held.
void kvo_derivation_install_locked(kvo_derivation *derivation, kvo_table *table, kvo_list *list);
/// It hangs there no more. Graph and object lock held.
void kvo_derivation_remove_locked(kvo_table *table, kvo_derivation *derivation);

/// Whether a registration is told of the key, or a derived key that is needed depends on it. Graph
/// lock held. O(1) mostly, at worst O(what depends on it, directly or not).
bool kvo_derivation_is_needed_locked(kvo_derivation *derivation);
/// Takes it out of its cell, wherever that is. False if it is in none. Graph lock held.
bool kvo_derivation_leave_locked(kvo_derivation *derivation);
/// For marking what a search has found; graph lock held.
uint64_t kvo_graph_next_stamp_locked(void);

/// The same for one object that is held.
void kvo_object_refresh_derivations(kvo_object *object);
/// The same for all of the class's objects, of which keys are affected by more than before: false,
/// with nothing changed, if memory is out. No lock held.
bool kvo_derivations_extend(const kvo_class *cls);
/// Looks again what the observed keys of the class's objects are derived from. No lock held.
void kvo_derivations_refresh(const kvo_class *cls);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
