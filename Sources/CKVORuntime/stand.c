// Standing at a key of an object: what must be known first, and being put in place.
//
// Finding out calls the user's hooks, and so is done before any lock is taken: the key's accessors,
// the dynamic subclass with its interposers, the derivation that a derived key is going to need.
// Being put in place happens under the object's lock, and leaves everything as it was if memory is
// out.
#include "kvo_collection_internal.h"
#include "kvo_delivery.h"
#include "kvo_fail.h"
#include "kvo_graph.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_swizzle.h"

#include <string.h>

static kvo_status out_of_memory(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, key, "No memory to observe %s of %s.", key,
      cls->name);
}

static bool hook_answers(const kvo_class *cls, kvo_object *object, const char *key) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->value_for_undefined);
  if (!hook) return false; // a binding's, which may have none
  typedef kvo_status (*answer)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  kvo_value value = KVO_VALUE_NIL;
  kvo_error refusal;
  kvo_error_clear(&refusal);
  bool answers = ((answer)kvo_class_imp(cls, hook))(object, hook, key, &value, &refusal) == KVO_OK;
  kvo_value_destroy(&value);
  return answers;
}

// A binding's objects have neither getters nor ivars, as far as its programs know.
static void undefined(const kvo_class *cls, const char *key, kvo_error *error) {
  if (cls->is_bound)
    kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key, "%s has no key \"%s\".", cls->name, key);
  else
    kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
        "\"%s\" of %s can't be observed: it has no getter and no ivar.", key, cls->name);
}

// What can be read can be observed. A setter alone is no property: `Balance` is a misspelling of
// `balance` although setBalance: would set it.
const kvo_accessors *kvo_observable_accessors(kvo_object *object, const char *key,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *accessors = kvo_class_known_accessors(cls, key);
  if (KVO_LIKELY(accessors && accessors->getter)) return accessors;
  kvo_error cause; // filled in as a whole where something fails
  cause.status = KVO_OK;
  accessors = kvo_class_accessors(cls, key, &cause);
  if (accessors && accessors->getter) return accessors;
  bool answers = (accessors || cause.status != KVO_NO_MEMORY) && hook_answers(cls, object, key);
  // A binding may have described the key when it was asked.
  const kvo_accessors *described =
      answers && cls->is_bound ? kvo_class_accessors(cls, key, NULL) : NULL;
  if (described && described->getter) return described;
  const char *interned = answers ? kvo_key_keep(key, cls->name, error) : NULL;
  accessors = interned ? kvo_class_undefined_accessors(cls, interned) : NULL;
  if (interned && !accessors) out_of_memory(cls, key, error);
  else if (answers) return accessors;
  else if (cause.status == KVO_NO_MEMORY) out_of_memory(cls, key, error);
  else if (!accessors) undefined(cls, key, error);
  return accessors;
}

kvo_status kvo_collection_refuse_observing(kvo_object *object, const char *key, kvo_error *error) {
  const char *owner = "its owner", *property = "property";
  kvo_collection_property((kvo_collection *)object, &owner, &property);
  return kvo_fail(error, KVO_NOT_OBSERVABLE, kvo_class_of(object)->name, key,
      "\"%s\" of a collection can't be observed: observe the %s of %s that holds it.", key,
      property, owner);
}

// What only a hook answers is asked for each object anew.
static void note_if_ready(const kvo_stand *stand) {
  bool *ready = &((kvo_accessors *)(uintptr_t)stand->accessors)->is_ready;
  if (stand->derivation || !stand->accessors->getter) return;
  if (!strcmp(stand->accessors->key, "self")) return; // on a path it is none
  if (!__atomic_load_n(ready, __ATOMIC_RELAXED)) __atomic_store_n(ready, true, __ATOMIC_RELEASE);
}

kvo_status kvo_stand_prepare(kvo_object *object, const char *key, kvo_stand *stand,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  kvo_error cause; // filled in as a whole where something fails
  cause.status = KVO_OK;
  *stand = (kvo_stand){.object = object};
  uint64_t shortages = kvo_shortages;
  if (kvo_class_is_collection(cls)) return kvo_collection_refuse_observing(object, key, error);
  stand->accessors = kvo_observable_accessors(object, key, &cause);
  if (stand->accessors)
    stand->dynamic = kvo_swizzle_class(cls, stand->accessors->key,
        kvo_accessors_automatic(stand->accessors), &cause);
  if (!stand->dynamic) {
    if (error) *error = cause;
    return cause.status;
  }
  if (kvo_derivation_make(object, stand->accessors, &stand->derivation) &&
      kvo_shortages == shortages) {
    note_if_ready(stand);
    return KVO_OK;
  }
  kvo_stand_discard(stand);
  return out_of_memory(cls, key, error);
}

