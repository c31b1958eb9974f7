// Ends registrations (C5, I2). removal.c determines which registration a removal of an observer means.
//
// The thread that turns a registration's state from live to ended, under the observed object's lock, unlinks and
// retires it. Other threads find it ended and leave it alone. It is freed, after a call of `ended`, when no delivery
// of the object can be reading it and its handle has been released.
#include "tables/kvo_registration.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "classes/kvo_dynamic_class.h"
#include "graph/kvo_graph.h"
#include "tables/kvo_distinct.h"
#include "tables/kvo_group.h"

#include <stdio.h>

void kvo_registration_retain(kvo_registration *registration) {
  __atomic_fetch_add(&registration->references, 1, __ATOMIC_RELAXED);
}

const char *kvo_registration_key_path(const kvo_registration *registration) {
  if (KVO_LIKELY(!(registration->options & KVO_PATH_NODE)))
    return kvo_registration_accessors(registration)->key;
  return ((const kvo_path_node *)registration)->observation->path->text;
}

kvo_counts *kvo_registration_counts(kvo_registration *registration) {
  if (!registration->has_counts) return NULL;
  if (registration->options & KVO_GROUPED) return kvo_group_counts(registration->group);
  return (kvo_counts *)(registration + 1);
}

static __attribute__((noinline)) void log_registration(const kvo_registration *registration,
    const char *what) {
  char recipient[KVO_RECIPIENT_NAME];
  kvo_registration_name_recipient(registration, registration->context, recipient, sizeof recipient);
  fprintf(stderr, "KVO: registration %s: \"%s\" of %p by %s, options %#x, context %p\n", what,
      kvo_registration_key_path(registration), (void *)registration->object, recipient,
      (unsigned)(registration->options & KVO_ALL_OPTIONS), registration->context);
}

void kvo_log_registration(const kvo_registration *registration, const char *what) {
  if (KVO_UNLIKELY(kvo_log_flags & KVO_LOG_REGISTRATIONS)) log_registration(registration, what);
}

void kvo_registration_release(kvo_registration *registration) {
  // The only reference needs no atomic decrement.
  bool is_last = __atomic_load_n(&registration->references, __ATOMIC_ACQUIRE) == 1;
  if (!is_last && __atomic_sub_fetch(&registration->references, 1, __ATOMIC_ACQ_REL)) return;
  if (registration->options & KVO_GROUPED) {
    kvo_group_member_free(registration);
    return;
  }
  kvo_path_node *node = kvo_path_node_of(registration);
  if (node) kvo_path_observation_release(node->observation);
  kvo_free(registration);
}

void kvo_registration_reclaim(kvo_retired *retired, struct kvo_known **taken) {
  kvo_registration *registration = kvo_retired_registration(retired);
  if (KVO_UNLIKELY(registration->options & KVO_DISTINCT)) kvo_distinct_take(registration, taken);
  if (registration->options & KVO_GROUPED) kvo_group_member_ended(registration);
  else if (registration->options & KVO_BY_OBSERVER)
    kvo_registration_operations(registration)->unowned_release(registration->observer);
  else if (registration->ended) registration->ended(registration->context);
  kvo_registration_release(registration);
}

static void retire_entry(kvo_registration *registration, kvo_retired **retired) {
  bool has_end = !(registration->options & KVO_BY_OBSERVER) && registration->ended;
  bool reports_end = has_end || registration->options & KVO_DISTINCT;
  kvo_retire_protected(retired, &registration->retired,
      reports_end ? KVO_RETIRED_REPORTING : KVO_RETIRED_SILENT);
}

static void unlink_from_observer_locked(kvo_registration *registration) {
  if (!(registration->options & KVO_BY_OBSERVER) || !registration->link_watched) return;
  *registration->link_watched = registration->next_watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = registration->link_watched;
  registration->link_watched = NULL;
}

