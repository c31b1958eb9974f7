/// The observation graph along key paths: links, chains and derivations.
///
/// A *link* is placed at one key of one object: it is an entry among that key's observers.
///
/// A *chain* is a key path that is followed from a root. It is a tree of links, the first of which is at the root's
/// key. Each link has a child at the next key of each object that it leads to: one object, or the elements of a
/// collection if an operator follows. A chain serves either a registration, whose own entry is the first link, or a
/// derivation.
///
/// A *derivation* holds all chains by which one key of one object is derived from others. It exists while that key is
/// observed or has links itself.
///
/// A change of a key notifies its observers, and it reaches further: to the key of each derivation that has a chain
/// with a link there (recipients.c).
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
typedef struct kvo_delta kvo_delta;

/// The threads that are working on a chain or derivation. They may have placed links that they have not followed yet.
typedef struct kvo_presence {
  uint32_t count;  ///< number of attachments; atomic
  uint32_t thread; ///< the number of the only thread, or KVO_SEVERAL_THREADS
} kvo_presence;
#define KVO_SEVERAL_THREADS UINT32_MAX

typedef struct kvo_chain {
  uint32_t references; ///< from its links and its derivation
  bool ended;
  bool is_reported;       ///< it was reported that it can't be followed or read; atomic
  bool is_void;           ///< its first link could not be placed at the last attempt
  bool is_tracked;        ///< it serves a tracked key
  uint64_t placed_at;     ///< for a tracked key: the last ticket issued before its link was placed
  kvo_presence followers; ///< attachments that are following its links
  const kvo_key_path *path;
  const kvo_accessors *accessors;         ///< the root key's: the derived key, or the path's first
  kvo_object *root;                       ///< an unowned reference
  const kvo_class_operations *operations; ///< the root's
  /// The one it serves; NULL: the first link is the user's.
  kvo_derivation *KVO_NULLABLE derivation;
  /// Written under the graph lock. Atomic, because in a chain that serves the user it is read without the lock
  /// (single_recipient.c).
  kvo_link *KVO_NULLABLE first;
  /// In the chain at the last property of a tracked path: the route that led there. Set once, under the graph lock;
  /// atomic, because it is read without the lock.
  kvo_route *KVO_NULLABLE route;
} kvo_chain;

struct kvo_link {
  struct kvo_handle entry; ///< must be first: entries with KVO_LINKED are links
  kvo_counts counts;       ///< must follow the entry, as in any registration with counts
  kvo_chain *chain;
  uint16_t depth; ///< the index of its component in the path
  bool is_leaf;   ///< neither a key nor an operator follows in the path
  /// The link leads to a collection whose elements are objects, all at one depth. So it can be followed by a change's delta
  /// (link_delta.c).
  bool is_plain;
  uint32_t occurrences; ///< how often its object is an element of the parent's collection
  uint32_t covered;     ///< the sum of its children's occurrences
  uint32_t shortages;   ///< `kvo_shortages_of_all` when it was read last
  kvo_link *KVO_NULLABLE parent;
  kvo_link *KVO_NULLABLE children;
  kvo_link *KVO_NULLABLE *KVO_NONNULL last_child; ///< where the next child is linked
  kvo_link *KVO_NULLABLE next;                    ///< sibling
  kvo_link *KVO_NULLABLE *KVO_NULLABLE slot;      ///< the pointer to this one
  /// Tickets of readings. Several threads may follow a link in any order; the reading that began last wins. A change
  /// of the key takes a ticket as well when it begins.
  uint64_t issued, installed;
};