void kvo_stand_discard(kvo_stand *stand) {
  kvo_derivation_release(stand->derivation);
  stand->derivation = NULL;
}

// Whoever declares a dependency raises the class's generation before looking through the tables: he
// finds the entry, or this finds the generation raised.
void kvo_stand_settle(kvo_stand *stand) {
  kvo_stand_discard(stand);
  if (kvo_accessors_current(stand->accessors) != stand->accessors)
    kvo_object_refresh_derivations(stand->object);
}

static void link_to_observer_locked(kvo_registration *registration, kvo_table *observers_table) {
  kvo_registration_operations(registration)->unowned_retain(registration->observer);
  registration->next_watched = observers_table->watched;
  registration->link_watched = &observers_table->watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = &registration->next_watched;
  observers_table->watched = registration;
}

// The key's own derivation goes before the one that was made in advance.
static void install_derivation_locked(kvo_table *table, kvo_list *list, kvo_stand *stand) {
  if (!list->derivation) {
    kvo_derivation_install_locked(stand->derivation, table, list);
    return;
  }
  kvo_stand_discard(stand);
  stand->derivation = kvo_derivation_retain(list->derivation);
}

// A derivation hangs at a list, also of one.
static bool insert_locked(kvo_table *table, kvo_registration *registration, kvo_stand *stand,
    kvo_retired **retired) {
  bool is_derived = stand->derivation != NULL;
  if (!kvo_table_insert_locked(table, registration, is_derived, retired)) return false;
  if (!is_derived) return true;
  const kvo_cell *cell = kvo_table_find(table, stand->accessors->id);
  install_derivation_locked(table, kvo_observers_list(cell->observers), stand);
  return true;
}

static bool hang_locked(kvo_registration *registration, kvo_stand *stand, kvo_retired **retired) {
  kvo_object *object = registration->object;
  bool is_only = !object->observations && !stand->derivation;
  if (is_only && kvo_only_hang_locked(object, registration)) return true;
  kvo_table *table = kvo_table_reserve_locked(object, retired);
  return table && insert_locked(table, registration, stand, retired);
}

// An object may observe itself: its table is then reserved twice, which is harmless.
static bool place_locked(kvo_registration *registration, kvo_stand *stand, kvo_retired **retired) {
  kvo_object *object = registration->object, *observer = kvo_registration_observer(registration);
  registration->serial = UINT64_MAX;
  kvo_object_share_locked(object); // the initial call is this thread's
  if (observer && !kvo_table_reserve_locked(observer, retired)) return false;
  if (!hang_locked(registration, stand, retired)) return false;
  __atomic_store_n(&registration->serial, __atomic_add_fetch(&kvo_serial, 1, __ATOMIC_SEQ_CST),
      __ATOMIC_RELEASE);
  if (observer) link_to_observer_locked(registration, kvo_table_of(observer));
  if (kvo_isa(object) != stand->dynamic) kvo_swizzle_in_locked(object, stand->dynamic);
  return true;
}

bool kvo_registration_place(kvo_registration *registration, kvo_stand *stand,
    kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(registration->object, kvo_registration_observer(registration));
  bool is_own = kvo_object_is_own(registration->object);
  kvo_retired *before = *retired;
  if (registration->options & KVO_GROUPED && !kvo_group_member_begin_locked(registration))
    return true;
  if (place_locked(registration, stand, retired)) {
    if (is_own && !(registration->options & KVO_BY_OBSERVER)) kvo_retire_mark_own(*retired, before);
    return true;
  }
  if (registration->options & KVO_GROUPED) kvo_registration_set_state(registration, KVO_UNPLACED);
  kvo_table_trim_locked(registration->object, retired);
  if (registration->options & KVO_BY_OBSERVER)
    kvo_table_trim_locked(registration->observer, retired);
  return false;
}