static kvo_dependent_key *dependent_key_of_locked(const kvo_registration *registration) {
  if (kvo_registration_is_group_head(registration)) return NULL;
  return kvo_observers_dependent_key(kvo_object_observers_locked(registration->object,
      kvo_registration_id(registration)));
}

// Removes a registration from its object's table. True if the key has others left.
static bool remove_locked(kvo_registration *registration, kvo_table *table, kvo_retired **retired) {
  if (KVO_LIKELY(!kvo_registration_is_group_head(registration)))
    return kvo_table_remove_locked(table, registration, retired);
  const kvo_group_key *group_keys = kvo_group_keys(registration->group);
  for (uint32_t i = 0; i < registration->group->count; i++)
    if (group_keys[i].tagged_accessors) kvo_table_remove_group_key_locked(table, &group_keys[i]);
  return false;
}

// Takes a registration that has ended out of its object's table and its observer's list. The caller retires it, and
// ends the dependent key that the result names.
static kvo_removal_result end_in_table_locked(kvo_registration *registration, kvo_table *table,
    kvo_retired **retired) {
  kvo_object *object = registration->object;
  kvo_dependent_key *dependent_key =
      table->graph_entries ? dependent_key_of_locked(registration) : NULL;
  kvo_removal_result removal = {0};
  if (remove_locked(registration, table, retired)) {
    removal.maybe_unused = dependent_key;
  } else if (dependent_key) {
    kvo_dependent_key_mark_ended_locked(table, dependent_key);
    removal.detached = dependent_key;
  }
  unlink_from_observer_locked(registration);
  if (!table->live) kvo_swizzle_out_locked(object);
  // Last: once an object's observation word is empty, another thread may free the object. The observer may be dead,
  // but the registration keeps its memory.
  kvo_table_trim_locked(object, retired);
  kvo_object *observer = kvo_registration_observer(registration);
  if (observer && observer != object) kvo_table_trim_locked(observer, retired);
  return removal;
}

// Whether no other thread can be calling the registration. A registration with a path is also found from objects
// further along.
static bool is_unshared_locked(const kvo_registration *registration) {
  if (registration->options & KVO_PATH_NODE) return false;
  kvo_object *observer = kvo_registration_observer(registration);
  return kvo_object_is_own(registration->object) && (!observer || kvo_object_is_own(observer));
}

KVO_INLINE kvo_removal_result end_one_locked(kvo_registration *registration,
    kvo_retired **retired) {
  kvo_object *object = registration->object;
  kvo_table *table = kvo_table_of(object);
  kvo_removal_result removal = {0};
  kvo_retired *before = *retired;
  bool is_own = is_unshared_locked(registration);
  kvo_registration_set_state(registration, KVO_ENDED);
  if (table) {
    removal = end_in_table_locked(registration, table, retired);
  } else {
    kvo_swizzle_out_locked(object);
    kvo_inline_registration_remove_locked(object,
        registration); // last: the object may be freed from then on
  }
  retire_entry(registration, retired);
  if (is_own) kvo_retire_mark_own(*retired, before);
  return removal;
}

// The head that must end together with this registration, if it is live: as soon as one registration of a group ends,
// all its group keys end.
static kvo_registration *live_head(const kvo_registration *registration) {
  kvo_registration *head = kvo_group_head(registration);
  return head && head != registration && head->state == KVO_LIVE ? head : NULL;
}

KVO_INLINE kvo_removal_result end_with_head_locked(kvo_registration *registration,
    kvo_retired **retired) {
  kvo_registration *head = live_head(registration);
  if (KVO_UNLIKELY(head != NULL)) end_one_locked(head, retired);
  return end_one_locked(registration, retired);
}

// Whether more than the entry would end. Then the graph lock is needed.
KVO_INLINE bool reaches_further_locked(const kvo_registration *registration) {
  if (registration->options & KVO_PATH_NODE) return true;
  const kvo_table *table = kvo_table_of(registration->object);
  return table && table->graph_entries && dependent_key_of_locked(registration);
}

