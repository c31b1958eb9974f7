// Key-value coding: setting by key path, and the keys of collections (B5).
#include "setting/kvo_setting.h"

#include "coding/kvo_get_key_path.h"
#include "kvo_binding.h"
#include "kvo_coding.h"
#include "threads/kvo_thread.h"
#include "values/kvo_collection_internal.h"

static kvo_status set_key(const kvo_value *target, const char *key, const kvo_value *value,
    kvo_error *error) {
  if (kvo_value_is_nil(target)) return KVO_OK;
  kvo_object *object = kvo_value_get_object(target);
  if (object) return kvo_set_value_for_key(object, key, value, error);
  if (kvo_value_is_collection(target, NULL)) return kvo_value_set_each(target, key, value, error);
  return kvo_fail_no_keys(target, key, error);
}

// Setting a key of all elements; the elements are destroyed even if the program's code throws.
typedef struct {
  const kvo_value *collection;
  const char *key;
  const kvo_value *KVO_NULLABLE value; ///< the new value of each
  kvo_elements elements;
  kvo_error *error;
  kvo_status status;
  bool entered;
} assignment;

static void set_path_end_assignment(void *opaque) {
  assignment *assignment = opaque;
  kvo_nesting_leave(assignment->entered);
  kvo_elements_destroy(&assignment->elements);
}

static void set_path_set_elements(void *opaque) {
  assignment *assignment = opaque;
  const kvo_elements *elements = &assignment->elements;
  assignment->entered = kvo_nesting_enter();
  assignment->status = assignment->entered ? kvo_value_elements(assignment->collection, NULL,
                                                 &assignment->elements, assignment->error)
                                           : kvo_fail_nesting(assignment->key, assignment->error);
  for (size_t i = 0; !assignment->status && i < elements->count; i++)
    assignment->status =
        set_key(&elements->values[i], assignment->key, assignment->value, assignment->error);
}

kvo_status kvo_value_set_each(const kvo_value *collection, const char *key, const kvo_value *value,
    kvo_error *error) {
  assignment assignment = {.collection = collection, .key = key, .value = value, .error = error};
  kvo_unwinding(set_path_set_elements, set_path_end_assignment, &assignment);
  set_path_end_assignment(&assignment);
  return assignment.status;
}

// MARK: Along a path

typedef struct {
  kvo_object *object;
  const kvo_value *value;
  kvo_error *error;
} errand;

static kvo_status set_last_key(const kvo_value *target, const char *key, void *opaque) {
  const errand *errand = opaque;
  return set_key(target, key, errand->value, errand->error);
}

static kvo_status set_along(const kvo_key_path *path, void *opaque) {
  const errand *errand = opaque;
  const kvo_class *cls = kvo_class_of(errand->object); // observers may release the object
  kvo_status status = kvo_with_last_key(errand->object, path, set_last_key, opaque, errand->error);
  return kvo_fail_along(path, cls, status, errand->error);
}

kvo_status kvo_set_value_for_key_path(kvo_object *object, const char *key_path,
    const kvo_value *value, kvo_error *error) {
  errand errand = {.object = object, .value = value, .error = error};
  return kvo_along_path(key_path, kvo_class_of(object), set_along, &errand, error);
}
