// Places a registration at a key of an object (C8).
//
// Everything needed is determined before any lock is taken, because that calls the user's hooks: the key's accessors,
// the dynamic subclass with its interposers, and the dependent key of a derived key. Then the registration is
// inserted under the object's lock. If there is no memory, that leaves everything unchanged.
#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "classes/kvo_dynamic_class.h"
#include "graph/kvo_graph.h"
#include "paths/kvo_dependencies.h"
#include "values/kvo_collection_internal.h"

static bool hook_answers(const kvo_class *cls, kvo_object *object, const char *key) {
  kvo_value value;
  kvo_error refusal;
  const char *selector = kvo_hooks()->value_for_undefined;
  kvo_status status = kvo_ask_value_hook(cls, selector, object, key, &value, &refusal);
  kvo_value_destroy(&value);
  return !status;
}

// The message for a binding's class mentions neither getters nor ivars, because its programs do not know of them.
static void fail_undefined(const kvo_class *cls, const char *key, kvo_error *error) {
  if (cls->is_bound)
    kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key, "%s has no key \"%s\".", cls->name, key);
  else
    kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
        "\"%s\" of %s can't be observed: it has no getter and no ivar.", key, cls->name);
  kvo_suggest_key(cls, key, error);
}

// Accessors of a key that only the hook for undefined keys answers. NULL if out of memory.
static const kvo_accessors *hooked_accessors(const kvo_class *cls, const char *key,
    kvo_error *error) {
  const char *interned = kvo_key_keep(key, cls->name, error);
  if (!interned) return NULL;
  const kvo_accessors *accessors = kvo_class_undefined_accessors(cls, interned);
  if (!accessors) kvo_fail_no_memory(error, "observe", cls->name, key);
  return accessors;
}

// A key that can be read can be observed. A setter alone is no property: `Balance` is a misspelling of `balance`,
// although setBalance: would set it.
const kvo_accessors *kvo_observable_accessors(kvo_object *object, const char *key,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *accessors = kvo_class_known_accessors(cls, key);
  if (KVO_LIKELY(accessors && accessors->getter)) return accessors;
  kvo_error cause; // filled in completely if anything fails
  cause.status = KVO_OK;
  accessors = kvo_class_accessors(cls, key, &cause);
  if (accessors && accessors->getter) return accessors;
  bool answers = (accessors || cause.status != KVO_NO_MEMORY) && hook_answers(cls, object, key);
  // The binding may have described the key when it was asked.
  const kvo_accessors *described =
      answers && cls->is_bound ? kvo_class_accessors(cls, key, NULL) : NULL;
  if (described && described->getter) return described;
  if (answers) return hooked_accessors(cls, key, error);
  if (cause.status == KVO_NO_MEMORY) kvo_fail_no_memory(error, "observe", cls->name, key);
  else fail_undefined(cls, key, error);
  return NULL;
}

kvo_status kvo_collection_refuse_observing(kvo_object *object, const char *key, kvo_error *error) {
  const char *owner = "its owner", *property = "property";
  kvo_collection_property((kvo_collection *)object, &owner, &property);
  return kvo_fail(error, KVO_NOT_OBSERVABLE, kvo_class_of(object)->name, key,
      "\"%s\" of a collection can't be observed: observe the %s of %s that holds it.", key,
      property, owner);
}

// A key that only a hook answers is never ready: the hook is asked for each object.
static void note_if_ready(const kvo_prepared_registration *prepared) {
  bool *ready = &((kvo_accessors *)(uintptr_t)prepared->accessors)->is_ready;
  if (prepared->dependent_key || !prepared->accessors->getter) return;
  if (!kvo_key_is_plain(prepared->accessors->key)) return; // its text may also be a path
  __atomic_store_n(ready, true, __ATOMIC_RELEASE);
}

kvo_status kvo_registration_prepare(kvo_object *object, const char *key,
    kvo_prepared_registration *prepared, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *known = kvo_class_known_accessors(cls, key);
  *prepared = (kvo_prepared_registration){.object = object};
  // Fast path: for a ready key there is nothing to determine, so no code of the user runs.
  if (KVO_LIKELY(known && __atomic_load_n(&known->is_ready, __ATOMIC_ACQUIRE))) {
    prepared->accessors = known;
    prepared->dynamic = cls->dynamic;
    return KVO_OK;
  }
  kvo_error cause; // filled in completely if anything fails
  cause.status = KVO_OK;
  if (KVO_UNLIKELY(kvo_wants_hints())) kvo_class_hint_at_dependencies(cls);
  uint64_t shortages = kvo_shortages;
  if (cls->is_collection) return kvo_collection_refuse_observing(object, key, error);
  prepared->accessors = kvo_observable_accessors(object, key, &cause);
  if (prepared->accessors)
    prepared->dynamic = kvo_swizzle_class(cls, prepared->accessors->key,
        kvo_accessors_automatic(prepared->accessors), &cause);
  if (!prepared->dynamic) return kvo_fail_with(error, &cause);
  if (kvo_dependent_key_make(object, prepared->accessors, &prepared->dependent_key) &&
      kvo_shortages == shortages) {
    note_if_ready(prepared);
    return KVO_OK;
  }
  kvo_prepared_registration_discard(prepared);
  return kvo_fail_no_memory(error, "observe", cls->name, key);
}