bool kvo_registration_take_out_locked(kvo_registration *registration, kvo_retired **retired) {
  if (reaches_further_locked(registration)) return false;
  end_with_head_locked(registration, retired);
  return true;
}

bool kvo_registration_take_out(kvo_registration *registration, kvo_removal_result *removal,
    kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(registration->object, kvo_registration_observer(registration));
  if (registration->state != KVO_LIVE) return true;
  if (!removal) return kvo_registration_take_out_locked(registration, retired);
  *removal = end_with_head_locked(registration, retired);
  return true;
}

static void end_in_graph(kvo_registration *registration, kvo_retired **retired) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_entry_end_locked(registration, retired);
}

bool kvo_registration_unlink(kvo_registration *registration, kvo_retired **retired) {
  kvo_retired *before = *retired;
  if (kvo_registration_state(registration) != KVO_LIVE) return false;
  if (!kvo_registration_take_out(registration, NULL, retired)) end_in_graph(registration, retired);
  if (*retired == before) return false;
  kvo_log_registration(registration, "ended");
  return true;
}

bool kvo_registration_end(kvo_registration *registration) {
  kvo_retired *retired = NULL;
  bool ended = kvo_registration_unlink(registration, &retired);
  kvo_retire(retired);
  return ended;
}

void kvo_handle_invalidate(kvo_handle *handle) {
  if (handle->options & KVO_GROUPED) kvo_group_end(handle->group);
  else kvo_registration_end(handle);
}

bool kvo_handle_is_valid(const kvo_handle *handle) {
  return handle->options & KVO_GROUPED ? kvo_group_is_valid(handle->group)
                                       : kvo_registration_state(handle) == KVO_LIVE;
}

// The reference is given back first, since retiring may throw. What is retired has a reference of its own.
void kvo_handle_release(kvo_handle *handle) {
  kvo_retired *retired = NULL;
  if (!handle) return;
  if (handle->options & KVO_GROUPED) kvo_group_unlink(handle->group, &retired);
  else kvo_registration_unlink(handle, &retired);
  kvo_registration_release(handle);
  kvo_retire(retired);
}

// MARK: Ending many

// These functions build two chains. `ended` has the registrations, whose observers' lists have yet to drop them, and
// whose `ended` functions may throw, so that it is retired last. `retired` has the memory that is no longer needed.

static void end_entry_locked(kvo_registration *registration, kvo_retired **ended) {
  kvo_registration *head = live_head(registration);
  if (KVO_UNLIKELY(head != NULL)) end_entry_locked(head, ended);
  if (registration->state != KVO_LIVE) return; // a head, found before at another of its keys
  kvo_registration_set_state(registration, KVO_ENDED);
  if (registration->options & KVO_GROUPED)
    registration->group->has_ended = true; // another thread may be inserting the group's other keys
  retire_entry(registration, ended);
}

static void empty_cell_locked(kvo_object *object, kvo_cell *cell, kvo_retired **ended,
    kvo_retired **retired) {
  kvo_observers observers = cell->observers;
  if (!observers) return;
  __atomic_store_n(&cell->observers, 0, __ATOMIC_SEQ_CST);
  if (!kvo_observers_is_list(observers)) {
    end_entry_locked(kvo_observers_single(observers), ended);
    return;
  }
  kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = list->count; i-- > 0;)
    if (list->items[i]) end_entry_locked(list->items[i], ended);
  kvo_list_retire_locked(list, object, retired);
}

