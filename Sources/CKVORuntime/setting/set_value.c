// Key-value coding: setting by key (B2, B3, E2).
//
// Setting begins with a hook that a class may override, `setValue:forKey:`. The root's, which is in this file, does
// the search (accessor_search.c). A key with a setter method is set by calling it through the dispatch table, where
// an interposer notifies the observers. Storage without a setter is written directly, inside an automatic change. A
// collection has no keys of its own: it sets the key of each element.
//
// A search calls class methods of the program, which may release the last other reference to the object. So the
// object is held until the key has been set.
//
// Storage owns what its type owns: a string is a copy, an object a reference. So a converted value and the storage
// swap their bytes, and destroying the value then releases the old contents.
#include "setting/kvo_setting.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "delivery/kvo_delivery.h"
#include "kvo_binding.h"
#include "kvo_coding.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

typedef kvo_status (*set_hook)(kvo_object *, const kvo_method *, const kvo_value *, const char *,
    kvo_error *);
typedef kvo_status (*nil_hook)(kvo_object *, const kvo_method *, const char *, kvo_error *);

static kvo_status call_set_hook(const kvo_class *cls, const kvo_method *hook, kvo_object *object,
    const kvo_value *value, const char *key, kvo_error *error) {
  kvo_error cause;
  kvo_error_clear(&cause);
  kvo_status status = ((set_hook)kvo_class_imp(cls, hook))(object, hook, value, key, &cause);
  return kvo_explain_hook(status, &cause, cls, key, error);
}

static kvo_status set_for_undefined_key(const kvo_class *cls, kvo_object *object,
    const kvo_value *value, const char *key, kvo_error *error) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->set_value_for_undefined);
  return hook ? call_set_hook(cls, hook, object, value, key, error)
              : kvo_fail_undefined(cls, key, error);
}

static kvo_status set_value_refuse_nil(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_error *error) {
  return kvo_fail(error, KVO_NIL_VALUE, cls->name, accessors->key,
      "\"%s\" of %s takes %s and can't be nil.", accessors->key, cls->name,
      kvo_type_name(accessors->set_type));
}

static kvo_status set_nil(const kvo_class *cls, const kvo_accessors *accessors, kvo_object *object,
    kvo_error *error) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->set_nil_value);
  if (!hook) return set_value_refuse_nil(cls, accessors, error);
  kvo_error cause;
  kvo_error_clear(&cause);
  kvo_status status = ((nil_hook)kvo_class_imp(cls, hook))(object, hook, accessors->key, &cause);
  return kvo_explain_hook(status, &cause, cls, accessors->key, error);
}

static bool takes_nil(const kvo_type *type) {
  return type->kind == KVO_KIND_STRING || type->kind == KVO_KIND_OBJECT ||
         type->kind == KVO_KIND_POINTER;
}

static void set_value_swap(char *a, char *b, size_t size) {
  for (size_t i = 0; i < size; i++) {
    char byte = a[i];
    a[i] = b[i];
    b[i] = byte;
  }
}

static void set_storage(const kvo_accessors *accessors, kvo_object *object, void *bytes) {
  kvo_frame *frame = kvo_change_open(object, accessors->id);
  set_value_swap((char *)object + accessors->offset, bytes, accessors->set_type->size);
  if (frame) kvo_change_close(frame);
}

// The value has the key's type. Its contents after the swap are destroyed, even if the setter or an observer throws.
typedef struct assignment {
  const kvo_accessors *accessors;
  kvo_object *object;
  kvo_value value;
  void *bytes;
} assignment;

static void call_setter(const kvo_method *method, kvo_object *object, void *bytes) {
  uint64_t begun = kvo_setter_begins();
  kvo_imp imp = kvo_method_lookup(object, method);
  kvo_call_set(method->call, imp, object, method, bytes);
  kvo_setter_returned(object, method, imp, begun);
}

static void make_assignment(void *opaque) {
  const assignment *assignment = opaque;
  const kvo_accessors *accessors = assignment->accessors;
  const kvo_method *method = accessors->set_method;
  kvo_object *object = assignment->object;
  if (accessors->setter == KVO_ACCESS_METHOD) call_setter(method, object, assignment->bytes);
  else set_storage(accessors, object, assignment->bytes);
}

