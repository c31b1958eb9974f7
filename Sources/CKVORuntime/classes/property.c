// The functions behind the macros of kvo_property.h: making a class with its properties, and their setters.
#include "kvo_property.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "objects/kvo_class_internal.h"

#include <stdio.h>
#include <stdlib.h>

// MARK: Making

// Key-value coding and observing find a setter by its name, so a set through one of another name would notify no
// observer. A misspelt Key in a class's list is found here.
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

// The getters that only return a field -> its offset, plus one. Class lock for writing.
static kvo_map fields;

ptrdiff_t kvo_field_of_getter(kvo_imp getter) {
  return (ptrdiff_t)(uintptr_t)kvo_map_get(&fields, (const void *)getter) - 1;
}

static void note_field(const kvo_property_definition *property) {
  KVO_LOCKED(&kvo_class_lock);
  // Without memory the field is not recorded, and the getter is called.
  (void)kvo_map_set_locked(&fields, (const void *)property->getter,
      (void *)(uintptr_t)(property->ivar_offset + 1));
}

// The steps of adding a property. Each can fail for lack of memory, and is then resumed.
enum { GETTER, SETTER, SETTER_NAME, IVAR, PARTS };

static kvo_status add_part(kvo_class *cls, const kvo_property_definition *property, size_t part,
    kvo_error *error) {
  const kvo_signature getter = {KVO_FORM_GETTER, property->layout};
  const kvo_signature setter = {KVO_FORM_SETTER, property->layout};
  if (part == GETTER && property->ivar_offset >= 0) note_field(property);
  if (part == GETTER)
    return kvo_class_add_method(cls, property->getter_selector, property->getter, getter,
        property->getter_method, error);
  if (part == SETTER && property->setter)
    return kvo_class_add_method(cls, property->setter_selector, property->setter, setter,
        property->setter_method, error);
  if (part == SETTER_NAME && property->setter) return check_setter(cls, property, error);
  if (part == IVAR && property->ivar_offset >= 0)
    return kvo_class_add_ivar(cls, property->key, (size_t)property->ivar_offset, property->layout,
        error);
  return KVO_OK;
}

// Resumes at the step that failed.
static kvo_status add_parts(kvo_class *cls, const kvo_class_definition *definition,
    kvo_error *error) {
  const kvo_signature hook = {KVO_FORM_HOOK, {"", 0, 0}};
  size_t end = definition->property_count * PARTS;
  for (; cls->parts < end; cls->parts++) {
    const kvo_property_definition *property = &definition->properties[cls->parts / PARTS];
    kvo_status status = add_part(cls, property, cls->parts % PARTS, error);
    if (status) return status;
  }
  return kvo_class_add_method(cls, kvo_hooks()->destroy_properties,
      (kvo_imp)definition->destroy_properties, hook, NULL, error);
}

// The error of the caller that makes a class on this thread; NULL if lack of memory can't be reported.
static _Thread_local kvo_error *reported;

// Errors of classes that are defined inside `setup` don't concern our caller.
static void set_up(kvo_class *cls, const kvo_class_definition *definition) {
  kvo_error *outer = reported;
  reported = NULL;
  if (definition->setup) definition->setup(cls);
  reported = outer;
}

static kvo_class *property_make(const kvo_class **once, const kvo_class_definition *definition,
    const kvo_class *superclass, kvo_error *error) {
  kvo_class *cls = kvo_class_unfinished(definition->name, once);
  if (!cls) cls = kvo_class_make(definition->name, superclass, definition->instance_size, error);
  if (!cls) return NULL;
  cls->definer = once;
  if (definition->instance_alignment &&
      kvo_class_set_alignment(cls, definition->instance_alignment, error))
    return NULL;
  if (add_parts(cls, definition, error)) return NULL;
  set_up(cls, definition);
  return kvo_class_register(cls, error) ? NULL : cls;
}

static const kvo_class *report_or_stop(const kvo_class_definition *definition,
    const kvo_error *error) {
  if (reported) {
    *reported = *error;
    return NULL;
  }
  fprintf(stderr, "KVO: the class %s can't be made: %s\n", definition->name, error->message);
  abort();
}

// One definition at a time. The superclass is requested before the lock is taken. The lock is recursive, because a
// `setup` may be the first to request another class.
const kvo_class *kvo_class_define(const kvo_class **once, const kvo_class_definition *definition) {
  const kvo_class *superclass = definition->superclass();
  if (reported && !superclass)
    return superclass; // not used by any caller: `reported` has the error
  kvo_error error;
  KVO_KEEPING_LATER;
  (void)kvo_keep_code(definition); // also for a class without methods of its own
  KVO_LOCKED(&kvo_define_lock);
  const kvo_class *cls = __atomic_load_n(once, __ATOMIC_ACQUIRE);
  if (cls) return cls;
  cls = property_make(once, definition, superclass, &error);
  if (!cls) return report_or_stop(definition, &error);
  __atomic_store_n(once, cls, __ATOMIC_RELEASE);
  return cls;
}

const kvo_class *kvo_class_try_define(const kvo_class **once,
    const kvo_class_definition *definition) {
  kvo_error error, *outer = reported;
  reported = &error;
  const kvo_class *cls = kvo_class_define(once, definition);
  reported = outer;
  return cls;
}

kvo_status kvo_class_prepare(const kvo_class *(*class_function)(void), kvo_error *error) {
  kvo_error cause, *outer = reported;
  kvo_error_clear(&cause);
  reported = &cause;
  class_function();
  reported = outer;
  if (cause.status && error) *error = cause;
  return cause.status;
}

// MARK: Setters

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
  else if (kvo_releases_take_turns()) {
    kvo_release_in_turn(slot);
    return;
  }
  *slot = object;
  kvo_object_release(old);
}
