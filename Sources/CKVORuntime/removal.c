// The ends of registrations.
//
// Whoever turns a registration's state from live to ended, under the observed object's lock,
// unlinks it and retires it; the others find it ended and leave it alone. It is freed, `ended`
// having been called, when no delivery of the object can be reading it and its handle has been
// released.
#include "kvo_registration.h"

#include "kvo_fail.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_swizzle.h"

static void let_go(kvo_registration *registration) {
  if (__atomic_sub_fetch(&registration->references, 1, __ATOMIC_ACQ_REL) == 0)
    kvo_free(registration);
}

static void reclaim(kvo_retired *retired) {
  kvo_registration *registration = kvo_retired_registration(retired);
  if (registration->ended) registration->ended(registration->context);
  if (registration->observer) registration->operations->unowned_release(registration->observer);
  let_go(registration);
}

static void unlink_from_observer_locked(kvo_registration *registration) {
  if (!registration->link_watched) return;
  *registration->link_watched = registration->next_watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = registration->link_watched;
  registration->link_watched = NULL;
}

// What ends one registration, with its locks held; the caller retires the chain afterwards.
static bool end_locked(kvo_registration *registration, kvo_retired **retired) {
  if (registration->state != KVO_LIVE) return false;
  kvo_object *object = registration->object;
  kvo_table *table = object->observations;
  __atomic_store_n(&registration->state, KVO_ENDED, __ATOMIC_SEQ_CST);
  kvo_table_remove_locked(table, registration, retired);
  unlink_from_observer_locked(registration);
  if (!table->live) kvo_swizzle_out_locked(object);
  kvo_table_trim_locked(object, retired);
  if (registration->observer) kvo_table_trim_locked(registration->observer, retired);
  kvo_retire_add(retired, &registration->retired, object, reclaim);
  return true;
}

bool kvo_registration_end(kvo_registration *registration) {
  kvo_retired *retired = NULL;
  {
    KVO_LOCKED_OBJECTS(registration->object, registration->observer);
    if (!end_locked(registration, &retired)) return false;
  }
  kvo_log_registration(registration, "ended");
  kvo_retire(retired);
  return true;
}

void kvo_handle_invalidate(kvo_handle *handle) { kvo_registration_end(handle); }

bool kvo_handle_is_valid(const kvo_handle *handle) {
  return __atomic_load_n(&handle->state, __ATOMIC_ACQUIRE) == KVO_LIVE;
}

void kvo_handle_release(kvo_handle *handle) {
  if (!handle) return;
  kvo_registration_end(handle);
  let_go(handle);
}

typedef struct match {
  const char *key; // interned: keys of a binding that share a storage share an id, too
  const kvo_object *observer;
  bool any_context;
  const void *context;
} match;

static bool matches(const kvo_registration *registration, const match *wanted) {
  return registration && registration->observer == wanted->observer &&
         registration->key_path == wanted->key &&
         (wanted->any_context || registration->context == wanted->context);
}

// The most recent one of several. It is in the key's list and in the observer's, either of which
// may be long: the search goes through both at once, newest first, and ends with the shorter one.
static kvo_registration *find_in_list_locked(kvo_list *list, kvo_object *object, uintptr_t id,
    const match *wanted) {
  kvo_table *table = wanted->observer->observations;
  kvo_registration *watched = table ? table->watched : NULL;
  for (uint32_t i = list->count; i-- > 0 && watched; watched = watched->next_watched) {
    if (matches(list->items[i], wanted)) return list->items[i];
    if (watched->object == object && watched->id == id && matches(watched, wanted)) return watched;
  }
  return NULL;
}

static kvo_registration *find_locked(kvo_object *object, uintptr_t id, const match *wanted) {
  kvo_table *table = object->observations;
  kvo_cell *cell = table ? kvo_table_find(table, id) : NULL;
  if (!cell || !cell->observers) return NULL;
  if (kvo_observers_is_list(cell->observers))
    return find_in_list_locked(kvo_observers_list(cell->observers), object, id, wanted);
  kvo_registration *single = kvo_observers_single(cell->observers);
  return matches(single, wanted) ? single : NULL;
}