struct kvo_derivation {
  uint32_t references;  ///< from its cell and from attachments
  bool ended;           ///< its cell has dropped it
  bool by_other_thread; ///< the last search for recipients reached it through another thread's link
  bool is_tracked;      ///< its chains are what the key's getter reads (tracking.c)
  bool is_behind;   ///< that search reached it only behind links whose changes are open; graph lock
  bool is_restless; ///< each reading read other properties, until tracking gave up
  uint32_t place; ///< index in the `kvo_links` of the change that it was last found for; graph lock
  enum { KVO_UNATTACHED, KVO_BEING_ATTACHED, KVO_ATTACHED } state;
  const void *KVO_NULLABLE attacher;     ///< the attachment that is working on it
  kvo_presence attachers;                ///< that one, and others that go through its chains
  kvo_derivation *KVO_NULLABLE next_own; ///< next one that the same attachment has begun
  kvo_derivation *KVO_NULLABLE next;     ///< next one that ends with their object
  kvo_derivation *KVO_NULLABLE below;    ///< the next on a search's stack
  uint32_t low, high; ///< range of its observers that the search has yet to look at
  kvo_object *object; ///< an unowned reference
  const kvo_class_operations *operations;
  const kvo_accessors *accessors;
  const struct kvo_dependencies *dependencies;
  uint64_t serial;                      ///< orders keys by when they were first watched
  uint64_t stamp;                       ///< stamp of the search for recipients that found it last
  kvo_derivation *KVO_NULLABLE pending; ///< next one whose observers that search is to look at
  uint64_t issued, installed;           ///< tickets of tracking, as in a link
  /// For a tracked one: how often a chain was placed, and how many of these placements a reading has fenced.
  uint64_t placed, fenced;
  /// For a settled tracked derivation: the reads of the reading that was installed last. The next reading takes it.
  /// Graph lock.
  struct kvo_sequence *KVO_NULLABLE sequence;
  kvo_route *KVO_NULLABLE route; ///< for a settled path of stored properties; graph lock
  uint32_t count;
  kvo_chain *KVO_NONNULL *KVO_NONNULL chains;
};

KVO_INLINE kvo_link *KVO_NULLABLE kvo_link_of(kvo_registration *entry) {
  return entry->options & KVO_LINKED ? (kvo_link *)entry : NULL;
}
/// Whether a registration was made by the user, and is not a link that serves one.
KVO_INLINE bool kvo_registration_is_users(const kvo_registration *entry) {
  if (!(entry->options & KVO_LINKED)) return true;
  const kvo_link *link = (const kvo_link *)entry;
  return !link->parent && !link->chain->derivation;
}

/// Fills in the error for a path that continues through a plain collection, at the component `behind`.
kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t behind,
    const kvo_class *cls, kvo_error *KVO_NULLABLE error);
/// Walks the path from the component `depth` of the object on, reading the current values. Fails if the path can't be
/// followed: KVO_UNDEFINED_KEY, KVO_INVALID_KEY_PATH, KVO_NO_MEMORY. No lock held.
kvo_status kvo_key_path_walk(kvo_object *object, const kvo_key_path *path, uint32_t depth,
    kvo_error *KVO_NULLABLE error);
/// Whether the path has no further key after the link.
KVO_INLINE bool kvo_link_is_last(const kvo_link *link) {
  const kvo_key_path *path = link->chain->path;
  return path->components[link->depth].next_key == path->count;
}

/// Makes a chain from a living root, with one reference. NULL if memory is out.
kvo_chain *KVO_NULLABLE kvo_chain_make(kvo_object *root, const kvo_key_path *path,
    const kvo_accessors *accessors, kvo_derivation *KVO_NULLABLE derivation);
void kvo_chain_release(kvo_chain *chain);
/// Initializes the part of a link that is not its entry. That part must be zeroed.
void kvo_link_init(kvo_link *link, kvo_chain *chain, uint32_t depth);
/// Adds a reference to a chain.
void kvo_chain_retain(kvo_chain *chain);
/// Appends a link to the children of its parent. `child->parent` must be set before the link can be found at its key.
/// Graph lock held.
void kvo_link_add_child_locked(kvo_link *parent, kvo_link *child);

/// Reports that a path can't be followed, once for each chain. The path counts as broken there.
void kvo_chain_report(kvo_chain *chain, const kvo_error *error);
/// Reports, once for each chain, that an observed path leads to a value that can't be read. It is delivered as nil.
void kvo_chain_report_unread(kvo_chain *chain, const kvo_error *error);

/// Follows the path from a registration's first link, and attaches the derivation of its key if there is one, which
/// is released. Calls getters and hooks: no lock held. The caller retains the object.
void kvo_attach(kvo_link *KVO_NULLABLE first, kvo_derivation *KVO_NULLABLE derivation);
/// Reads again where a link leads, and moves the links further along. No lock held.
void kvo_link_follow(kvo_link *link);

/// A property that a tracked key's getter read.
typedef struct kvo_read {
  kvo_object *object;                     ///< a reference
  const char *key;                        ///< interned
  const void *KVO_NULLABLE token;         ///< the binding's token for the key, if it has given one
  const void *KVO_NULLABLE place;         ///< for a path's property: where it is stored
  const kvo_class_operations *operations; ///< the object's
} kvo_read;

