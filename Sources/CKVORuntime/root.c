// The root class of C: the hooks that a class may override, with what happens by default, and their
// selectors. An override passes what it does not take to
// `kvo_class_imp(kvo_class_superclass(its own class), _cmd)`, and in the end to these.
#include "kvo_accessors.h"
#include "kvo_coding.h"
#include "kvo_diagnostics.h"
#include "kvo_fail.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kvo_hook_names hooks;
static kvo_class *root;
static pthread_once_t root_once = PTHREAD_ONCE_INIT;

static void take_unhandled(kvo_object *observer, const kvo_method *method, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)method, (void)change, (void)context;
  kvo_report_unhandled_notification(key_path, object, observer);
}

// A dot is no part of a key: whoever writes one wants a key path.
static const char *advice(const char *key) {
  return strchr(key, '.') ? " Key paths are followed by the functions that say key_path." : "";
}

static kvo_status refuse_undefined_value(kvo_object *object, const kvo_method *method,
    const char *key, kvo_value *value, kvo_error *error) {
  (void)method, (void)value;
  const char *name = kvo_class_of(object)->name;
  return kvo_fail(error, KVO_UNDEFINED_KEY, name, key,
      "%s has no accessor and no ivar for the key \"%s\".%s", name, key, advice(key));
}

static kvo_status refuse_setting_undefined(kvo_object *object, const kvo_method *method,
    const kvo_value *value, const char *key, kvo_error *error) {
  (void)method, (void)value;
  const char *name = kvo_class_of(object)->name;
  return kvo_fail(error, KVO_UNDEFINED_KEY, name, key,
      "%s has no setter and no ivar for the key \"%s\".%s", name, key, advice(key));
}

static kvo_status refuse_nil(kvo_object *object, const kvo_method *method, const char *key,
    kvo_error *error) {
  (void)method;
  const char *name = kvo_class_of(object)->name;
  return kvo_fail(error, KVO_NIL_VALUE, name, key,
      "\"%s\" of %s is a scalar or struct and can't be nil.", key, name);
}

static const char *intern_hook(const char *selector) {
  const char *interned = kvo_key_intern(selector);
  if (interned) return interned;
  fputs("KVO: no memory for the root class.\n", stderr);
  abort();
}

static void name_hooks(void) {
  hooks = (kvo_hook_names){
      .set_nil_value = intern_hook("setNilValueForKey:"),
      .value_for_undefined = intern_hook("valueForUndefinedKey:"),
      .set_value_for_undefined = intern_hook("setValue:forUndefinedKey:"),
      .value_for_key = intern_hook("valueForKey:"),
      .set_value_for_key = intern_hook("setValue:forKey:"),
      .validate_value = intern_hook("validateValue:forKey:error:"),
      .dealloc = intern_hook("dealloc"),
      .destroy_properties = intern_hook("destroyProperties"),
      .observe = intern_hook("observeValueForKeyPath:ofObject:change:context:"),
      .access_ivars = intern_hook("accessInstanceVariablesDirectly"),
      .automatically_notifies = intern_hook("automaticallyNotifiesObserversForKey:"),
      .key_paths_affecting = intern_hook("keyPathsForValuesAffectingValueForKey:"),
  };
}

static kvo_status add_hooks(kvo_error *error) {
  const kvo_signature hook = {KVO_FORM_HOOK, {"", 0, 0}};
  const struct {
    const char *selector;
    kvo_imp imp;
  } methods[] = {{hooks.observe, (kvo_imp)take_unhandled},
      {hooks.value_for_key, (kvo_imp)kvo_search_value},
      {hooks.set_value_for_key, (kvo_imp)kvo_search_and_set},
      {hooks.validate_value, (kvo_imp)kvo_search_and_validate},
      {hooks.set_nil_value, (kvo_imp)refuse_nil},
      {hooks.value_for_undefined, (kvo_imp)refuse_undefined_value},
      {hooks.set_value_for_undefined, (kvo_imp)refuse_setting_undefined}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    kvo_status status =
        kvo_class_add_method(root, methods[i].selector, methods[i].imp, hook, NULL, error);
    if (status) return status;
  }
  return kvo_class_register(root, error);
}

static void make_root(void) {
  name_hooks();
  kvo_error error;
  root = kvo_class_make("KVORoot", NULL, sizeof(kvo_object), &error);
  if (root) kvo_class_set_operations(root, &kvo_root_operations);
  if (root && add_hooks(&error) == KVO_OK) return;
  fprintf(stderr, "KVO: the root class can't be made: %s\n", error.message);
  abort();
}

const kvo_hook_names *kvo_hooks(void) {
  pthread_once(&root_once, make_root);
  return &hooks;
}

const kvo_class *kvo_root_class(void) {
  pthread_once(&root_once, make_root);
  return root;
}
