// Key-value coding: reading and setting by key.
//
// A key with a setter method is set by calling it through the dispatch table, where an interposer
// tells the observers. Storage without a setter is written directly, between the two halves of an
// automatic change.
#include "kvo_coding.h"

#include "kvo_accessors.h"
#include "kvo_delivery.h"
#include "kvo_fail.h"
#include "kvo_property.h"

#include <string.h>

// A binding codes its own objects: only it knows its types and accessors.
static kvo_status not_of_c(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, key,
      "%s is not a class of C: use its language's key-value coding for \"%s\".", cls->name, key);
}

// MARK: Reading

// The hooks are methods that every class of C answers: the root's make the error.
static kvo_status value_for_undefined_key(const kvo_class *cls, kvo_object *object, const char *key,
    kvo_value *value, kvo_error *error) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->value_for_undefined);
  typedef kvo_status (*answer)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  kvo_status status = ((answer)kvo_class_imp(cls, hook))(object, hook, key, value, error);
  if (status) *value = KVO_VALUE_NIL;
  return status;
}

static bool has_getter(const kvo_accessors *accessors) { return accessors && accessors->getter; }

kvo_status kvo_value_for_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  *value = KVO_VALUE_NIL;
  if (cls->is_bound) return not_of_c(cls, key, error);
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, NULL);
  if (!has_getter(accessors)) return value_for_undefined_key(cls, object, key, value, error);
  kvo_accessors_read(accessors, object, value);
  return KVO_OK;
}

// MARK: Setting

static kvo_status set_for_undefined_key(const kvo_class *cls, kvo_object *object,
    const kvo_value *value, const char *key, kvo_error *error) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->set_value_for_undefined);
  typedef kvo_status (*take)(kvo_object *, const kvo_method *, const kvo_value *, const char *,
      kvo_error *);
  return ((take)kvo_class_imp(cls, hook))(object, hook, value, key, error);
}

static kvo_status set_nil(const kvo_class *cls, kvo_object *object, const char *key,
    kvo_error *error) {
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->set_nil_value);
  typedef kvo_status (*take)(kvo_object *, const kvo_method *, const char *, kvo_error *);
  return ((take)kvo_class_imp(cls, hook))(object, hook, key, error);
}

static bool takes_nil(const kvo_type *type) {
  return type->kind == KVO_KIND_STRING || type->kind == KVO_KIND_OBJECT ||
         type->kind == KVO_KIND_POINTER;
}

// Storage owns what its type owns: a string ivar is a copy, an object ivar a reference.
static void store(const kvo_accessors *accessors, kvo_object *object, const void *bytes) {
  void *field = (char *)object + accessors->offset;
  switch (accessors->set_type->kind) {
  case KVO_KIND_STRING: kvo_store_copied_string(field, *(const char *const *)bytes); break;
  case KVO_KIND_OBJECT: kvo_store_retained_object(field, *(void *const *)bytes); break;
  default: memcpy(field, bytes, accessors->set_type->size);
  }
}

static void set_storage(const kvo_accessors *accessors, kvo_object *object, const void *bytes) {
  kvo_frame *frame = kvo_change_open(object, accessors->id);
  store(accessors, object, bytes);
  if (frame) kvo_change_close(frame);
}

static void set_bytes(const kvo_accessors *accessors, kvo_object *object, const void *bytes) {
  const kvo_method *method = accessors->set_method;
  if (accessors->setter == KVO_ACCESS_METHOD)
    kvo_call_set(method->call, kvo_method_lookup(object, method), object, method, bytes);
  else set_storage(accessors, object, bytes);
}

static kvo_status mismatch(const kvo_class *cls, const kvo_accessors *accessors,
    const kvo_value *value, kvo_error *error) {
  return kvo_fail(error, KVO_TYPE_MISMATCH, cls->name, accessors->key,
      "\"%s\" of %s has the type \"%s\" and can't be set to a value of type \"%s\".",
      accessors->key, cls->name, accessors->set_type->encoding, value->type->encoding);
}

static kvo_status set_value(const kvo_class *cls, const kvo_accessors *accessors,
    kvo_object *object, const kvo_value *value, kvo_error *error) {
  kvo_value converted = KVO_VALUE_NIL;
  kvo_status status = kvo_value_convert(&converted, accessors->set_type, value);
  if (status == KVO_TYPE_MISMATCH) return mismatch(cls, accessors, value, error);
  if (status)
    return kvo_fail(error, status, cls->name, accessors->key, "No memory to set \"%s\" of %s.",
        accessors->key, cls->name);
  set_bytes(accessors, object, kvo_value_bytes(&converted));
  kvo_value_destroy(&converted);
  return KVO_OK;
}

static kvo_status read_only(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_READ_ONLY, cls->name, key, "\"%s\" of %s can be read but not set.",
      key, cls->name);
}

kvo_status kvo_set_value_for_key(kvo_object *object, const char *key, const kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  if (cls->is_bound) return not_of_c(cls, key, error);
  const kvo_accessors *accessors = kvo_class_accessors(cls, key, NULL);
  bool is_nil = !value || kvo_value_is_nil(value);
  if (!accessors || (!accessors->setter && !accessors->getter))
    return set_for_undefined_key(cls, object, value, key, error);
  if (!accessors->setter) return read_only(cls, key, error);
  if (!is_nil) return set_value(cls, accessors, object, value, error);
  if (!takes_nil(accessors->set_type)) return set_nil(cls, object, accessors->key, error);
  const void *none = NULL;
  set_bytes(accessors, object, &none);
  return KVO_OK;
}
