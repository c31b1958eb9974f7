// Registrations: made by adding, ended by whichever comes first of removal, invalidation, the
// death of the observed object, the death of the observer.
//
// Whoever turns a registration's state from live to ended, under the observed object's lock,
// unlinks it and retires it; the others find it ended and leave it alone. A registration with an
// observer object is linked in two places: the table of the observed object, and the observer's
// list of what it registered, under the observer's lock. It holds an unowned reference to the
// observer, so that a delivery that meets it may ask whether the observer still lives. It is
// freed, `ended` having been called, when no delivery of the object can be reading it and its
// handle has been released.
#include "kvo_registration.h"

#include "kvo_delivery.h"
#include "kvo_fail.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_swizzle.h"

#include <string.h>

typedef struct request {
  kvo_object *object;
  kvo_object *observer; // or NULL for a callback
  const char *key_path;
  kvo_options options;
  kvo_callback callback;
  void *context;
  void (*ended)(void *context);
} request;

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

// MARK: Making

// A key of one component. What a longer path names is told in the error.
static kvo_status check_key_path(const char *key_path, const kvo_class *cls, kvo_error *error) {
  size_t length = strlen(key_path);
  bool empty_component =
      !length || key_path[0] == '.' || key_path[length - 1] == '.' || strstr(key_path, "..");
  if (empty_component)
    return kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, key_path,
        "The key path \"%s\" for %s has an empty component.", key_path, cls->name);
  if (strpbrk(key_path, ".@"))
    return kvo_fail(error, KVO_NOT_OBSERVABLE, cls->name, key_path,
        "\"%s\" of %s can't be observed: a registration takes a single key. Observe each object's own "
        "key.",
        key_path, cls->name);
  return KVO_OK;
}

static bool hook_answers(const kvo_class *cls, kvo_object *object, const char *key) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->value_for_undefined);
  if (!hook) return false; // a binding's, which may have none
  typedef kvo_status (*answer)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  kvo_value value = KVO_VALUE_NIL;
  bool answers = ((answer)kvo_class_imp(cls, hook))(object, hook, key, &value, NULL) == KVO_OK;
  kvo_value_destroy(&value);
  return answers;
}

// What can be read can be observed. A setter alone is no property: `Balance` is a misspelling of
// `balance` although setBalance: would set it.
static const kvo_accessors *find_accessors(const kvo_class *cls, kvo_object *object,
    const char *key, kvo_error *error) {
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, error);
  if (accessors && accessors->getter) return accessors;
  if (!accessors && error->status == KVO_NO_MEMORY) return NULL;
  if (!hook_answers(cls, object, key)) {
    kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
        "\"%s\" of %s can't be observed: it has no getter and no ivar.", key, cls->name);
    return NULL;
  }
  const char *interned = kvo_key_intern(key);
  return interned ? kvo_class_undefined_accessors(cls, interned) : NULL;
}

static kvo_status out_of_memory(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, key, "No memory to observe %s of %s.", key,
      cls->name);
}

static kvo_registration *make(const request *request, const kvo_accessors *accessors,
    bool with_handle) {
  kvo_registration *made = kvo_alloc(sizeof *made);
  kvo_thread *thread = kvo_thread_current();
  if (!made || !thread) {
    kvo_free(made);
    return NULL;
  }
  *made = (kvo_registration){.references = with_handle ? 2 : 1,
      .options = (uint8_t)request->options,
      .thread = thread,
      .object = request->object,
      .id = accessors->id,
      .key_path = accessors->key,
      .callback = request->callback,
      .context = request->context,
      .ended = request->ended,
      .observer = request->observer};
  if (request->observer) made->operations = kvo_class_of(request->observer)->operations;
  return made;
}

static void link_to_observer_locked(kvo_registration *registration, kvo_table *observers_table) {
  registration->operations->unowned_retain(registration->observer);
  registration->next_watched = observers_table->watched;
  registration->link_watched = &observers_table->watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = &registration->next_watched;
  observers_table->watched = registration;
}

static void unlink_from_observer_locked(kvo_registration *registration) {
  if (!registration->link_watched) return;
  *registration->link_watched = registration->next_watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = registration->link_watched;
  registration->link_watched = NULL;
}

