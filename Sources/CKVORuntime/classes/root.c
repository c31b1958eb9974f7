// The root class of C: the hooks that a class may override, their default behaviour, and their selectors. An override
// passes whatever it does not handle to `kvo_class_imp(kvo_class_superclass(its own class), _cmd)`, and finally to
// these.
#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "kvo_diagnostics.h"
#include "objects/kvo_class_internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kvo_hook_names hooks;
static kvo_class *root;
static void (*unhandled_handler)(const char *key_path, kvo_object *object, kvo_object *observer);
static pthread_once_t root_once = PTHREAD_ONCE_INIT;

void kvo_set_unhandled_notification_handler(void (*handler)(const char *key_path,
    kvo_object *object, kvo_object *observer)) {
  __atomic_store_n(&unhandled_handler, handler, __ATOMIC_RELEASE);
}

void kvo_report_unhandled_notification(const char *key_path, kvo_object *object,
    kvo_object *observer) {
  void (*handler)(const char *, kvo_object *, kvo_object *) =
      __atomic_load_n(&unhandled_handler, __ATOMIC_ACQUIRE);
  if (handler) {
    handler(key_path, object, observer);
    return;
  }
  char observed[128], observing[128], message[512];
  kvo_object_describe(object, observed, sizeof observed);
  kvo_object_describe(observer, observing, sizeof observing);
  snprintf(message, sizeof message,
      "%s was notified of a change of \"%s\" of %s, but no class of the observer took the notification: "
      "observeValueForKeyPath reached the root. Handle the context that was registered.",
      observing, key_path, observed);
  kvo_break_on_misuse(message);
  fprintf(stderr, "KVO: %s\n", message);
  abort();
}

static void take_unhandled(kvo_object *observer, const kvo_method *method, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)method, (void)change, (void)context;
  kvo_report_unhandled_notification(key_path, object, observer);
}

// A key contains no dot; one that does was probably meant as a key path.
static const char *root_class_advice(const char *key) {
  return strchr(key, '.') ? " Key paths are followed by the functions that say key_path." : "";
}

// Also names the key that is probably meant, unless the advice already explains the error.
static kvo_status root_class_refuse(const kvo_object *object, const char *what, const char *key,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const char *say = root_class_advice(key);
  kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
      "%s has no %s and no ivar for the key \"%s\".%s", cls->name, what, key, say);
  if (!*say) kvo_suggest_key(cls, key, error);
  return KVO_UNDEFINED_KEY;
}

static kvo_status refuse_undefined_value(kvo_object *object, const kvo_method *method,
    const char *key, kvo_value *value, kvo_error *error) {
  (void)method, (void)value;
  return root_class_refuse(object, "accessor", key, error);
}

bool kvo_class_may_answer_any_key(const kvo_class *cls) {
  const kvo_hook_names *names = kvo_hooks();
  kvo_imp undefined = kvo_class_imp(cls, kvo_class_find_method(cls, names->value_for_undefined));
  kvo_imp value = kvo_class_imp(cls, kvo_class_find_method(cls, names->value_for_key));
  return undefined != (kvo_imp)refuse_undefined_value || value != (kvo_imp)kvo_search_value;
}

static kvo_status refuse_setting_undefined(kvo_object *object, const kvo_method *method,
    const kvo_value *value, const char *key, kvo_error *error) {
  (void)method, (void)value;
  return root_class_refuse(object, "setter", key, error);
}

static kvo_status root_class_refuse_nil(kvo_object *object, const kvo_method *method,
    const char *key, kvo_error *error) {
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
      {hooks.set_nil_value, (kvo_imp)root_class_refuse_nil},
      {hooks.value_for_undefined, (kvo_imp)refuse_undefined_value},
      {hooks.set_value_for_undefined, (kvo_imp)refuse_setting_undefined}};
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    kvo_status status =
        kvo_class_add_own_method(root, methods[i].selector, methods[i].imp, hook, NULL, error);
    if (status) return status;
  }
  return kvo_class_register(root, error);
}

static void root_class_make_root(void) {
  name_hooks();
  kvo_error error;
  root = kvo_class_make("KVORoot", NULL, sizeof(kvo_object), &error);
  if (root) kvo_class_set_operations(root, &kvo_root_operations);
  if (root && add_hooks(&error) == KVO_OK) return;
  fprintf(stderr, "KVO: the root class can't be made: %s\n", error.message);
  abort();
}

const kvo_hook_names *kvo_hooks(void) {
  pthread_once(&root_once, root_class_make_root);
  return &hooks;
}

const kvo_class *kvo_root_class(void) {
  pthread_once(&root_once, root_class_make_root);
  return root;
}

kvo_class *kvo_class_create(const char *name, const kvo_class *superclass, size_t instance_size,
    kvo_error *error) {
  return kvo_class_make(name, superclass ? superclass : kvo_root_class(), instance_size, error);
}