static kvo_status remove_matching(kvo_object *object, const char *key_path, match *wanted,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  wanted->key = kvo_key_find(key_path);
  uintptr_t id = kvo_class_key_id(cls, wanted->key);
  kvo_retired *retired = NULL;
  kvo_registration *found = NULL;
  if (id) {
    KVO_LOCKED_OBJECTS(object, wanted->observer);
    found = find_locked(object, id, wanted);
    if (found) end_locked(found, &retired);
  }
  if (found) {
    kvo_log_registration(found, "removed");
    kvo_retire(retired);
    return KVO_OK;
  }
  char observer[128];
  kvo_object_describe(wanted->observer, observer, sizeof observer);
  return kvo_fail(error, KVO_NOT_REGISTERED, cls->name, key_path,
      "%s is not registered as an observer of \"%s\" of %s%s.", observer, key_path, cls->name,
      wanted->any_context ? "" : " with that context");
}

kvo_status kvo_remove_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_error *error) {
  return remove_matching(object, key_path, &(match){.observer = observer, .any_context = true},
      error);
}

kvo_status kvo_remove_observer_with_context(kvo_object *object, kvo_object *observer,
    const char *key_path, void *context, kvo_error *error) {
  return remove_matching(object, key_path, &(match){.observer = observer, .context = context},
      error);
}

// MARK: Ending many

static void end_for_chain_locked(kvo_registration *registration, kvo_retired **chain) {
  __atomic_store_n(&registration->state, KVO_ENDED, __ATOMIC_SEQ_CST);
  kvo_retire_add(chain, &registration->retired, registration->object, reclaim);
}

static void empty_cell_locked(kvo_object *object, kvo_cell *cell, kvo_retired **chain,
    kvo_retired **retired) {
  kvo_observers observers = cell->observers;
  if (!observers) return;
  __atomic_store_n(&cell->observers, 0, __ATOMIC_SEQ_CST);
  if (!kvo_observers_is_list(observers)) {
    end_for_chain_locked(kvo_observers_single(observers), chain);
    return;
  }
  kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = list->count; i-- > 0;)
    if (list->items[i]) end_for_chain_locked(list->items[i], chain);
  kvo_retire_add(retired, &list->retired, object, kvo_free_retired);
}

static kvo_retired *end_all_locked(kvo_object *object, kvo_retired **retired) {
  kvo_retired *chain = NULL;
  kvo_table *table = object->observations;
  for (uint32_t i = 0; table && i <= table->mask; i++)
    empty_cell_locked(object, &table->cells[i], &chain, retired);
  if (table) table->live = 0;
  kvo_swizzle_out_locked(object);
  kvo_table_trim_locked(object, retired);
  return chain;
}

// The table is emptied under the object's lock at once; the observers' lists follow one by one,
// before anything is retired.
void kvo_registrations_end_with(kvo_object *object) {
  kvo_retired *retired = NULL, *chain;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    chain = end_all_locked(object, &retired);
  }
  for (kvo_retired *link = chain; link; link = link->next) {
    kvo_registration *registration = kvo_retired_registration(link);
    kvo_log_registration(registration, "ended");
    if (!registration->observer) continue;
    kvo_retired *table = NULL;
    {
      KVO_LOCKED_OBJECTS(registration->observer, NULL);
      bool linked = registration->link_watched != NULL;
      unlink_from_observer_locked(registration);
      if (linked) kvo_table_trim_locked(registration->observer, &table);
    }
    kvo_retire(table);
  }
  kvo_retire(chain);
  kvo_retire(retired);
}

void kvo_remove_all_observers(kvo_object *object) { kvo_registrations_end_with(object); }

static kvo_registration *first_watched(kvo_object *observer, kvo_object **object) {
  KVO_LOCKED_OBJECTS(observer, NULL);
  kvo_table *table = observer->observations;
  kvo_registration *first = table ? table->watched : NULL;
  if (first) *object = first->object;
  return first;
}

// The first is looked at again once both locks are held: it may have ended meanwhile, and
// something else may have been made at its address.
static void end_first(kvo_object *observer, kvo_registration *expected, kvo_object *object,
    kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(object, observer);
  kvo_table *table = observer->observations;
  kvo_registration *first = table ? table->watched : NULL;
  if (first != expected || first->object != object) return;
  if (end_locked(first, retired)) return;
  // The observed object is dying and has ended it; it will retire it, too.
  unlink_from_observer_locked(first);
  kvo_table_trim_locked(observer, retired);
}

void kvo_registrations_end_by(kvo_object *observer) {
  kvo_object *object = observer;
  kvo_registration *first;
  while ((first = first_watched(observer, &object))) {
    kvo_retired *retired = NULL;
    end_first(observer, first, object, &retired);
    kvo_retire(retired);
  }
}