/// The properties that one reading read, in order. Holds the memory of the objects, not their lives.
typedef struct kvo_sequence {
  size_t count;
  kvo_read reads[];
} kvo_sequence;
void kvo_sequence_free(kvo_sequence *KVO_NULLABLE sequence);

/// The value that a reading of a tracked key returned.
typedef struct kvo_answer {
  kvo_value value;
  bool is_read;
  uint64_t ticket; ///< the reading's
} kvo_answer;
/// Destroys the value, if there is one.
void kvo_answer_destroy(kvo_answer *answer);
/// Reads a tracked key again, and follows the properties that it now reads. Stores the value of the last reading in
/// `*answer`, which is zeroed before, if the key's observers want it. No lock held.
void kvo_derivation_follow(kvo_derivation *derivation, kvo_answer *answer);
/// Whether a new reading of a tracked key would read the same properties as the last one. It can tell only for a path
/// of stored properties, from memory; otherwise false.
bool kvo_derivation_is_current(kvo_derivation *derivation);

/// Records what a tracked key's getter reads. As long as the reads are those of last time, in the same order, they
/// are only compared. After the first difference each read becomes an item. At the end of the reading the items are
/// sorted by object and key, without duplicates.
struct kvo_reads {
  kvo_read *KVO_NULLABLE items;
  size_t count, capacity;
  bool is_short; ///< memory was out
  kvo_sequence
      *KVO_NULLABLE expected;      ///< the last reading's reads; NULL after the first difference
  size_t matched;                  ///< how many of these have been read again
  kvo_sequence *KVO_NULLABLE made; ///< the items in the order of reading, without references
  kvo_answer *KVO_NULLABLE answer; ///< where to store the getter's value
  size_t path_length;            ///< the length of a path of stored properties; 0: not such a path
  ptrdiff_t reference_offset;    ///< offset of a reference, for such a path
  uint64_t epoch;                ///< the classes' epoch (kvo_class_epoch) when the reading began
  kvo_route *KVO_NULLABLE route; ///< the route along `made`
};
void kvo_reads_destroy(kvo_reads *reads);

/// Removes an entry from the graph. For a link, also removes all links further along and whatever only they needed.
/// Graph lock held; the entry itself may have ended already.
void kvo_entry_end_locked(kvo_registration *entry, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Removes all chains of a derivation whose cell has dropped it, and whatever only they needed. Graph lock held.
void kvo_derivation_end_locked(kvo_derivation *derivation,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Makes a derivation for a key of a living object; it is not in its cell yet. `*made` is NULL if the key is not
/// derived. Asks the class; no lock held. False if memory is out.
bool kvo_derivation_make(kvo_object *object, const kvo_accessors *accessors,
    kvo_derivation *KVO_NULLABLE *KVO_NONNULL made);
kvo_derivation *kvo_derivation_retain(kvo_derivation *derivation);
void kvo_derivation_release(kvo_derivation *KVO_NULLABLE derivation);
/// Stores the derivation in the list of its key's observers. Graph and object lock held.
void kvo_derivation_install_locked(kvo_derivation *derivation, kvo_table *table, kvo_list *list);
/// Marks a derivation that is no longer in its list as ended. Graph and object lock held.
void kvo_derivation_remove_locked(kvo_table *table, kvo_derivation *derivation);

/// Whether a registration observes the key, or a derived key that is needed depends on it. Graph lock held. Usually
/// O(1), at worst O(what depends on it, directly or not).
bool kvo_derivation_is_needed_locked(kvo_derivation *derivation);
/// Removes it from its cell. False if it is in none. Graph lock held.
bool kvo_derivation_leave_locked(kvo_derivation *derivation);
/// A new stamp, for marking what a search has found. Graph lock held.
uint64_t kvo_graph_next_stamp_locked(void);

/// Makes new derivations for those observed keys of a retained object whose dependencies have changed. No lock held.
void kvo_object_refresh_derivations(kvo_object *object);
/// Makes new derivations for all observed objects of the class after a dependency was added. Returns false, with
/// nothing changed, if memory is out. No lock held.
bool kvo_derivations_extend(const kvo_class *cls);
/// Makes new derivations for all observed objects of the class whose keys' dependencies have changed. No lock held.
void kvo_derivations_refresh(const kvo_class *cls);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
