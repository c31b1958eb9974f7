// What the macros of kvo_property.h stand on.
#include "kvo_property.h"

#include "kvo_class_internal.h"
#include "kvo_fail.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"

#include <stdio.h>
#include <stdlib.h>

// Key-value coding finds a setter by its name, and so does observing: one of another name would be told
// to nobody. A misspelled Key in a line of a class ends here.
static kvo_status check_setter(const kvo_class *cls, const kvo_property_definition *property,
    kvo_error *error) {
  static const char *const prefixes[] = {"set", "_set"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
    if (kvo_accessor_name(prefixes[i], property->key, true, ":") ==
        kvo_key_find(property->setter_selector))
      return KVO_OK;
  const char *key = property->key, *name = kvo_class_name(cls);
  const char first = *key >= 'a' && *key <= 'z' ? (char)(*key - 'a' + 'A') : *key;
  return kvo_fail(error, KVO_INVALID_ARGUMENT, name, key,
      "%s of %s: its setter is called %s, and must be called set%c%s: to be found and observed",
      key, name, property->setter_selector, first, key + 1);
}

static kvo_status add_property(kvo_class *cls, const kvo_property_definition *property,
    kvo_error *error) {
  const kvo_signature getter = {KVO_FORM_GETTER, property->layout};
  const kvo_signature setter = {KVO_FORM_SETTER, property->layout};
  kvo_status status = kvo_class_add_method(cls, property->getter_selector, property->getter, getter,
      property->getter_method, error);
  if (!status && property->setter)
    status = kvo_class_add_method(cls, property->setter_selector, property->setter, setter,
        property->setter_method, error);
  if (!status && property->setter) status = check_setter(cls, property, error);
  if (!status && property->ivar_offset >= 0)
    status = kvo_class_add_ivar(cls, property->key, (size_t)property->ivar_offset, property->layout,
        error);
  return status;
}

static kvo_class *make(const kvo_class_definition *definition, const kvo_class *superclass,
    kvo_error *error) {
  kvo_class *cls = kvo_class_create(definition->name, superclass, definition->instance_size, error);
  if (!cls) return NULL;
  for (size_t i = 0; i < definition->property_count; i++)
    if (add_property(cls, &definition->properties[i], error)) return NULL;
  const kvo_signature hook = {KVO_FORM_HOOK, {"", 0, 0}};
  if (kvo_class_add_method(cls, kvo_hooks()->destroy_properties,
          (kvo_imp)definition->destroy_properties, hook, NULL, error))
    return NULL;
  if (definition->setup) definition->setup(cls);
  return kvo_class_register(cls, error) ? NULL : cls;
}

static const kvo_class *make_or_stop(const kvo_class_definition *definition,
    const kvo_class *superclass) {
  kvo_error error;
  kvo_class *cls = make(definition, superclass, &error);
  if (cls) return cls;
  fprintf(stderr, "KVO: the class %s can't be made: %s\n", definition->name, error.message);
  abort();
}

// One definition at a time: a superclass is asked for before the lock is taken. The lock is recursive,
// since a `setup` may ask for a class that it is the first to mention.
const kvo_class *kvo_class_define(const kvo_class **once, const kvo_class_definition *definition) {
  const kvo_class *superclass = definition->superclass();
  pthread_mutex_lock(&kvo_define_lock);
  const kvo_class *cls = __atomic_load_n(once, __ATOMIC_ACQUIRE);
  if (!cls) {
    cls = make_or_stop(definition, superclass);
    __atomic_store_n(once, cls, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&kvo_define_lock);
  return cls;
}

bool kvo_store_copied_string(const char **field, const char *string) {
  const char *old = *field, *copy = string ? kvo_alloc_string(string) : NULL;
  if (string && !copy) return false;
  *field = copy;
  kvo_free(old);
  return true;
}

void kvo_report_unset(const kvo_object *self, const kvo_method *method) {
  const char *name = kvo_class_name(kvo_class_of(self));
  kvo_misuse("No memory for what %s of %s was given: the property is as it was.",
      kvo_method_selector(method), name);
}

void kvo_store_retained_object(void *field, void *object) {
  kvo_object **slot = field, *old = *slot;
  if (object) kvo_object_retain(object);
  *slot = object;
  kvo_object_release(old);
}
