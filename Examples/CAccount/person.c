#include "person.h"

#include <stdio.h>

// A context distinguishes a class's notifications from its superclass's, and one key from another,
// without comparing strings. The address of a static variable is unique.
static void *balance_context = &balance_context;
static void *interest_rate_context = &interest_rate_context;

static void report(person *self, const char *what, const kvo_change *change) {
  const kvo_value *old = kvo_change_get_old(change), *new = kvo_change_get_new(change);
  if (!old || !new) return; // not asked for
  printf("%s: the %s went from %g to %g\n", person_name(self), what, kvo_value_get_double(old),
      kvo_value_get_double(new));
}

// A notification that is not this class's own goes to the superclass, which may be observing, too.
static void observe_in_superclass(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  typedef void (*observe)(kvo_object *, const kvo_method *, const char *, kvo_object *,
      const kvo_change *, void *);
  kvo_imp imp = kvo_class_imp(kvo_class_superclass(person_class()), _cmd);
  ((observe)imp)(self, _cmd, key_path, object, change, context);
}

// Called after each change, before the account's setter returns.
static void person_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  if (context == balance_context) report((person *)self, "balance", change);
  else if (context == interest_rate_context) report((person *)self, "interest rate", change);
  else observe_in_superclass(self, _cmd, key_path, object, change, context);
}

static void person_setup(kvo_class *cls) {
  kvo_class_add_method(cls,
      "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)person_observe, KVO_HOOK, NULL,
      NULL);
}

KVO_CLASS_IMPLEMENTATION(person, "Person", kvo_root_class, PERSON_PROPERTIES, person_setup)

kvo_status person_watch(person *self, account *savings, kvo_error *error) {
  kvo_object *target = &savings->object;
  kvo_options options = KVO_OLD | KVO_NEW;
  kvo_status status =
      kvo_add_observer(target, &self->object, "balance", options, balance_context, error);
  if (status) return status;
  return kvo_add_observer(target, &self->object, "interestRate", options, interest_rate_context,
      error);
}

kvo_status person_stop_watching(person *self, account *savings, kvo_error *error) {
  kvo_object *target = &savings->object;
  kvo_status status =
      kvo_remove_observer_with_context(target, &self->object, "balance", balance_context, error);
  if (status) return status;
  return kvo_remove_observer_with_context(target, &self->object, "interestRate",
      interest_rate_context, error);
}