// An object may observe itself: its table is then reserved twice, which is harmless.
static bool insert_locked(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_class *dynamic, kvo_retired **retired) {
  kvo_object *object = registration->object, *observer = registration->observer;
  kvo_table *observers_table = observer ? kvo_table_reserve_locked(observer, retired) : NULL;
  kvo_table *table = kvo_table_reserve_locked(object, retired);
  if (!table || (observer && !observers_table)) return false;
  registration->serial = __atomic_add_fetch(&kvo_registration_serial, 1, __ATOMIC_SEQ_CST);
  if (!kvo_table_insert_locked(table, registration, accessors, retired)) return false;
  if (observer) link_to_observer_locked(registration, observer->observations);
  if (kvo_isa(object) != dynamic) kvo_swizzle_in_locked(object, dynamic);
  return true;
}

static kvo_status insert(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_class *dynamic, kvo_error *error) {
  kvo_retired *retired = NULL;
  bool inserted;
  {
    KVO_LOCKED_OBJECTS(registration->object, registration->observer);
    inserted = insert_locked(registration, accessors, dynamic, &retired);
    if (!inserted) kvo_table_trim_locked(registration->object, &retired);
    if (!inserted && registration->observer)
      kvo_table_trim_locked(registration->observer, &retired);
  }
  kvo_retire(retired);
  return inserted ? KVO_OK : out_of_memory(accessors->cls, accessors->key, error);
}

// The registration may end during the initial call, or on another thread: a frame guards it.
static kvo_status insert_and_tell(kvo_registration *registration, const kvo_accessors *accessors,
    kvo_class *dynamic, kvo_handle **handle, kvo_error *error) {
  kvo_frame *frame = NULL;
  if (registration->options & KVO_INITIAL) {
    frame = kvo_frame_push(kvo_thread_current(), registration->object);
    if (!frame) return out_of_memory(accessors->cls, accessors->key, error);
  }
  if (handle) *handle = registration;
  kvo_log_registration(registration, "added");
  kvo_status status = insert(registration, accessors, dynamic, error);
  if (status && handle) *handle = NULL;
  if (!status && frame) kvo_deliver_initial(registration, accessors, frame);
  if (frame) kvo_frame_pop(frame);
  return status;
}

static kvo_status add(const request *request, kvo_handle **handle, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(request->object);
  kvo_status status = check_key_path(request->key_path, cls, error);
  if (status) return status;
  kvo_error cause = {0};
  const kvo_accessors *accessors = find_accessors(cls, request->object, request->key_path, &cause);
  if (!accessors) {
    if (!cause.status) return out_of_memory(cls, request->key_path, error);
    if (error) *error = cause;
    return cause.status;
  }
  kvo_class *dynamic =
      kvo_swizzle_class(cls, accessors->key, kvo_accessors_automatic(accessors), &cause);
  kvo_registration *made = dynamic ? make(request, accessors, handle != NULL) : NULL;
  if (!dynamic) {
    if (error) *error = cause;
    return cause.status;
  }
  if (!made) return out_of_memory(cls, request->key_path, error);
  status = insert_and_tell(made, accessors, dynamic, handle, error);
  if (status) kvo_free(made);
  return status;
}

kvo_status kvo_add_callback(kvo_object *object, const char *key_path, kvo_options options,
    kvo_callback callback, void *context, void (*ended)(void *context), kvo_handle **handle,
    kvo_error *error) {
  request request = {object, NULL, key_path, options, callback, context, ended};
  if (handle) *handle = NULL;
  return add(&request, handle, error);
}

static bool can_observe(const kvo_class *cls) {
  return cls->operations->observe || kvo_class_find_method(cls, kvo_hooks()->observe);
}

kvo_status kvo_add_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_options options, void *context, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(observer);
  if (!can_observe(cls))
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, key_path,
        "%s can't be an observer of \"%s\": it does not answer %s.", cls->name, key_path,
        kvo_hooks()->observe);
  request request = {object, observer, key_path, options, NULL, context, NULL};
  return add(&request, NULL, error);
}

// MARK: Ending

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

// The id under which the object's table would keep the key; 0 if nothing can be registered under
// it.
static uintptr_t id_of_key(const kvo_class *cls, const char *interned) {
  const kvo_accessors *accessors = interned ? kvo_map_get(&cls->accessors, interned) : NULL;
  return accessors ? accessors->id : 0;
}

static kvo_status remove_matching(kvo_object *object, const char *key_path, match *wanted,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  wanted->key = kvo_key_find(key_path);
  uintptr_t id = id_of_key(cls, wanted->key);
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

bool kvo_is_observed(const kvo_object *object, const char *key) {
  uintptr_t id = id_of_key(kvo_class_of(object), kvo_key_find(key));
  if (!id) return false;
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_table *table = object->observations;
  kvo_cell *cell = table ? kvo_table_find(table, id) : NULL;
  return cell && cell->observers;
}
