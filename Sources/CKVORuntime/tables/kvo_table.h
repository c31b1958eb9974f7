/// Observation tables: the observers of each key of one object.
#ifndef KVO_TABLE_H
#define KVO_TABLE_H

#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "coding/kvo_accessor_search.h"
#include "threads/kvo_thread.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

enum { KVO_LIVE = 0, KVO_ENDED, KVO_NOT_INSERTED }; // the state of a registration

/// A further option of a registration: it is part of a kvo_path_node (kvo_graph.h), so a change of its key affects
/// other keys too.
enum {
  KVO_PATH_NODE_BIT = 5,
  KVO_PATH_NODE = 1 << KVO_PATH_NODE_BIT,
  KVO_ALL_OPTIONS = KVO_PATH_NODE - 1
};
enum { KVO_OPTION_COUNT = KVO_PATH_NODE_BIT + 1 };
/// Further options of a registration: it is part of a kvo_group (group.c); it was made by an observer object.
enum { KVO_GROUPED = 64, KVO_BY_OBSERVER = 128 };
/// The options that a plain observer may have: it is called after each change, with old and new.
enum { KVO_PLAIN_OPTIONS = KVO_OLD | KVO_NEW | KVO_INITIAL | KVO_GROUPED | KVO_BY_OBSERVER };
typedef struct kvo_group kvo_group;

/// The value last delivered to an observer with KVO_DISTINCT (distinct.c). Object lock.
typedef struct kvo_last {
  struct kvo_known *KVO_NULLABLE known; ///< NULL: unknown
  uint64_t ticket;                      ///< ticket of the change compared last
} kvo_last;

/// Data that few registrations need: those with `KVO_DISTINCT`, and all of them in a debug mode.
typedef struct kvo_counts {
  kvo_last last; ///< a group has one for each key instead
  uint32_t hits; ///< calls of the observer; atomic
} kvo_counts;

/// One registration, or a node: the entry of a path at one of its further keys. Immutable while it is live, except
/// where noted. With very many keys, a delivery waits for this memory. So the fields that it reads come first, and a
/// registration stores nothing that the class or the key knows.
typedef struct kvo_handle kvo_registration;
struct kvo_handle {
  uint8_t state; ///< KVO_LIVE and so on, atomic
  uint8_t options;
  uint8_t
      operations; ///< with KVO_BY_OBSERVER: the index of the observer's operations (`kvo_operations`)
  uint8_t has_counts;         ///< whether `kvo_registration_counts` returns any
  uint32_t references;        ///< atomic: the object's table (or limbo), the handle, recipients
  uintptr_t tagged_accessors; ///< the accessors of its key, tagged in the lowest bits (below)
  union {
    kvo_callback KVO_NULLABLE callback;
    kvo_object *KVO_NULLABLE
        observer; ///< with KVO_BY_OBSERVER: an unowned reference, until this is reclaimed
  };
  void *KVO_NULLABLE context;
  union {
    struct {
      /// The order in which registrations became visible, counted over all of them (serial.c); atomic. A change whose
      /// frame has a number at least as high finds the registration before the change. For any other change it came
      /// too late.
      uint64_t serial;
      uint32_t thread; ///< the number of the thread that made it; atomic
      uint32_t index;  ///< in its key's list; object lock
      /// May be destroyed once the state is KVO_ENDED; its address still names the lock and the hazard pointer.
      kvo_object *object;
    };
    kvo_retired retired; ///< once it has ended; the object is the hazard pointer
  };
  union {
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context); ///< of a registration by a callback
    kvo_group *KVO_NULLABLE group;                          ///< of a registration with KVO_GROUPED
    /// With KVO_BY_OBSERVER: the pointer to this registration in the observer's list of those that it made. Both
    /// objects' locks.
    kvo_registration *KVO_NULLABLE *KVO_NULLABLE link_watched;
  };
  union {
    kvo_registration *KVO_NULLABLE next_watched; ///< with KVO_BY_OBSERVER: the next in that list
    kvo_registration *KVO_NULLABLE
        next_inline; ///< of an object's inline registration: the next in its chain (inline_registration.c)
  };
};

