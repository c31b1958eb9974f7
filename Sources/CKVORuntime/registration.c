// Registrations are made here. They end (removal.c) by whichever comes first of removal,
// invalidation, the death of the observed object, the death of the observer.
//
// A registration with an observer object is linked in two places: the table of the observed
// object, and the observer's list of what it registered, under the observer's lock. It holds an
// unowned reference to the observer, so that a delivery that meets it may ask whether the observer
// still lives. It is in place before its initial call is made, so that no change falls between the
// two.
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
