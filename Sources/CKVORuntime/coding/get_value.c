// Key-value coding: reading by key (B1).
//
// Reading begins with a hook that a class may override, `valueForKey:`. The root's, which is in this file, does the
// search (accessor_search.c). A collection has no keys of its own: the key is read from each element. An object of a
// binding has the keys that the binding has described. set_value.c does the setting.
//
// A search calls class methods of the program, which may release the last other reference to the object. So the
// object is held until it has been read. With cached accessors that is not needed, since the object is not used after
// the getter.
#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_get_key_path.h"
#include "kvo_binding.h"
#include "kvo_coding.h"
#include "threads/kvo_read_recorder.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

kvo_status kvo_fail_unreached(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail_no_memory(error, "reach", cls->name, key);
}

kvo_status kvo_fail_undefined(const kvo_class *cls, const char *key, kvo_error *error) {
  kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key, "%s has no key \"%s\".", cls->name, key);
  kvo_suggest_key(cls, key, error);
  return KVO_UNDEFINED_KEY;
}

// Returns the error of a hook unchanged. If the hook only gave a status, a sentence is added.
kvo_status kvo_explain_hook(kvo_status status, const kvo_error *cause, const kvo_class *cls,
    const char *key, kvo_error *error) {
  if (!status) return KVO_OK;
  if (!cause->status && status == KVO_UNDEFINED_KEY) return kvo_fail_undefined(cls, key, error);
  if (!cause->status)
    return kvo_fail(error, status, cls->name, key, "%s refused \"%s\" and gave no reason.",
        cls->name, key);
  if (error) *error = *cause;
  return status;
}

// MARK: Reading

static kvo_status get_value_compute(const kvo_accessors *accessors, kvo_object *object,
    kvo_value *value, kvo_error *error) {
  const kvo_property_description *property = accessors->property;
  *value = KVO_VALUE_NIL;
  if (property->show) return property->show(object, property->binding, value, error);
  return property->get(object, property->binding, value, error);
}

kvo_status kvo_value_by_accessors(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, kvo_value *value, kvo_error *error) {
  if (KVO_UNLIKELY(kvo_is_recording())) kvo_report_read(object, accessors->key);
  if (KVO_LIKELY(accessors->getter != KVO_ACCESS_COMPUTED)) {
    uint64_t shortages = kvo_shortages;
    kvo_accessors_read_found(accessors, object, value, NULL);
    kvo_value_unwrap(value);
    if (KVO_LIKELY(value->type || kvo_shortages == shortages)) return KVO_OK;
    return kvo_fail_unreached(cls, accessors->key, error);
  }
  kvo_error cause;
  kvo_error_clear(&cause);
  kvo_status status = get_value_compute(accessors, object, value, &cause);
  kvo_value_unwrap(value);
  return kvo_explain_hook(status, &cause, cls, accessors->key, error);
}

static kvo_status ask_hook(const kvo_class *cls, const char *selector, kvo_object *object,
    const char *key, kvo_value *value, kvo_error *error) {
  kvo_error cause;
  kvo_status status = kvo_ask_value_hook(cls, selector, object, key, value, &cause);
  return kvo_explain_hook(status, &cause, cls, key, error);
}

// A class of C has at least the root's hook. `self` is a key of every object.
static kvo_status value_for_undefined_key(const kvo_class *cls, kvo_object *object, const char *key,
    kvo_value *value, kvo_error *error) {
  if (strcmp(key, "self"))
    return ask_hook(cls, kvo_hooks()->value_for_undefined, object, key, value, error);
  *value = kvo_value_object(object);
  return KVO_OK;
}

static bool has_getter(const kvo_accessors *accessors) { return accessors && accessors->getter; }

// The root class's `valueForKey:`; `method` is its `_cmd`. Also called directly for classes without that hook.
kvo_status kvo_search_value(kvo_object *object, const kvo_method *method, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)method;
  const kvo_class *cls = kvo_class_of(object);
  *value = KVO_VALUE_NIL;
  if (cls->is_collection) {
    const kvo_value collection = kvo_value_borrowing(object);
    return kvo_value_map(&collection, key, value, error);
  }
  uint64_t shortages = kvo_shortages;
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, NULL);
  if (!accessors && kvo_shortages != shortages) return kvo_fail_unreached(cls, key, error);
  if (!has_getter(accessors)) return value_for_undefined_key(cls, object, key, value, error);
  return kvo_value_by_accessors(cls, accessors, object, value, error);
}

KVO_INLINE kvo_status read_by(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const char *key, kvo_value *value, kvo_error *error) {
  if (KVO_LIKELY(has_getter(accessors) && !accessors->overrides_get_value))
    return kvo_value_by_accessors(cls, accessors, object, value, error);
  const char *selector = kvo_hooks()->value_for_key;
  return kvo_class_find_method(cls, selector) ? ask_hook(cls, selector, object, key, value, error)
                                              : kvo_search_value(object, NULL, key, value, error);
}

// A key whose accessors are not known yet, or that has none.
typedef struct {
  const kvo_class *cls;
  kvo_object *object;
  const char *key;
  kvo_value *value;
  kvo_error *error;
  kvo_status status;
} finding;

static void find_and_read(void *opaque) {
  finding *finding = opaque;
  const kvo_accessors *accessors = kvo_class_accessors(finding->cls, finding->key, NULL);
  finding->status = read_by(finding->cls, accessors, finding->object, finding->key, finding->value,
      finding->error);
}

static __attribute__((noinline)) kvo_status get_value_read_held(const kvo_class *cls,
    kvo_object *object, const char *key, kvo_value *value, kvo_error *error) {
  finding finding = {cls, object, key, value, error, KVO_OK};
  kvo_with_object_retained(object, find_and_read, &finding);
  return finding.status;
}

kvo_status kvo_value_for_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *found = kvo_class_found_accessors(cls, key);
  *value = KVO_VALUE_NIL;
  return KVO_LIKELY(found != NULL) ? read_by(cls, found, object, key, value, error)
                                   : get_value_read_held(cls, object, key, value, error);
}