KVO_INLINE uint8_t kvo_registration_state(const kvo_registration *registration) {
  uint8_t state = __atomic_load_n(&registration->state, __ATOMIC_ACQUIRE);
#ifdef KVO_POISON
  if (state == KVO_POISON_BYTE) __builtin_trap(); // it has been freed
#endif
  return state;
}
KVO_INLINE void kvo_registration_set_state(kvo_registration *registration, uint8_t state) {
  __atomic_store_n(&registration->state, state, __ATOMIC_RELEASE);
}
KVO_INLINE kvo_object *KVO_NULLABLE
kvo_registration_observer(const kvo_registration *registration) {
  return registration->options & KVO_BY_OBSERVER ? registration->observer : NULL;
}
KVO_INLINE const kvo_class_operations *
kvo_registration_operations(const kvo_registration *registration) {
  return kvo_operations[registration->operations];
}

/// The serial of a registration that is visible but has no number yet, and that of a head before all of its group keys
/// are visible.
#define KVO_NO_SERIAL (UINT64_MAX - 1)
#define KVO_SERIAL_OF_HIDDEN UINT64_MAX
/// Gives a registration with KVO_NO_SERIAL a number, unless another thread does so first. Returns its number.
uint64_t kvo_registration_take_serial(const kvo_registration *registration);
/// The serial number of a registration. It is overwritten when the registration ends, so check the state after
/// reading it.
KVO_INLINE uint64_t kvo_registration_serial(const kvo_registration *registration) {
  uint64_t serial = __atomic_load_n(&registration->serial, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(serial != KVO_NO_SERIAL) ? serial : kvo_registration_take_serial(registration);
}
/// The slow path of `kvo_registration_was_there`: the registration came later or has no number yet.
bool kvo_registration_was_numbered(const kvo_registration *registration, uint64_t counted);
/// Whether a change that began at the count `counted` could find the registration.
KVO_INLINE bool kvo_registration_was_there(const kvo_registration *registration, uint64_t counted) {
  return KVO_LIKELY(__atomic_load_n(&registration->serial, __ATOMIC_ACQUIRE) <= counted) ||
         kvo_registration_was_numbered(registration, counted);
}
KVO_INLINE uint32_t kvo_registration_thread(const kvo_registration *registration) {
  return __atomic_load_n(&registration->thread, __ATOMIC_ACQUIRE);
}

/// Tags of an accessors pointer. Keys that methods of the class announce (announced.c) are tagged as manual too.
enum { KVO_ACCESSORS_MANUAL = 1, KVO_ACCESSORS_TRACKED = 2, KVO_ACCESSORS_TAG_MASK = 3 };
KVO_INLINE const kvo_accessors *kvo_untag_accessors(uintptr_t tagged_accessors) {
  return (const kvo_accessors *)(tagged_accessors & ~(uintptr_t)KVO_ACCESSORS_TAG_MASK);
}
KVO_INLINE uintptr_t kvo_tag_accessors(const kvo_accessors *accessors) {
  bool is_tracked = accessors->is_bound && accessors->property->track;
  bool is_automatic = kvo_accessors_automatic(accessors) == KVO_BY_SETTER;
  return (uintptr_t)accessors | (is_automatic ? 0 : KVO_ACCESSORS_MANUAL) |
         (is_tracked ? KVO_ACCESSORS_TRACKED : 0);
}
KVO_INLINE const kvo_accessors *kvo_registration_accessors(const kvo_registration *registration) {
  return kvo_untag_accessors(registration->tagged_accessors);
}
/// The id of the registration's key, by which its object's table is indexed.
KVO_INLINE uintptr_t kvo_registration_id(const kvo_registration *registration) {
  return kvo_registration_accessors(registration)->id;
}
/// The key path of the registration, interned or owned by the path.
const char *kvo_registration_key_path(const kvo_registration *registration);
/// The registration's counters; NULL if it has none.
kvo_counts *KVO_NULLABLE kvo_registration_counts(kvo_registration *registration);

/// The registration that contains a `retired`.
KVO_INLINE kvo_registration *kvo_retired_registration(kvo_retired *retired) {
  return (kvo_registration *)((char *)retired - offsetof(struct kvo_handle, retired));
}

/// A group key: one key of a registration of several keys that asks for no more than old and new. Everything else is
/// in the group's head, which is stored before its group keys (kvo_group.h). A delivery reads the group key. Code
/// that needs a registration makes one for the key (group_keys.c). Immutable.
///
/// Its first fields are those of a registration, so that the fast path (kvo_fast_path.h) need not ask which of the two
/// it found.
typedef struct kvo_group_key {
  uint8_t state;   ///< always KVO_LIVE; the head has the real state
  uint8_t options; ///< those of the head, and KVO_GROUP_KEY
  uint32_t index;  ///< the index of the key in the group
  uintptr_t
      tagged_accessors; ///< as in a registration, without tags; 0: the key has a registration from the beginning
} kvo_group_key;
/// The option bits that mark a group key. No registration has both.
enum { KVO_GROUP_KEY = KVO_GROUPED | KVO_BY_OBSERVER };

KVO_INLINE kvo_registration *kvo_group_key_head(const kvo_group_key *group_key) {
  return (kvo_registration *)(uintptr_t)(group_key - group_key->index) - 1;
}
KVO_INLINE const kvo_accessors *kvo_group_key_accessors(const kvo_group_key *group_key) {
  return (const kvo_accessors *)group_key->tagged_accessors;
}
/// Whether it is the head of a group with group keys. It is in the cells of many keys, or in none if all keys have
/// registrations.
KVO_INLINE bool kvo_registration_is_group_head(const kvo_registration *registration) {
  return !registration->tagged_accessors;
}

/// The list of a key with several observers, in the order of registration. A new one is stored after the last, and
/// published by incrementing the count. A removed one leaves a hole, which readers skip. The list is replaced only
/// when it is full or mainly holes, so N registrations and N removals cost O(N) in any order.
typedef struct kvo_list_index kvo_list_index; // removal.c
typedef struct kvo_list {
  kvo_retired retired;
  uint32_t capacity;
  uint32_t count; ///< atomic
  uint32_t live;
  uint32_t wanting
      [KVO_OPTION_COUNT];     ///< the number of live ones with each option; readers use `options`
  uint32_t options;           ///< atomic: the union
  uintptr_t tagged_accessors; ///< of the key, from the newest registration; atomic
  struct kvo_dependent_key
      *KVO_NULLABLE dependent_key; ///< the dependencies of the key, if it is derived; object lock
  kvo_list_index *KVO_NULLABLE index;     ///< by observer; object lock
  kvo_registration *KVO_NULLABLE items[]; ///< atomic
} kvo_list;

/// Tag bits of `kvo_observers`.
enum {
  KVO_OBSERVERS_LIST = 1,
  /// One registration, no list, to which the fast path (kvo_fast_path.h) can deliver a change.
  KVO_OBSERVERS_PLAIN = 2,
  /// In a cell: a group key, which is also plain.
  KVO_OBSERVERS_GROUP_KEY = 4,
  /// In the object itself: its inline registration.
  KVO_OBSERVERS_INLINE = 4,
  KVO_OBSERVERS_TAG_MASK = 7,
};
KVO_INLINE bool kvo_observers_is_list(kvo_observers observers) {
  return observers & KVO_OBSERVERS_LIST;
}
KVO_INLINE bool kvo_observers_is_plain(kvo_observers observers) {
  return observers & KVO_OBSERVERS_PLAIN;
}
KVO_INLINE kvo_list *kvo_observers_list(kvo_observers observers) {
  return (kvo_list *)(observers & ~(uintptr_t)KVO_OBSERVERS_TAG_MASK);
}
KVO_INLINE bool kvo_observers_is_group_key(kvo_observers observers) {
  return observers & KVO_OBSERVERS_GROUP_KEY;
}
KVO_INLINE const kvo_group_key *kvo_observers_group_key(kvo_observers observers) {
  return (const kvo_group_key *)(observers & ~(uintptr_t)KVO_OBSERVERS_TAG_MASK);
}
/// The registration. Call only if `observers` is not a list. For a group key, only `options` and `tagged_accessors` are
/// valid.
KVO_INLINE kvo_registration *kvo_observers_registration(kvo_observers observers) {
  return (kvo_registration *)(observers & ~(uintptr_t)KVO_OBSERVERS_TAG_MASK);
}
/// The single registration, or a group key's head. Call only if `observers` is not a list.
KVO_INLINE kvo_registration *kvo_observers_single(kvo_observers observers) {
  return KVO_UNLIKELY(kvo_observers_is_group_key(observers))
             ? kvo_group_key_head(kvo_observers_group_key(observers))
             : kvo_observers_registration(observers);
}

typedef struct kvo_cell {
  uintptr_t id;            ///< kvo_accessors.id; 0 for a free cell; atomic
  kvo_observers observers; ///< atomic
} kvo_cell;

/// An open manual change: `kvo_will_change` was called, and `kvo_did_change` not yet. Object lock.
typedef struct kvo_manual_change {
  struct kvo_manual_change *KVO_NULLABLE next;  ///< the one opened before this
  struct kvo_manual_change *KVO_NULLABLE newer; ///< the one whose `next` is this
  struct kvo_manual_change *KVO_NULLABLE next_in_bucket;
  uint32_t
      thread; ///< the thread's number: a record may pass to another thread while the pair is open
  uint32_t elements_hash; ///< of the mutation named when it was opened (manual_change.c)
  const char *key;
  uintptr_t id;
  uint64_t serial;
  bool joined;      ///< inside an automatic change: closing it delivers nothing
  bool is_reported; ///< lack of memory for a part of it was reported
  bool has_old;
  kvo_value old_value;
  struct kvo_general_delivery *KVO_NULLABLE general_delivery; ///< as in a frame
  const kvo_class *cls;
  /// Pointers of its thread's list. Manual change lock (manual_change.c).
  struct kvo_manual_change *KVO_NULLABLE next_of_thread;
  struct kvo_manual_change *KVO_NULLABLE *KVO_NULLABLE link_of_thread;
} kvo_manual_change;

/// A value associated with an object (associations.c). Object lock.
typedef struct kvo_association kvo_association;

/// The data of an object that is observed, observes, or has an open manual change or an associated value. Replaced by
/// a larger table when its cells are full. Written under the object's lock. Deliveries that protect the object read
/// the cells.
struct kvo_table {
  kvo_retired retired;
  uint32_t mask;                       ///< the number of cells, a power of two, less one
  uint32_t used;                       ///< cells with an id
  uint32_t live;                       ///< registrations with this object, including nodes
  uint32_t graph_entries;              ///< nodes, and dependent keys
  kvo_object *object;                  ///< the object whose table this is
  struct kvo_table *KVO_NULLABLE next; ///< the next table of the same lock; that lock
  struct kvo_table *KVO_NULLABLE *KVO_NULLABLE link; ///< the pointer to this table
  kvo_registration *KVO_NULLABLE watched; ///< registrations that this object made, newest first
  kvo_manual_change *KVO_NULLABLE manual_changes; ///< the one opened last
  uint32_t open_count;                            ///< the number of open manual changes
  struct kvo_manual_change_index
      *KVO_NULLABLE manual_change_index;      ///< an index if there are many; open_manual_changes.c
  kvo_association *KVO_NULLABLE associations; ///< the newest one
  kvo_cell cells[];
};
typedef struct kvo_table kvo_table;

/// The word in an object's header. It points at the object's table, or directly at its inline registration, tagged.
typedef uintptr_t kvo_observation_word;

/// Ownership. If the highest bits of addresses are free, those of an object's word name its owner: the thread that
/// stored something there while the word was 0. Another thread reads the data without the object's lock, or calls its
/// observers, only after it has removed the owner under that lock (`kvo_object_share`). So the owner need not look
/// for readers on other threads when it removes something (reclaim.c). 0: any thread may read it.

KVO_INLINE uintptr_t kvo_object_owned_word(const kvo_object *object) {
  uintptr_t word = (uintptr_t)__atomic_load_n(&object->observations, __ATOMIC_SEQ_CST);
#ifdef KVO_POISON
  if (word == KVO_POISON_WORD) __builtin_trap(); // the object has been freed
#endif
  return word;
}
/// The object's word without the owner. The object's lock.
KVO_INLINE kvo_observation_word kvo_object_observation_word(const kvo_object *object) {
  return kvo_object_owned_word(object) & ~KVO_OWNER_BITS;
}
/// Removes the owner, so that all threads may read the data, and returns the word without it. No lock held.
kvo_observation_word kvo_object_share(kvo_object *object);
/// The data of a word that was read under a hazard pointer. Removes the owner if it is another thread.
KVO_INLINE kvo_observation_word kvo_observation_word_share(uintptr_t word, kvo_object *object) {
  uintptr_t own = word ^ kvo_owner_bits;
  if (KVO_LIKELY(!(own & KVO_OWNER_BITS))) return own;
  return KVO_UNLIKELY(word & KVO_OWNER_BITS) ? kvo_object_share(object) : word;
}
/// Whether this thread is the owner. The object's lock.
KVO_INLINE bool kvo_object_is_own(const kvo_object *object) {
  uintptr_t owner = kvo_object_owned_word(object) & KVO_OWNER_BITS;
  return owner && owner == kvo_owner_bits;
}
/// Removes the owner unless it is this thread. The object's lock.
KVO_INLINE void kvo_object_share_locked(kvo_object *object) {
  uintptr_t word = kvo_object_owned_word(object), owner = word & KVO_OWNER_BITS;
  if (KVO_LIKELY(!owner || owner == kvo_owner_bits)) return;
  __atomic_store_n(&object->observations, (void *)(word & ~KVO_OWNER_BITS), __ATOMIC_RELEASE);
}
/// Stores the word. The thread that stores one where it was 0 becomes the owner. The object's lock.
KVO_INLINE void kvo_object_set_observation_word(kvo_object *object,
    kvo_observation_word observation_word) {
  uintptr_t word = kvo_object_owned_word(object),
            owner = word ? word & KVO_OWNER_BITS : kvo_owner_bits;
  __atomic_store_n(&object->observations, (void *)(observation_word ? observation_word | owner : 0),
      __ATOMIC_RELEASE);
}

KVO_INLINE bool kvo_observation_word_is_inline(kvo_observation_word observation_word) {
  return observation_word & KVO_OBSERVERS_INLINE;
}
KVO_INLINE kvo_table *KVO_NULLABLE
kvo_observation_word_table(kvo_observation_word observation_word) {
  return KVO_UNLIKELY(kvo_observation_word_is_inline(observation_word))
             ? NULL
             : (kvo_table *)observation_word;
}
KVO_INLINE kvo_registration *KVO_NULLABLE
kvo_observation_word_registration(kvo_observation_word observation_word) {
  return kvo_observation_word_is_inline(observation_word)
             ? kvo_observers_registration(observation_word)
             : NULL;
}
/// The object's table, or NULL. The object's lock.
KVO_INLINE kvo_table *KVO_NULLABLE kvo_table_of(const kvo_object *object) {
  return kvo_observation_word_table(kvo_object_observation_word(object));
}
/// The object's inline registration, if it has no table. The object's lock.
KVO_INLINE kvo_registration *KVO_NULLABLE kvo_object_inline_registration(const kvo_object *object) {
  return kvo_observation_word_registration(kvo_object_observation_word(object));
}

KVO_INLINE size_t kvo_table_slot(uintptr_t id, uint32_t mask) {
  return (size_t)(kvo_hash_word(id) >> 32) & mask;
}

/// The cell of a key, or NULL. O(1), independent of the number of observed keys and objects.
KVO_INLINE kvo_cell *KVO_NULLABLE kvo_table_find(kvo_table *table, uintptr_t id) {
  for (size_t i = kvo_table_slot(id, table->mask);; i = (i + 1) & table->mask) {
    uintptr_t found = __atomic_load_n(&table->cells[i].id, __ATOMIC_ACQUIRE);
    if (KVO_LIKELY(found == id)) return &table->cells[i];
    if (!found) return NULL;
  }
}

KVO_INLINE kvo_observers kvo_cell_observers(const kvo_cell *cell) {
  return __atomic_load_n(&cell->observers, __ATOMIC_SEQ_CST);
}

/// The union of the options of a key's observers.
KVO_INLINE uint32_t kvo_observers_options(kvo_observers observers) {
  if (KVO_LIKELY(!kvo_observers_is_list(observers)))
    return kvo_observers_registration(observers)->options;
  return __atomic_load_n(&kvo_observers_list(observers)->options, __ATOMIC_ACQUIRE);
}
/// The key's accessors, tagged.
KVO_INLINE uintptr_t kvo_observers_tagged_accessors(kvo_observers observers) {
  if (KVO_LIKELY(!kvo_observers_is_list(observers)))
    return kvo_observers_registration(observers)->tagged_accessors;
  return __atomic_load_n(&kvo_observers_list(observers)->tagged_accessors, __ATOMIC_ACQUIRE);
}
KVO_INLINE const kvo_accessors *kvo_observers_accessors(kvo_observers observers) {
  return kvo_untag_accessors(kvo_observers_tagged_accessors(observers));
}
/// Whether a setter of the key notifies no observer by itself: either it never does, or methods of the class announce
/// the change. Stored here so that a change need not read the accessors.
KVO_INLINE bool kvo_observers_are_manual(kvo_observers observers) {
  return kvo_observers_tagged_accessors(observers) & KVO_ACCESSORS_MANUAL;
}
/// Whether methods of the class announce automatic changes of a key that is marked manual.
KVO_INLINE bool kvo_observers_are_announced(kvo_observers observers) {
  return kvo_accessors_automatic(kvo_observers_accessors(observers)) == KVO_BY_ANNOUNCER;
}
/// Whether the key must be read again after each change, because it is a tracked key of a binding.
KVO_INLINE bool kvo_observers_are_tracked(kvo_observers observers) {
  return kvo_observers_tagged_accessors(observers) & KVO_ACCESSORS_TRACKED;
}
/// The key's dependent key, or NULL. The object's lock.
KVO_INLINE struct kvo_dependent_key *KVO_NULLABLE
kvo_observers_dependent_key(kvo_observers observers) {
  return kvo_observers_is_list(observers) ? kvo_observers_list(observers)->dependent_key : NULL;
}

/// The inline registration, tagged as in a cell.
KVO_INLINE kvo_observers
kvo_observation_word_inline_observers(kvo_observation_word observation_word) {
  return observation_word & ~(uintptr_t)KVO_OBSERVERS_INLINE;
}
KVO_INLINE kvo_observers kvo_observation_word_observers(kvo_observation_word observation_word,
    uintptr_t id) {
  if (!observation_word) return 0;
  if (kvo_observation_word_is_inline(observation_word))
    return kvo_registration_id(kvo_observers_registration(observation_word)) == id
               ? kvo_observation_word_inline_observers(observation_word)
               : 0;
  const kvo_cell *cell = kvo_table_find((kvo_table *)observation_word, id);
  return cell ? kvo_cell_observers(cell) : 0;
}
/// The observers of a key of a protected object; 0 if there are none. No lock held.
KVO_INLINE kvo_observers kvo_object_observers(kvo_object *object, uintptr_t id) {
#ifdef KVO_POISON
  if (!kvo_thread_protects(object))
    __builtin_trap(); // what is read here might be freed during the read
#endif
  return kvo_observation_word_observers(kvo_observation_word_share(kvo_object_owned_word(object),
                                            object),
      id);
}
/// The observers of a key of an object; 0 if there are none. The object's lock.
KVO_INLINE kvo_observers kvo_object_observers_locked(const kvo_object *object, uintptr_t id) {
  return kvo_observation_word_observers(kvo_object_observation_word(object), id);
}

/// The object's table with room for `keys` more keys, made or enlarged if necessary. NULL if out of memory.
kvo_table *KVO_NULLABLE kvo_table_reserve_locked(kvo_object *object, uint32_t keys,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// The tagged pointer to a key's single registration.
kvo_observers kvo_observers_of(kvo_registration *registration);
/// Frees the object's table if it is no longer needed.
void kvo_table_trim_locked(kvo_object *object, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Releases the values associated with an object that is being destroyed. No lock held.
void kvo_associations_end_with(kvo_object *object);

/// The living object at an address, if it has a table or registration; retained. NULL if there is none. The address
/// may no longer be an object's. No lock held. O(observed objects) divided by the number of locks.
kvo_object *KVO_NULLABLE kvo_table_owner_at(const kvo_object *address);

/// Calls `visit` with every object that has registrations, under the object's lock. The locks are taken one after the
/// other.
void kvo_observed_visit(void (*visit)(void *KVO_NULLABLE context, kvo_object *object),
    void *KVO_NULLABLE context);
/// Called with a registration, or with a group key and its head.
typedef void (*kvo_registration_visitor)(void *KVO_NULLABLE context, kvo_registration *registration,
    const kvo_group_key *KVO_NULLABLE group_key);
/// Calls `visit` with each registration with an object, including nodes. The object's lock.
void kvo_registrations_visit_locked(const kvo_object *object, kvo_registration_visitor visit,
    void *KVO_NULLABLE context);

/// Stores the first registration of an object, without a table. Returns false, with nothing changed, if it needs a
/// table or there is no memory. The object's lock.
bool kvo_inline_registration_insert_locked(kvo_object *object, kvo_registration *registration);
/// Removes an object's inline registration. The object's lock.
void kvo_inline_registration_remove_locked(kvo_object *object, kvo_registration *registration);
/// Removes an inline registration from its chain, because a table takes over. The object's lock.
void kvo_inline_registration_unlist_locked(kvo_registration *registration);
/// Finds the inline registration of the object at an address. The lock of that address.
kvo_registration *KVO_NULLABLE kvo_inline_registration_find_locked(const kvo_object *address);
/// Calls `visit` with all objects of one lock that have a single registration. That lock.
void kvo_inline_registration_visit_locked(size_t lock,
    void (*visit)(void *KVO_NULLABLE context, kvo_object *object), void *KVO_NULLABLE context);

/// Adds a registration after the others of its key; `as_list`: in a list, even if it is the only one. Returns false,
/// with nothing changed, if out of memory.
bool kvo_table_insert_locked(kvo_table *table, kvo_registration *registration, bool as_list,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Stores a group key. Returns false, with nothing changed, if the key has an observer.
bool kvo_table_insert_group_key_locked(kvo_table *table, const kvo_group_key *group_key);
/// Removes a group key, if it is in its cell.
void kvo_table_remove_group_key_locked(kvo_table *table, const kvo_group_key *group_key);
/// Replaces a group key by a registration. Returns false, with nothing changed, if out of memory.
bool kvo_cell_promote_locked(kvo_cell *cell);
/// The key's list, made if the key has a single observer. NULL if out of memory.
kvo_list *KVO_NULLABLE kvo_table_list_locked(kvo_table *table, uintptr_t id,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Removes a registration; returns whether its key has others left. Memory that readers no longer need is added to
/// `retired`, except for the registration itself.
bool kvo_table_remove_locked(kvo_table *table, kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Retires a list that is no longer in its cell.
void kvo_list_retire_locked(kvo_list *list, const kvo_object *object,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