static void set_value_end_assignment(void *opaque) {
  kvo_value_destroy(&((assignment *)opaque)->value);
}

static void set_value_assign(assignment *assignment) {
  kvo_unwinding(make_assignment, set_value_end_assignment, assignment);
  set_value_end_assignment(assignment);
}

static kvo_status set_value_refuse(const kvo_class *cls, const kvo_accessors *accessors,
    const kvo_value *value, kvo_status status, kvo_error *error) {
  bool is_nil = kvo_value_is_nil(value);
  if (status == KVO_NIL_VALUE || (is_nil && status == KVO_TYPE_MISMATCH))
    return set_value_refuse_nil(cls, accessors, error);
  if (status != KVO_TYPE_MISMATCH)
    return kvo_fail_no_memory(error, "set", cls->name, accessors->key);
  const char *expected = kvo_type_name(accessors->set_type), *found = kvo_type_name(value->type);
  kvo_fail(error, status, cls->name, accessors->key, "\"%s\" of %s takes %s, not %s.",
      accessors->key, cls->name, expected, found);
  kvo_fail_types(error, expected, found);
  return status;
}

// A proxy gives its elements: stored in its own key, it would read itself without end.
static kvo_status set_value_make(kvo_value *made, const kvo_type *type, const kvo_value *value) {
  kvo_status status = kvo_value_convert(made, type, value);
  return status || type->kind != KVO_KIND_OBJECT ? status : kvo_value_snapshot(made);
}

static kvo_status set_value_set_value(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const kvo_value *value, kvo_error *error) {
  assignment assignment = {.accessors = accessors, .object = object};
  kvo_status status = set_value_make(&assignment.value, accessors->set_type, value);
  if (status) return set_value_refuse(cls, accessors, value, status, error);
  assignment.bytes = (void *)(uintptr_t)kvo_value_bytes(&assignment.value);
  set_value_assign(&assignment);
  return KVO_OK;
}

// Stores NULL. The value owns nothing until it has the old contents.
static kvo_status store_nil(const kvo_accessors *accessors, kvo_object *object) {
  assignment assignment = {.accessors = accessors, .object = object};
  assignment.value.type = accessors->set_type;
  assignment.bytes = assignment.value.payload.words;
  set_value_assign(&assignment);
  return KVO_OK;
}

// The binding's function sets the key, because it knows how its language treats values and nil.
static kvo_status set_bound(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const kvo_value *value, kvo_error *error) {
  const kvo_property_description *property = accessors->property;
  kvo_error cause;
  kvo_error_clear(&cause);
  kvo_status status = property->set(object, property->binding, value, &cause);
  return kvo_explain_hook(status, &cause, cls, accessors->key, error);
}

static kvo_status read_only(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_READ_ONLY, cls->name, key, "\"%s\" of %s can be read but not set.",
      key, cls->name);
}

static kvo_status set_found(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const kvo_value *value, kvo_error *error) {
  const kvo_value nil = KVO_VALUE_NIL;
  bool is_nil = !value || kvo_value_is_nil(value);
  if (!accessors->setter) return read_only(cls, accessors->key, error);
  if (accessors->setter == KVO_ACCESS_COMPUTED)
    return set_bound(cls, accessors, object, value ? value : &nil, error);
  // A binding's conversion decides whether its type accepts nil.
  bool converts = accessors->set_type->kind == KVO_KIND_BINDING;
  if (!is_nil || converts)
    return set_value_set_value(cls, accessors, object, value ? value : &nil, error);
  if (takes_nil(accessors->set_type)) return store_nil(accessors, object);
  return set_nil(cls, accessors, object, error);
}

static bool is_known(const kvo_accessors *accessors) {
  return accessors && (accessors->setter || accessors->getter);
}

kvo_status kvo_search_and_set(kvo_object *object, const kvo_method *method, const kvo_value *value,
    const char *key, kvo_error *error) {
  (void)method;
  const kvo_class *cls = kvo_class_of(object);
  if (cls->is_collection) {
    const kvo_value collection = kvo_value_borrowing(object);
    return kvo_value_set_each(&collection, key, value, error);
  }
  uint64_t shortages = kvo_shortages;
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, NULL);
  if (!accessors && kvo_shortages != shortages) return kvo_fail_unreached(cls, key, error);
  return is_known(accessors) ? set_found(cls, accessors, object, value, error)
                             : set_for_undefined_key(cls, object, value, key, error);
}