kvo_status kvo_registration_prepare_manual(kvo_object *object, const char *key,
    kvo_prepared_registration *prepared, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  *prepared = (kvo_prepared_registration){.object = object};
  kvo_error cause = {.status = KVO_NO_MEMORY};
  const char *interned = kvo_key_keep(key, cls->name, error);
  if (!interned) return error->status;
  prepared->accessors = kvo_class_undefined_accessors(cls, interned);
  if (prepared->accessors) prepared->dynamic = kvo_swizzle_class(cls, key, false, &cause);
  bool is_made = prepared->dynamic &&
                 kvo_dependent_key_make(object, prepared->accessors, &prepared->dependent_key);
  return is_made ? KVO_OK : kvo_fail_no_memory(error, "observe", cls->name, key);
}

void kvo_prepared_registration_discard(kvo_prepared_registration *prepared) {
  kvo_dependent_key_release(prepared->dependent_key);
  prepared->dependent_key = NULL;
}

// A thread that declares a dependency raises the class's generation before it searches the tables. So either it finds
// the entry, or this thread finds the generation raised.
void kvo_prepared_registration_finish(kvo_prepared_registration *prepared) {
  if (prepared->dependent_key) kvo_prepared_registration_discard(prepared);
  if (kvo_accessors_current(prepared->accessors) != prepared->accessors)
    kvo_object_refresh_dependent_keys(prepared->object);
}

static void link_to_observer_locked(kvo_registration *registration, kvo_table *observers_table) {
  kvo_registration_operations(registration)->unowned_retain(registration->observer);
  registration->next_watched = observers_table->watched;
  registration->link_watched = &observers_table->watched;
  if (registration->next_watched)
    registration->next_watched->link_watched = &registration->next_watched;
  observers_table->watched = registration;
}

// If the key has a dependent key already, that one stays, and the one made in advance is dropped.
static void install_dependent_key_locked(kvo_table *table, kvo_list *list,
    kvo_prepared_registration *prepared) {
  if (!list->dependent_key) {
    kvo_dependent_key_install_locked(prepared->dependent_key, table, list);
    return;
  }
  kvo_prepared_registration_discard(prepared);
  prepared->dependent_key = kvo_dependent_key_retain(list->dependent_key);
}

// A dependent key is stored in a list, so a derived key gets a list even for a single observer.
static bool insert_locked(kvo_table *table, kvo_registration *registration,
    kvo_prepared_registration *prepared, kvo_retired **retired) {
  bool is_derived = prepared->dependent_key != NULL;
  if (!kvo_table_insert_locked(table, registration, is_derived, retired)) return false;
  if (!is_derived) return true;
  const kvo_cell *cell = kvo_table_find(table, prepared->accessors->id);
  install_dependent_key_locked(table, kvo_observers_list(cell->observers), prepared);
  return true;
}

static bool insert_in_word_locked(kvo_registration *registration,
    kvo_prepared_registration *prepared, kvo_retired **retired) {
  kvo_object *object = registration->object;
  bool is_only = !kvo_object_owned_word(object) && !prepared->dependent_key;
  if (is_only && kvo_inline_registration_insert_locked(object, registration)) return true;
  kvo_table *table = kvo_table_reserve_locked(object, 1, retired);
  return table && insert_locked(table, registration, prepared, retired);
}

// Whether a setter that began without an observer may still have to notify the registration: one on another thread or,
// for a node, the setter of this thread that has led the path here.
static bool may_run_unobserved(kvo_registration *registration) {
  const kvo_path_node *node = kvo_path_node_of(registration);
  return (node && node->is_led) || kvo_process_has_threads();
}

// An object may observe itself. Then its table is reserved twice, which is harmless.
//
// The isa is swapped first, so a thread that has found the registration runs interposed setters from then on (I3).
static bool insert_entry_locked(kvo_registration *registration, kvo_prepared_registration *prepared,
    kvo_retired **retired) {
  kvo_object *object = registration->object, *observer = kvo_registration_observer(registration);
  registration->serial = KVO_NO_SERIAL;
  kvo_object_share_locked(object); // this thread makes the initial call
  if (observer && !kvo_table_reserve_locked(observer, 1, retired)) return false;
  kvo_swizzle_in_locked(object, prepared->dynamic, prepared->accessors->id,
      may_run_unobserved(registration));
  if (!insert_in_word_locked(registration, prepared, retired)) return false;
  kvo_registration_take_serial(registration);
  if (observer) link_to_observer_locked(registration, kvo_table_of(observer));
  return true;
}

static void swizzle_out_if_unobserved_locked(kvo_object *object) {
  const kvo_table *table = kvo_table_of(object);
  bool is_observed = table ? table->live : kvo_object_inline_registration(object) != NULL;
  if (!is_observed) kvo_swizzle_out_locked(object);
}

bool kvo_entry_insert(kvo_registration *registration, kvo_prepared_registration *prepared,
    kvo_retired **retired) {
  KVO_LOCKED_OBJECTS(registration->object, kvo_registration_observer(registration));
  bool is_own = kvo_object_is_own(registration->object);
  kvo_retired *before = *retired;
  if (registration->options & KVO_GROUPED && !kvo_group_member_begin_locked(registration))
    return true;
  if (insert_entry_locked(registration, prepared, retired)) {
    if (is_own && !(registration->options & KVO_BY_OBSERVER)) kvo_retire_mark_own(*retired, before);
    return true;
  }
  if (registration->options & KVO_GROUPED)
    kvo_registration_set_state(registration, KVO_NOT_INSERTED);
  swizzle_out_if_unobserved_locked(registration->object);
  kvo_table_trim_locked(registration->object, retired);
  if (registration->options & KVO_BY_OBSERVER)
    kvo_table_trim_locked(registration->observer, retired);
  return false;
}