// Ends all registrations and nodes of an object in one critical section of its lock. Returns the chain of them. The
// dependent keys to end are linked by `next`.
static kvo_retired *empty_object_locked(kvo_object *object, kvo_dependent_key **orphans,
    kvo_retired **retired) {
  kvo_retired *ended = NULL;
  kvo_table *table = kvo_table_of(object);
  kvo_registration *inline_registration = kvo_object_inline_registration(object);
  if (inline_registration) end_entry_locked(inline_registration, &ended);
  for (uint32_t i = 0; table && i <= table->mask; i++) {
    kvo_dependent_key *orphan = kvo_observers_dependent_key(table->cells[i].observers);
    empty_cell_locked(object, &table->cells[i], &ended, retired);
    if (!orphan) continue;
    kvo_dependent_key_mark_ended_locked(table, orphan);
    orphan->next = *orphans;
    *orphans = orphan;
  }
  if (table) table->live = table->graph_entries = 0;
  kvo_swizzle_out_locked(object);
  if (inline_registration) kvo_inline_registration_remove_locked(object, inline_registration);
  else kvo_table_trim_locked(object, retired);
  return ended;
}

static kvo_retired *empty_object(kvo_object *object, kvo_dependent_key **orphans,
    kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(object, NULL);
  return empty_object_locked(object, orphans, retired);
}

// Ends what belonged to the ended registrations elsewhere: their paths' nodes at other objects, and what followed the
// derived keys that have lost their observers (`orphans`).
static void end_detached_locked(kvo_retired *ended, kvo_dependent_key *orphans,
    kvo_retired **retired) {
  for (kvo_retired *one = ended; one; one = kvo_retired_next(one)) {
    kvo_registration *entry = kvo_retired_registration(one);
    if (kvo_path_node_of(entry)) kvo_entry_end_locked(entry, retired);
  }
  for (kvo_dependent_key *next; orphans; orphans = next) {
    next = orphans->next;
    kvo_dependent_key_end_locked(orphans, retired);
  }
}

// Whether some of the registrations belong to observer objects, whose lists other threads may be reading.
static bool has_observer_objects(kvo_retired *ended) {
  for (; ended; ended = kvo_retired_next(ended))
    if (kvo_retired_registration(ended)->options & KVO_BY_OBSERVER) return true;
  return false;
}

// Ends all registrations of an object without nodes and derived keys. Returns false, with nothing changed, if there are
// any: then the graph lock has to be taken first.
static bool empty_plain_object(kvo_object *object, kvo_retired **ended, kvo_retired **retired) {
  kvo_dependent_key *none = NULL;
  KVO_LOCKED_OBJECTS(object, NULL);
  const kvo_table *table = kvo_table_of(object);
  if (table && table->graph_entries) return false;
  bool is_own = kvo_object_is_own(object);
  *ended = empty_object_locked(object, &none, retired);
  if (!is_own) return true;
  kvo_retire_mark_own(*retired, NULL);
  if (!has_observer_objects(*ended)) kvo_retire_mark_own(*ended, NULL);
  return true;
}

static kvo_retired *empty_object_in_graph(kvo_object *object, kvo_retired **retired) {
  kvo_dependent_key *orphans = NULL;
  KVO_LOCKED(&kvo_graph_lock);
  kvo_retired *ended = empty_object(object, &orphans, retired);
  end_detached_locked(ended, orphans, retired);
  return ended;
}

static void unlink_from_observer(kvo_registration *registration) {
  kvo_retired *table = NULL;
  {
    KVO_LOCKED_OBJECTS(registration->observer, NULL);
    bool linked = registration->link_watched != NULL;
    unlink_from_observer_locked(registration);
    if (linked) kvo_table_trim_locked(registration->observer, &table);
  }
  kvo_retire(table);
}

// The table was emptied in one critical section of the object's lock. The observers' lists follow one by one, before
// anything is retired.
static void unlink_and_retire_all(kvo_retired *ended, kvo_retired *retired) {
  for (kvo_retired *link = ended; link; link = kvo_retired_next(link)) {
    kvo_registration *registration = kvo_retired_registration(link);
    kvo_log_registration(registration, "ended");
    if (registration->options & KVO_BY_OBSERVER) unlink_from_observer(registration);
  }
  kvo_retire(retired);
  kvo_retire(ended); // last, since it may throw
}