KVO_INLINE kvo_status set_by(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const char *key, const kvo_value *value, kvo_error *error) {
  if (KVO_LIKELY(is_known(accessors) && !accessors->overrides_set_value))
    return set_found(cls, accessors, object, value, error);
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->set_value_for_key);
  return hook ? call_set_hook(cls, hook, object, value, key, error)
              : kvo_search_and_set(object, hook, value, key, error);
}

// A key whose accessors are not known yet, or that has none.
typedef struct {
  const kvo_class *cls;
  kvo_object *object;
  const char *key;
  const kvo_value *value;
  kvo_error *error;
  kvo_status status;
} finding;

static void find_and_set(void *opaque) {
  finding *finding = opaque;
  const kvo_accessors *accessors = kvo_class_accessors(finding->cls, finding->key, NULL);
  finding->status = set_by(finding->cls, accessors, finding->object, finding->key, finding->value,
      finding->error);
}

static __attribute__((noinline)) kvo_status set_held(const kvo_class *cls, kvo_object *object,
    const char *key, const kvo_value *value, kvo_error *error) {
  finding finding = {cls, object, key, value, error, KVO_OK};
  kvo_with_object_retained(object, find_and_set, &finding);
  return finding.status;
}

kvo_status kvo_set_value_for_key(kvo_object *object, const char *key, const kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *found = kvo_class_found_accessors(cls, key);
  return KVO_LIKELY(found != NULL) ? set_by(cls, found, object, key, value, error)
                                   : set_held(cls, object, key, value, error);
}

void kvo_setting_make(kvo_object *object, kvo_setting *setting) {
  assignment assignment = {
      .accessors = setting->accessors, .object = object, .value = setting->value};
  setting->value = KVO_VALUE_NIL;
  assignment.bytes = (void *)(uintptr_t)kvo_value_bytes(&assignment.value);
  set_value_assign(&assignment);
}

// MARK: Checking beforehand

// Whether the class has no such hook of its own: it has none, or the root's, which refuses.
static bool set_value_refuses(const kvo_class *cls, const char *selector) {
  const kvo_method *hook = kvo_class_find_method(cls, selector);
  return !hook || kvo_class_imp(cls, hook) == kvo_class_imp(kvo_root_class(), hook);
}

// If a function sets the key, the value is converted only to check that the type accepts it.
static kvo_status set_value_convert(const kvo_class *cls, const kvo_accessors *accessors,
    const kvo_value *value, kvo_setting *setting, kvo_error *error) {
  kvo_status status = set_value_make(&setting->value, accessors->set_type, value);
  if (status) return set_value_refuse(cls, accessors, value, status, error);
  if (accessors->setter == KVO_ACCESS_COMPUTED) kvo_value_destroy(&setting->value);
  else setting->accessors = accessors;
  return KVO_OK;
}

kvo_status kvo_setting_prepare(kvo_object *object, const char *key, const kvo_value *value,
    kvo_setting *setting, kvo_error *error) {
  *setting = (kvo_setting){NULL, KVO_VALUE_NIL};
  const kvo_class *cls = kvo_class_of(object);
  uint64_t shortages = kvo_shortages;
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, NULL);
  if (!accessors && kvo_shortages != shortages) return kvo_fail_unreached(cls, key, error);
  if (cls->is_collection || (accessors && accessors->overrides_set_value)) return KVO_OK;
  if (!is_known(accessors))
    return set_value_refuses(cls, kvo_hooks()->set_value_for_undefined)
               ? set_for_undefined_key(cls, object, value, key, error)
               : KVO_OK;
  if (!accessors->setter) return read_only(cls, accessors->key, error);
  // The binding's function may accept a nil that the type does not.
  if (accessors->setter == KVO_ACCESS_COMPUTED && kvo_value_is_nil(value)) return KVO_OK;
  if (!kvo_value_is_nil(value) || accessors->set_type->kind == KVO_KIND_BINDING)
    return set_value_convert(cls, accessors, value, setting, error);
  bool takes =
      takes_nil(accessors->set_type) || !set_value_refuses(cls, kvo_hooks()->set_nil_value);
  return takes ? KVO_OK : set_nil(cls, accessors, object, error);
}
