/// Observation tables: which observers each key of one object has.
#ifndef KVO_TABLE_H
#define KVO_TABLE_H

#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "threads/kvo_thread.h"

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

/// What is counted of a registration that asks for distinct changes alone (distinct.c), and of all in a
/// debug mode; atomic.
typedef struct kvo_counts {
  uint64_t claim; ///< which change was the last to claim the observer
  /// How often telling the observer has begun and has ended.
  uint32_t tellings_begun[KVO_TELLER_SORTS], tellings_ended[KVO_TELLER_SORTS];
  /// How many changes have begun that have not passed the observer over, and how many have done so.
  uint32_t changes_begun[KVO_TELLER_SORTS], changes_passed[KVO_TELLER_SORTS];
  uint32_t hits; ///< calls of the observer
} kvo_counts;

/// One registration, or a link for one at a key further along its path. Immutable while it is
/// live, but for what says otherwise. With very many keys it is memory that a delivery waits for: what
/// it reads comes first, and there is nothing in it that the class or the key could tell.
typedef struct kvo_handle kvo_registration;
struct kvo_handle {
  uint8_t state; ///< KVO_LIVE and so on, atomic
  uint8_t options;
  uint8_t operations;  ///< with KVO_BY_OBSERVER: of the observer (`kvo_operations`)
  uint8_t has_counts;  ///< whether `kvo_registration_counts` finds some for it
  uint32_t references; ///< atomic: the object's table (or limbo), the handle, recipients
  uintptr_t reading;   ///< the accessors of its key, with marks in the lowest bits (below)
  union {
    kvo_callback KVO_NULLABLE callback;
    kvo_object *KVO_NULLABLE
        observer; ///< with KVO_BY_OBSERVER: an unowned reference, until this is reclaimed
  };
  void *KVO_NULLABLE context;
  union {
    struct {
      /// When it could first be found, counted over all registrations (serial.c); atomic. A change whose frame has
      /// counted it finds it at its will; for any other change it came too late.
      uint64_t serial;
      uint32_t thread; ///< the number of the thread that made it; atomic
      uint32_t index;  ///< in its key's list; object lock
      /// Dead once state is KVO_ENDED; its address still names the lock and the hazard pointer.
      kvo_object *object;
    };
    kvo_retired retired; ///< when it has ended; the object is the hazard pointer
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
    kvo_registration
        *KVO_NULLABLE next_only; ///< of an object's only one: in its chain (only_registration.c)
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

/// Of a registration that can be found and has no serial number yet; and of a head some of whose seats can't be found.
#define KVO_NO_SERIAL (UINT64_MAX - 1)
#define KVO_NOT_IN_PLACE UINT64_MAX
/// Gives a registration with KVO_NO_SERIAL a number, unless another thread does so first, and returns the one that it has.
uint64_t kvo_registration_take_serial(const kvo_registration *registration);
/// When a registration ends, this is overwritten: ask for the state afterwards.
KVO_INLINE uint64_t kvo_registration_serial(const kvo_registration *registration) {
  uint64_t serial = __atomic_load_n(&registration->serial, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(serial != KVO_NO_SERIAL) ? serial : kvo_registration_take_serial(registration);
}
/// The same as below, of one that a change did not count, or that has no number yet.
bool kvo_registration_was_numbered(const kvo_registration *registration, uint64_t counted);
/// Whether a change that had counted as many when it began could find it.
KVO_INLINE bool kvo_registration_was_there(const kvo_registration *registration, uint64_t counted) {
  return KVO_LIKELY(__atomic_load_n(&registration->serial, __ATOMIC_ACQUIRE) <= counted) ||
         kvo_registration_was_numbered(registration, counted);
}
KVO_INLINE uint32_t kvo_registration_thread(const kvo_registration *registration) {
  return __atomic_load_n(&registration->thread, __ATOMIC_ACQUIRE);
}

/// Accessors with marks. Manual is also what methods of the class's own announce (announced.c).
enum { KVO_READING_MANUAL = 1, KVO_READING_TRACKED = 2, KVO_READING_MARKS = 3 };
KVO_INLINE const kvo_accessors *kvo_reading_accessors(uintptr_t reading) {
  return (const kvo_accessors *)(reading & ~(uintptr_t)KVO_READING_MARKS);
}
KVO_INLINE uintptr_t kvo_reading_of(const kvo_accessors *accessors) {
  bool is_tracked = accessors->is_bound && accessors->property->track;
  bool is_automatic = kvo_accessors_automatic(accessors) == KVO_BY_SETTER;
  return (uintptr_t)accessors | (is_automatic ? 0 : KVO_READING_MANUAL) |
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

/// Where a registration of several keys observes one of them alone, asking for no more than old and new: all
/// else lies in the group's head, behind which its seats are (kvo_group.h). A delivery is told from here.
/// Whatever needs a registration has one made for the key (seats.c). Immutable.
///
/// It begins as a registration does, so that the short way (kvo_short.h) need not ask which of the two it has found.
typedef struct kvo_seat {
  uint8_t state;   ///< KVO_LIVE; the head's tells
  uint8_t options; ///< the head's, with KVO_SEATED
  uint32_t index;  ///< which of the group's keys it is
  uintptr_t
      reading; ///< as a registration's, without marks; 0: the key has a registration from the first
} kvo_seat;
/// Among the options of a seat. No registration has both.
enum { KVO_SEATED = KVO_GROUPED | KVO_BY_OBSERVER };

KVO_INLINE kvo_registration *kvo_seat_head(const kvo_seat *seat) {
  return (kvo_registration *)(uintptr_t)(seat - seat->index) - 1;
}
KVO_INLINE const kvo_accessors *kvo_seat_accessors(const kvo_seat *seat) {
  return (const kvo_accessors *)seat->reading;
}
/// Whether it is a head: it is in the cells of many keys or, if all of them have registrations, in none.
KVO_INLINE bool kvo_registration_is_head(const kvo_registration *registration) {
  return !registration->reading;
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

/// Marks of `kvo_observers`.
enum {
  KVO_OBSERVERS_LIST = 1,
  /// One registration, no list, that a change can be told to the short way (kvo_short.h).
  KVO_OBSERVERS_PLAIN = 2,
  /// In a cell: a seat, which is a plain one.
  KVO_OBSERVERS_SEAT = 4,
  /// In the object itself: the registration that is its only one.
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
KVO_INLINE bool kvo_observers_is_seat(kvo_observers observers) {
  return observers & KVO_OBSERVERS_SEAT;
}
KVO_INLINE const kvo_seat *kvo_observers_seat(kvo_observers observers) {
  return (const kvo_seat *)(observers & ~(uintptr_t)KVO_OBSERVERS_MARKS);
}
/// Of what is no list; of a seat, what it has as a registration has it: `options`, `reading`.
KVO_INLINE kvo_registration *kvo_observers_registration(kvo_observers observers) {
  return (kvo_registration *)(observers & ~(uintptr_t)KVO_OBSERVERS_MARKS);
}
/// The one registration of what is no list; of a seat, its group's head.
KVO_INLINE kvo_registration *kvo_observers_single(kvo_observers observers) {
  return KVO_UNLIKELY(kvo_observers_is_seat(observers))
             ? kvo_seat_head(kvo_observers_seat(observers))
             : kvo_observers_registration(observers);
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
  uint32_t naming; ///< which elements its will has named (manual.c)
  const char *key;
  uintptr_t id;
  uint64_t serial;
  kvo_distinction distinction; ///< of an observer with `KVO_DISTINCT` that was the only one
  bool joined;                 ///< inside an automatic change: its did delivers nothing
  bool is_reported;            ///< that memory was out for some of it
  bool has_old;
  kvo_value old_value;
  struct kvo_propagation *KVO_NULLABLE propagation; ///< as a frame's
  const char *class_name;
  /// Links of its thread's list. Pairs lock (manual.c).
  struct kvo_open_pair *KVO_NULLABLE next_of_thread;
  struct kvo_open_pair *KVO_NULLABLE *KVO_NULLABLE link_of_thread;
} kvo_open_pair;

/// A value that is kept with an object (associations.c). Object lock.
typedef struct kvo_association kvo_association;

/// What hangs at an object that is observed, observes, has a change by hand open, or a value kept with it. Replaced by a
/// larger one when its cells are full. Written under the object's lock; the cells are read by
/// deliveries that protect the object.
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
  kvo_association *KVO_NULLABLE associations;     ///< the one added last
  kvo_cell cells[];
};
typedef struct kvo_table kvo_table;

/// Whether a change has to be told the long way (propagation.c): the key has links or derived keys, or several
/// observers may have to be passed over.
KVO_INLINE bool kvo_observers_propagate(kvo_observers observers, uint32_t options) {
  return options & KVO_LINKED || (options & KVO_DISTINCT && kvo_observers_is_list(observers));
}

/// What hangs at an object, without a table where that is one registration of a key: then its observers,
/// marked.
typedef uintptr_t kvo_hanging;

/// Which thread owns an object's observations. Where the highest bits of an address are free, those of an object's
/// word name the thread that hung something there while nothing did: no other reads it without the object's
/// lock, or calls its observers, before it has taken the name off under that (`kvo_object_share`). So the owner
/// need not look for readers elsewhere when it takes something off (reclaim.c). 0: anybody may read it.

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
/// What a word that was read under a hazard pointer says, or what comes after it.
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
/// The thread that hangs something where nothing hung becomes the owner. The object's lock.
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
  return kvo_hanging_is_only(hanging) ? kvo_observers_registration(hanging) : NULL;
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
    return kvo_observers_registration(observers)->options;
  return __atomic_load_n(&kvo_observers_list(observers)->options, __ATOMIC_ACQUIRE);
}
/// How the key is read.
KVO_INLINE uintptr_t kvo_observers_reading(kvo_observers observers) {
  if (KVO_LIKELY(!kvo_observers_is_list(observers)))
    return kvo_observers_registration(observers)->reading;
  return __atomic_load_n(&kvo_observers_list(observers)->reading, __ATOMIC_ACQUIRE);
}
KVO_INLINE const kvo_accessors *kvo_observers_accessors(kvo_observers observers) {
  return kvo_reading_accessors(kvo_observers_reading(observers));
}
/// Whether a setter of the key notifies no observer by itself: either it never does, or methods of the class announce the change.
/// Kept here so that a change need not look at the accessors.
KVO_INLINE bool kvo_observers_are_manual(kvo_observers observers) {
  return kvo_observers_reading(observers) & KVO_READING_MANUAL;
}
/// Whether methods of the class announce automatic changes of a key that is marked manual.
KVO_INLINE bool kvo_observers_are_announced(kvo_observers observers) {
  return kvo_accessors_automatic(kvo_observers_accessors(observers)) == KVO_BY_ANNOUNCER;
}
/// Whether a change of the key has to be followed by reading it: it is a binding's tracked one.
KVO_INLINE bool kvo_observers_are_tracked(kvo_observers observers) {
  return kvo_observers_reading(observers) & KVO_READING_TRACKED;
}
/// What the key is derived from. The object's lock.
KVO_INLINE struct kvo_derivation *KVO_NULLABLE kvo_observers_derivation(kvo_observers observers) {
  return kvo_observers_is_list(observers) ? kvo_observers_list(observers)->derivation : NULL;
}

/// As they would be in a cell.
KVO_INLINE kvo_observers kvo_hanging_observers_of_only(kvo_hanging hanging) {
  return hanging & ~(uintptr_t)KVO_OBSERVERS_ONLY;
}
KVO_INLINE kvo_observers kvo_hanging_observers(kvo_hanging hanging, uintptr_t id) {
  if (!hanging) return 0;
  if (kvo_hanging_is_only(hanging))
    return kvo_registration_id(kvo_observers_registration(hanging)) == id
               ? kvo_hanging_observers_of_only(hanging)
               : 0;
  const kvo_cell *cell = kvo_table_find((kvo_table *)hanging, id);
  return cell ? kvo_cell_observers(cell) : 0;
}
/// The observers of a key of a protected object; 0 if there are none. No lock held.
KVO_INLINE kvo_observers kvo_object_observers(kvo_object *object, uintptr_t id) {
#ifdef KVO_POISON
  if (!kvo_thread_protects(object)) __builtin_trap(); // what is read here might be freed meanwhile
#endif
  return kvo_hanging_observers(kvo_word_hanging(kvo_object_word(object), object), id);
}
/// The same with the object's lock held.
KVO_INLINE kvo_observers kvo_object_observers_locked(const kvo_object *object, uintptr_t id) {
  return kvo_hanging_observers(kvo_object_hanging(object), id);
}

/// The object's table, made if there is none, with room for so many more keys. NULL if memory is out.
kvo_table *KVO_NULLABLE kvo_table_reserve_locked(kvo_object *object, uint32_t keys,
    kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);
/// The observers of one registration that stands alone.
kvo_observers kvo_observers_of(kvo_registration *registration);
/// Frees the table of an object that no longer needs it.
void kvo_table_trim_locked(kvo_object *object, kvo_retired *KVO_NULLABLE *KVO_NONNULL retired);

/// Gives back what is kept with an object that dies. No lock held.
void kvo_associations_end_with(kvo_object *object);

/// The living object at an address that something hangs at, with a reference; NULL if there is none.
/// The address need not be an object's any more. No lock held. O(observed objects), an nth of them.
kvo_object *KVO_NULLABLE kvo_table_owner_at(const kvo_object *address);

/// Calls `visit` with every object that has registrations, a lock's worth at a time, with that lock
/// held.
void kvo_observed_visit(void (*visit)(void *KVO_NULLABLE context, kvo_object *object),
    void *KVO_NULLABLE context);
/// Called with a registration; of a seat with its head, and that.
typedef void (*kvo_registration_visitor)(void *KVO_NULLABLE context, kvo_registration *registration,
    const kvo_seat *KVO_NULLABLE seat);
/// Calls `visit` with each registration with an object, links among them. The object's lock.
void kvo_registrations_visit_locked(const kvo_object *object, kvo_registration_visitor visit,
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
/// Puts a seat where the key has no observer. False, with nothing changed, if it has one.
bool kvo_table_seat_locked(kvo_table *table, const kvo_seat *seat);
/// Takes it out again, if it is there.
void kvo_table_unseat_locked(kvo_table *table, const kvo_seat *seat);
/// Puts a registration in the place of a seat. Without memory for it, false, with nothing changed.
bool kvo_cell_promote_locked(kvo_cell *cell);
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
