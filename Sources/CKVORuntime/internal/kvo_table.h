/// Observation tables: who observes which key of one object.
#ifndef KVO_TABLE_H
#define KVO_TABLE_H

#include "kvo_accessors.h"
#include "kvo_memory.h"
#include "kvo_reclaim.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

enum { KVO_LIVE = 0, KVO_ENDED, KVO_UNPLACED }; // the state of a registration

/// Among the options of a registration: it is part of a kvo_link (kvo_graph.h), so a change that
/// meets it reaches further than this key.
enum { KVO_LINKED_BIT = 5, KVO_LINKED = 1 << KVO_LINKED_BIT, KVO_ALL_OPTIONS = KVO_LINKED - 1 };
enum { KVO_OPTION_COUNT = KVO_LINKED_BIT + 1 };
/// Likewise: it is part of a kvo_group (group.c); it was made by an observer object.
enum { KVO_GROUPED = 64, KVO_BY_OBSERVER = 128 };
/// What a plain observer may have asked for: to be called after each change, with old and new.
enum { KVO_PLAIN_OPTIONS = KVO_OLD | KVO_NEW | KVO_INITIAL | KVO_GROUPED | KVO_BY_OBSERVER };
typedef struct kvo_group kvo_group;

/// Who counts how often an observer is told: the first thread, and all others together (distinct.c).
enum { KVO_TELLER_SORTS = 2 };
/// What one change knows of one observer since its will.
typedef struct kvo_distinction {
  uint64_t claim;    ///< whose he was
  uint32_t tellings; ///< how often telling him had begun, of which it knows, and had ended
  uint32_t begun;    ///< how many changes had begun and not passed him over, this one among them
} kvo_distinction;
/// One telling of such an observer, from its did until he has returned.
typedef struct kvo_telling kvo_telling;
struct kvo_telling {
  struct kvo_handle *KVO_NULLABLE registration; ///< NULL: it has ended
  uint32_t sort;                                ///< of the thread that does it
  kvo_telling *KVO_NULLABLE next;               ///< the one of its thread that began before it
  kvo_telling *KVO_NULLABLE *KVO_NULLABLE link; ///< what points at this one
};

/// What is counted of a registration that asks for distinct changes alone (distinct.c), and of all in a
/// debug mode; atomic.
typedef struct kvo_counts {
  uint64_t claim; ///< which change was the last to claim the observer
  /// How often telling him has begun and has ended.
  uint32_t tellings_begun[KVO_TELLER_SORTS], tellings_ended[KVO_TELLER_SORTS];
  /// How many changes have begun that have not passed him over, and how many have done so.
  uint32_t changes_begun[KVO_TELLER_SORTS], changes_passed[KVO_TELLER_SORTS];
  uint32_t hits; ///< calls of the observer
} kvo_counts;