void kvo_registrations_end_of_observed(kvo_object *object) {
  kvo_retired *retired = NULL, *ended = NULL;
  if (!empty_plain_object(object, &ended, &retired))
    ended = empty_object_in_graph(object, &retired);
  unlink_and_retire_all(ended, retired);
}

typedef struct {
  kvo_registration **items; // retained
  size_t count, ended;
} held_registrations;

static void hold_if_direct(void *context, kvo_registration *registration,
    const kvo_group_key *group_key) {
  held_registrations *held = context;
  (void)group_key;
  if (!kvo_registration_is_direct(registration)) return;
  kvo_registration_retain(registration);
  held->items[held->count++] = registration;
}

static held_registrations hold_direct(kvo_object *object) {
  held_registrations held = {0};
  KVO_LOCKED_OBJECTS(object, NULL);
  const kvo_table *table = kvo_table_of(object);
  held.items = kvo_alloc((table ? table->live : 1) * sizeof *held.items + 1);
  if (held.items) kvo_registrations_visit_locked(object, hold_if_direct, &held);
  return held;
}

typedef struct {
  uint64_t serial;
  kvo_registration *found;
} earlier;

static void find_direct_before(void *context, kvo_registration *registration,
    const kvo_group_key *group_key) {
  earlier *earlier = context;
  (void)group_key;
  bool matches =
      registration->serial <= earlier->serial && kvo_registration_is_direct(registration);
  if (matches && !earlier->found) earlier->found = registration;
}

static kvo_registration *hold_direct_before(kvo_object *object, uint64_t serial) {
  earlier earlier = {.serial = serial};
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_registrations_visit_locked(object, find_direct_before, &earlier);
  if (earlier.found) kvo_registration_retain(earlier.found);
  return earlier.found;
}

// Used if there is no memory to hold all registrations at once. Registrations that an `ended` function makes during
// the call stay. An `ended` function may drop the object.
static void end_one_by_one(kvo_object *object) {
  bool is_held = kvo_object_retain_memory(object);
  uint64_t serial = __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST);
  kvo_registration *found;
  while ((found = hold_direct_before(object, serial))) kvo_handle_release(found);
  if (is_held) kvo_object_release(object);
}

// Called again if ending one throws. `kvo_handle_release` ends all of a group, which is one observer. So it also ends a
// registration that another thread has promoted since `hold_direct`.
static void end_held(void *opaque) {
  held_registrations *held = opaque;
  while (held->ended < held->count) kvo_handle_release(held->items[held->ended++]);
  kvo_free(held->items);
}

// Nodes that serve registrations of other objects stay.
void kvo_remove_all_observers(kvo_object *object) {
  kvo_retired *retired = NULL, *ended = NULL;
  if (empty_plain_object(object, &ended, &retired)) {
    unlink_and_retire_all(ended, retired);
    return;
  }
  held_registrations held = hold_direct(object);
  if (!held.items) end_one_by_one(object);
  kvo_until_done(end_held, &held);
}

// MARK: Ending an observer's registrations

static kvo_registration *hold_first_watched(kvo_object *observer) {
  KVO_LOCKED_OBJECTS(observer, NULL);
  kvo_table *table = kvo_table_of(observer);
  kvo_registration *first = table ? table->watched : NULL;
  if (first) kvo_registration_retain(first);
  return first;
}

// If the observed object is dying on another thread, that thread may have ended a registration and not yet unlinked it
// from this list. Then this thread unlinks it, and the other one finds that done.
void kvo_registrations_end_of_observer(kvo_object *observer) {
  kvo_registration *first;
  while ((first = hold_first_watched(observer))) {
    kvo_retired *retired = NULL;
    if (!kvo_registration_unlink(first, &retired)) unlink_from_observer(first);
    kvo_registration_release(first);
    kvo_retire(retired);
  }
}