/// One registration, or what stands for one at a key further along its path. Immutable while it is
/// live, but for what says otherwise. With very many keys it is memory that a delivery waits for: what
/// it reads comes first, and there is nothing in it that the class or the key could tell.
typedef struct kvo_handle kvo_registration;
struct kvo_handle {
  uint8_t state; ///< KVO_LIVE and so on, atomic
  uint8_t options;
  uint8_t operations;  ///< with KVO_BY_OBSERVER: of the observer (`kvo_operations`)
  uint8_t has_counts;  ///< whether it is one of those that `kvo_registration_counts` finds some for
  uint32_t references; ///< atomic: the object's table (or limbo), the handle, audiences
  union {
    kvo_callback KVO_NULLABLE callback;
    kvo_object *KVO_NULLABLE
        observer; ///< with KVO_BY_OBSERVER: an unowned reference, until this is reclaimed
  };
  void *KVO_NULLABLE context;
  uintptr_t reading; ///< the accessors of its key, with marks in the lowest bits (below)
  union {
    struct {
      /// When it came to be found, counted over all registrations; atomic. A change whose frame has
      /// counted it finds it at its will, any other is one that it came too late for.
      uint64_t serial;
      uint32_t thread; ///< the number of the thread that made it; atomic
      uint32_t index;  ///< in its key's list; object lock
      /// Dead once state is KVO_ENDED; its address still names the lock and the guard.
      kvo_object *object;
    };
    kvo_retired retired; ///< when it has ended; the object is the guard
  };
  union {
    void (*KVO_NULLABLE ended)(void *KVO_NULLABLE context); ///< of one by a callback alone
    kvo_group *KVO_NULLABLE group;                          ///< of one with KVO_GROUPED
    /// With KVO_BY_OBSERVER: what points at this one in the observer's list of what it registered. Both
    /// objects' locks.
    kvo_registration *KVO_NULLABLE *KVO_NULLABLE link_watched;
  };
  union {
    kvo_registration *KVO_NULLABLE next_watched; ///< likewise
    kvo_registration *KVO_NULLABLE next_only;    ///< of an object's only one: in its chain (only.c)
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
/// What is written when a registration ends is something else: ask for the state afterwards.
KVO_INLINE uint64_t kvo_registration_serial(const kvo_registration *registration) {
  return __atomic_load_n(&registration->serial, __ATOMIC_ACQUIRE);
}
KVO_INLINE uint32_t kvo_registration_thread(const kvo_registration *registration) {
  return __atomic_load_n(&registration->thread, __ATOMIC_ACQUIRE);
}

/// Accessors with marks.
enum { KVO_READING_MANUAL = 1, KVO_READING_TRACKED = 2, KVO_READING_MARKS = 3 };
KVO_INLINE const kvo_accessors *kvo_reading_accessors(uintptr_t reading) {
  return (const kvo_accessors *)(reading & ~(uintptr_t)KVO_READING_MARKS);
}
KVO_INLINE uintptr_t kvo_reading_of(const kvo_accessors *accessors) {
  bool is_tracked = accessors->is_bound && accessors->property->track;
  return (uintptr_t)accessors | (kvo_accessors_automatic(accessors) ? 0 : KVO_READING_MANUAL) |
         (is_tracked ? KVO_READING_TRACKED : 0);
}
KVO_INLINE const kvo_accessors *kvo_registration_accessors(const kvo_registration *registration) {
  return kvo_reading_accessors(registration->reading);
}
/// Of its key, by which its object's table is indexed.
KVO_INLINE uintptr_t kvo_registration_id(const kvo_registration *registration) {
  return kvo_registration_accessors(registration)->id;
}
/// The key path that it was made with, interned or the path's.
const char *kvo_registration_key_path(const kvo_registration *registration);
/// NULL where nothing is counted.
kvo_counts *KVO_NULLABLE kvo_registration_counts(kvo_registration *registration);

/// The registration that a retired head belongs to.
KVO_INLINE kvo_registration *kvo_retired_registration(kvo_retired *retired) {
  return (kvo_registration *)((char *)retired - offsetof(struct kvo_handle, retired));
}

/// Several observers of one key, in the order of registration. New ones are stored behind the last
/// and published by the count; a removed one leaves a hole, which a reader skips. The list is
/// replaced only when it is full or mostly holes, so N registrations and N removals cost O(N) in
/// any order.
typedef struct kvo_list_index kvo_list_index; // removal.c
typedef struct kvo_list {
  kvo_retired retired;
  uint32_t capacity;
  uint32_t count; ///< atomic
  uint32_t live;
  uint32_t
      wanting[KVO_OPTION_COUNT]; ///< how many live ones have each option; for readers, `options`
  uint32_t options;              ///< atomic: the union
  uintptr_t reading;             ///< the key's, as of the newest registration; atomic
  struct kvo_derivation *KVO_NULLABLE derivation; ///< what the key is derived from; object lock
  kvo_list_index *KVO_NULLABLE index;             ///< by observer; object lock
  kvo_registration *KVO_NULLABLE items[];         ///< atomic
} kvo_list;

/// The observers of one key: a registration, a list, or NULL, with marks in the lowest bits.
typedef uintptr_t kvo_observers;
enum {
  KVO_OBSERVERS_LIST = 1,
  /// One registration, no list, that a change can be told to the short way (kvo_short.h).
  KVO_OBSERVERS_PLAIN = 2,
  /// One that is an object's only one, in the object itself.
  KVO_OBSERVERS_ONLY = 4,
  KVO_OBSERVERS_MARKS = 7,
};
KVO_INLINE bool kvo_observers_is_list(kvo_observers observers) {
  return observers & KVO_OBSERVERS_LIST;
}
KVO_INLINE bool kvo_observers_is_plain(kvo_observers observers) {
  return observers & KVO_OBSERVERS_PLAIN;
}
KVO_INLINE kvo_list *kvo_observers_list(kvo_observers observers) {
  return (kvo_list *)(observers & ~(uintptr_t)KVO_OBSERVERS_MARKS);
}
KVO_INLINE kvo_registration *kvo_observers_single(kvo_observers observers) {
  return (kvo_registration *)(observers & ~(uintptr_t)KVO_OBSERVERS_MARKS);
}

typedef struct kvo_cell {
  uintptr_t id;            ///< kvo_accessors.id; 0 for a free cell; atomic
  kvo_observers observers; ///< atomic
} kvo_cell;

/// A change by hand that is open: kvo_will_change has been called. Object lock.
typedef struct kvo_open_pair {
  struct kvo_open_pair *KVO_NULLABLE next;  ///< the one opened before
  struct kvo_open_pair *KVO_NULLABLE newer; ///< whose `next` this is
  struct kvo_open_pair *KVO_NULLABLE next_in_bucket;
  uint32_t thread; ///< its number: a record may pass to another thread while the pair is open
  const char *key;
  uintptr_t id;
  uint64_t serial;
  kvo_distinction distinction; ///< of an observer with `KVO_DISTINCT` that was the only one
  bool joined;                 ///< inside an automatic change: its did delivers nothing
  bool is_reported;            ///< that memory was out for some of it
  bool has_old;
  kvo_value old_value;
  struct kvo_reach *KVO_NULLABLE reach; ///< as a frame's
  const char *class_name;
  /// Links of its thread's list. Pairs lock (manual.c).
  struct kvo_open_pair *KVO_NULLABLE next_of_thread;
  struct kvo_open_pair *KVO_NULLABLE *KVO_NULLABLE link_of_thread;
} kvo_open_pair;

/// What hangs at an object that is observed, observes, or has a change by hand open. Replaced by a
/// larger one when its cells are full. Written under the object's lock; the cells are read by
/// deliveries that guard the object.
struct kvo_table {
  kvo_retired retired;
  uint32_t mask;                       ///< of the cells, a power of two less one
  uint32_t used;                       ///< cells with an id
  uint32_t live;                       ///< registrations with this object, links among them
  uint32_t linked;                     ///< links among them, and derivations
  kvo_object *object;                  ///< whose it is
  struct kvo_table *KVO_NULLABLE next; ///< of the same lock; the object's lock
  struct kvo_table *KVO_NULLABLE *KVO_NULLABLE link; ///< what points at this one
  kvo_registration *KVO_NULLABLE watched; ///< registrations that this object made, newest first
  kvo_open_pair *KVO_NULLABLE open_pairs; ///< the one opened last
  uint32_t open_count;                    ///< how many there are
  struct kvo_pair_index *KVO_NULLABLE pair_index; ///< of many; open_pairs.c
  kvo_cell cells[];
};
typedef struct kvo_table kvo_table;

/// Whether a change has to be told the long way (reach.c): it leads on, or several observers may have to
/// be passed over.
KVO_INLINE bool kvo_observers_reach(kvo_observers observers, uint32_t options) {
  return options & KVO_LINKED || (options & KVO_DISTINCT && kvo_observers_is_list(observers));
}

/// What hangs at an object, without a table where that is one registration of a key: then its observers,
/// marked.
typedef uintptr_t kvo_hanging;

/// Whose an object's observations are. Where the highest bits of an address are free, those of an object's
/// word name the thread that hung something there while nothing did: no other reads it without the object's
/// lock, or calls its observers, before it has taken the name off under that (`kvo_object_share`). So the owner
/// need not look for readers elsewhere when it takes something off (reclaim.c). 0: anybody may read it.
#if defined(__x86_64__) && defined(__linux__)
enum { KVO_OWNER_SHIFT = 48 };
#define KVO_OWNER_BITS (~(uintptr_t)0 << KVO_OWNER_SHIFT)
#else
enum { KVO_OWNER_SHIFT = 0 };
#define KVO_OWNER_BITS ((uintptr_t)0)
#endif
/// This thread's name in such a place; 0 while it has no record, or none that fits.
extern __thread uintptr_t kvo_owner_bits __attribute__((tls_model("initial-exec")));

KVO_INLINE uintptr_t kvo_object_word(const kvo_object *object) {
  uintptr_t word = (uintptr_t)__atomic_load_n(&object->observations, __ATOMIC_SEQ_CST);
#ifdef KVO_POISON
  if (word == KVO_POISON_WORD) __builtin_trap(); // the object has been freed
#endif
  return word;
}
/// The object's lock.
KVO_INLINE kvo_hanging kvo_object_hanging(const kvo_object *object) {
  return kvo_object_word(object) & ~KVO_OWNER_BITS;
}
/// Lets all threads read what hangs there, and tells what does. No lock held.
kvo_hanging kvo_object_share(kvo_object *object);
/// What a word that was read under a guard says, or what comes after it.
KVO_INLINE kvo_hanging kvo_word_hanging(uintptr_t word, kvo_object *object) {
  uintptr_t own = word ^ kvo_owner_bits;
  if (KVO_LIKELY(!(own & KVO_OWNER_BITS))) return own;
  return KVO_UNLIKELY(word & KVO_OWNER_BITS) ? kvo_object_share(object) : word;
}
/// Whether this thread alone reads it. The object's lock.
KVO_INLINE bool kvo_object_is_own(const kvo_object *object) {
  uintptr_t owner = kvo_object_word(object) & KVO_OWNER_BITS;
  return owner && owner == kvo_owner_bits;
}
/// Lets all threads read it, unless this one alone does. The object's lock.
KVO_INLINE void kvo_object_share_locked(kvo_object *object) {
  uintptr_t word = kvo_object_word(object), owner = word & KVO_OWNER_BITS;
  if (KVO_LIKELY(!owner || owner == kvo_owner_bits)) return;
  __atomic_store_n(&object->observations, (void *)(word & ~KVO_OWNER_BITS), __ATOMIC_RELEASE);
}
/// Whoever hangs something where nothing hung becomes the owner. The object's lock.
KVO_INLINE void kvo_object_hang(kvo_object *object, kvo_hanging hanging) {
  uintptr_t word = kvo_object_word(object), owner = word ? word & KVO_OWNER_BITS : kvo_owner_bits;
  __atomic_store_n(&object->observations, (void *)(hanging ? hanging | owner : 0),
      __ATOMIC_RELEASE);
}

KVO_INLINE bool kvo_hanging_is_only(kvo_hanging hanging) { return hanging & KVO_OBSERVERS_ONLY; }
KVO_INLINE kvo_table *KVO_NULLABLE kvo_hanging_table(kvo_hanging hanging) {
  return KVO_UNLIKELY(kvo_hanging_is_only(hanging)) ? NULL : (kvo_table *)hanging;
}
KVO_INLINE kvo_registration *KVO_NULLABLE kvo_hanging_only(kvo_hanging hanging) {
  return kvo_hanging_is_only(hanging) ? kvo_observers_single(hanging) : NULL;
}
/// The object's table, if it has one. The object's lock.
KVO_INLINE kvo_table *KVO_NULLABLE kvo_table_of(const kvo_object *object) {
  return kvo_hanging_table(kvo_object_hanging(object));
}
/// An object's only registration, if it has no table. The object's lock.
KVO_INLINE kvo_registration *KVO_NULLABLE kvo_only_of(const kvo_object *object) {
  return kvo_hanging_only(kvo_object_hanging(object));
}

KVO_INLINE size_t kvo_table_home(uintptr_t id, uint32_t mask) {
  return (size_t)(((uint64_t)id * 0x9E3779B97F4A7C15u) >> 32) & mask;
}

/// The cell of a key, or NULL. O(1), however many keys and objects are observed.
KVO_INLINE kvo_cell *KVO_NULLABLE kvo_table_find(kvo_table *table, uintptr_t id) {
  for (size_t i = kvo_table_home(id, table->mask);; i = (i + 1) & table->mask) {
    uintptr_t found = __atomic_load_n(&table->cells[i].id, __ATOMIC_ACQUIRE);
    if (KVO_LIKELY(found == id)) return &table->cells[i];
    if (!found) return NULL;
  }
}

KVO_INLINE kvo_observers kvo_cell_observers(const kvo_cell *cell) {
  return __atomic_load_n(&cell->observers, __ATOMIC_SEQ_CST);
}

/// What the observers of a key ask for together.
KVO_INLINE uint32_t kvo_observers_options(kvo_observers observers) {
  if (KVO_LIKELY(!kvo_observers_is_list(observers)))
    return kvo_observers_single(observers)->options;
  return __atomic_load_n(&kvo_observers_list(observers)->options, __ATOMIC_ACQUIRE);
}
/// How the key is read.
KVO_INLINE uintptr_t kvo_observers_reading(kvo_observers observers) {
  if (KVO_LIKELY(!kvo_observers_is_list(observers)))
    return kvo_observers_single(observers)->reading;
  return __atomic_load_n(&kvo_observers_list(observers)->reading, __ATOMIC_ACQUIRE);
}
KVO_INLINE const kvo_accessors *kvo_observers_accessors(kvo_observers observers) {
  return kvo_reading_accessors(kvo_observers_reading(observers));
}
/// Whether setters of the key notify nobody. Here, so that a change need not look at the accessors.
KVO_INLINE bool kvo_observers_are_manual(kvo_observers observers) {
  return kvo_observers_reading(observers) & KVO_READING_MANUAL;
}
/// Whether a change of the key has to be followed by reading it: it is a binding's tracked one.
KVO_INLINE bool kvo_observers_are_tracked(kvo_observers observers) {
  return kvo_observers_reading(observers) & KVO_READING_TRACKED;
}
/// What the key is derived from. The object's lock.
KVO_INLINE struct kvo_derivation *KVO_NULLABLE kvo_observers_derivation(kvo_observers observers) {
  return kvo_observers_is_list(observers) ? kvo_observers_list(observers)->derivation : NULL;
}

KVO_INLINE kvo_observers kvo_hanging_observers(kvo_hanging hanging, uintptr_t id) {
  if (!hanging) return 0;
  if (kvo_hanging_is_only(hanging))
    return kvo_registration_id(kvo_observers_single(hanging)) == id ? hanging : 0;
  const kvo_cell *cell = kvo_table_find((kvo_table *)hanging, id);
  return cell ? kvo_cell_observers(cell) : 0;
}
/// The observers of a key of a guarded object; 0 if there are none. No lock held.
KVO_INLINE kvo_observers kvo_object_observers(kvo_object *object, uintptr_t id) {
  return kvo_hanging_observers(kvo_word_hanging(kvo_object_word(object), object), id);
}
/// The same with the object's lock held.
KVO_INLINE kvo_observers kvo_object_observers_locked(const kvo_object *object, uintptr_t id) {
  return kvo_hanging_observers(kvo_object_hanging(object), id);
}

/// The object's table, made if there is none, with room for one more key. NULL if memory is out.
kvo_table *KVO_NULLABLE kvo_table_reserve_locked(kvo_object *object,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// The observers of one registration that stands alone.
kvo_observers kvo_observers_of(kvo_registration *registration);
/// Frees the table of an object that no longer needs it.
void kvo_table_trim_locked(kvo_object *object, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// The living object at an address that something hangs at, with a reference; NULL if there is none.
/// The address need not be an object's any more. No lock held. O(observed objects), an nth of them.
kvo_object *KVO_NULLABLE kvo_table_owner_at(const kvo_object *address);

/// Calls `visit` with every object that has registrations, a lock's worth at a time, with that lock
/// held.
void kvo_observed_visit(void (*visit)(void *KVO_NULLABLE context, kvo_object *object),
    void *KVO_NULLABLE context);
/// Calls `visit` with each registration with an object, links among them. The object's lock.
void kvo_registrations_visit_locked(const kvo_object *object,
    void (*visit)(void *KVO_NULLABLE context, kvo_registration *registration),
    void *KVO_NULLABLE context);

/// Hangs a registration at an object where nothing hangs, without a table. False, with nothing changed,
/// if it has to have one, or memory is out. The object's lock.
bool kvo_only_hang_locked(kvo_object *object, kvo_registration *registration);
/// Takes it off again. The object's lock.
void kvo_only_take_off_locked(kvo_object *object, kvo_registration *registration);
/// A table takes its place.
void kvo_only_leave_locked(kvo_registration *registration);
/// Finds it by the object's address. The lock of that address.
kvo_registration *KVO_NULLABLE kvo_only_find_locked(const kvo_object *address);
/// Calls `visit` with all objects of one lock that have only one. That lock.
void kvo_only_visit_locked(size_t lock,
    void (*visit)(void *KVO_NULLABLE context, kvo_object *object), void *KVO_NULLABLE context);

/// Puts the registration behind the others of its key; `as_list`: in a list, though it is the only one.
/// False, with nothing changed, if memory is out.
bool kvo_table_insert_locked(kvo_table *table, kvo_registration *registration, bool as_list,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// The key's list, made if there is a single observer. NULL if memory is out.
kvo_list *KVO_NULLABLE kvo_table_list_locked(kvo_table *table, uintptr_t id,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// Takes a registration out, and tells whether others of its key are left. What no reader needs any more
/// is added to `retired`, the registration not.
bool kvo_table_remove_locked(kvo_table *table, kvo_registration *registration,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Lets go of a list that its cell has let go of.
void kvo_list_retire_locked(kvo_list *list, const kvo_object *object,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
