#include "fixture_guide.h"

#include <stdio.h>
#include <string.h>

#include "require.h"

typedef void (*observe_function)(kvo_object *, const kvo_method *, const char *, kvo_object *,
    const kvo_change *, void *);

static const char observe_selector[] = "observeValueForKeyPath:ofObject:change:context:";

// The addresses of statics are unique contexts.
static char balance_context, rate_context, person_context, child_context, investor_context;

static void hear(guide_person *self, const char *who, const char *what, const kvo_change *change) {
  size_t used = strlen(self->heard);
  snprintf(self->heard + used, sizeof self->heard - used, "%s: %s %g to %g\n", who, what,
      kvo_value_get_double(kvo_change_get_old(change)),
      kvo_value_get_double(kvo_change_get_new(change)));
}

static void watch(guide_person *self, guide_account *account, const char *key, void *context) {
  kvo_error error = {0};
  require_ok(kvo_add_observer(&account->object, &self->object, key, KVO_NEW | KVO_OLD, context,
                 &error),
      &error);
}

static void unwatch(guide_person *self, guide_account *account, const char *key, void *context) {
  kvo_error error = {0};
  require_ok(kvo_remove_observer_with_context(&account->object, &self->object, key, context,
                 &error),
      &error);
}

// person

static void *context_for(const guide_person *self, const char *key) {
  if (self->contexts == GUIDE_NO_CONTEXT) return NULL;
  if (self->contexts == GUIDE_CONTEXT_PER_CLASS) return &person_context;
  return strcmp(key, "balance") ? &rate_context : &balance_context;
}

void guide_person_watch(guide_person *self, guide_account *account) {
  watch(self, account, "balance", context_for(self, "balance"));
  watch(self, account, "interestRate", context_for(self, "interestRate"));
}

void guide_person_unwatch(guide_person *self, guide_account *account) {
  unwatch(self, account, "balance", context_for(self, "balance"));
  unwatch(self, account, "interestRate", context_for(self, "interestRate"));
}

static const char *known_key(const char *key_path) {
  if (!strcmp(key_path, "balance")) return "balance";
  return strcmp(key_path, "interestRate") ? NULL : "rate";
}

// The subject of the notification, or NULL if it is not for a person.
static const char *subject(const guide_person *self, const char *key_path, const void *context) {
  switch (self->contexts) {
  case GUIDE_CONTEXT_PER_KEY:
    if (context == &balance_context) return "balance";
    return context == &rate_context ? "rate" : NULL;
  case GUIDE_CONTEXT_PER_CLASS: return context == &person_context ? known_key(key_path) : NULL;
  case GUIDE_NO_CONTEXT: return known_key(key_path);
  }
  return NULL;
}

static void person_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  guide_person *person = (guide_person *)self;
  const char *what = subject(person, key_path, context);
  if (what) {
    hear(person, "person", what, change);
  } else {
    ((observe_function)kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, key_path, object, change,
        context);
  }
}

static void person_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)person_observe);
}

KVO_CLASS_IMPLEMENTATION(guide_person, "CGuidePerson", kvo_root_class, GUIDE_NO_PROPERTIES,
    person_setup)

// child

void guide_child_watch(guide_child *self, guide_account *account) {
  watch(self, account, "balance", &child_context);
}

void guide_child_unwatch(guide_child *self, guide_account *account) {
  unwatch(self, account, "balance", &child_context);
}

static void child_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  if (context == &child_context) {
    hear((guide_child *)self, "child", "balance", change);
  } else {
    ((observe_function)kvo_class_imp(guide_person_class(), _cmd))(self, _cmd, key_path, object,
        change, context);
  }
}

static void child_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)child_observe);
}

KVO_CLASS_IMPLEMENTATION(guide_child, "CGuideChild", guide_person_class, GUIDE_NO_PROPERTIES,
    child_setup)

// investor

void guide_investor_watch(guide_investor *self, guide_account *account) {
  kvo_error error = {0};
  require_ok(kvo_add_observer(&account->object, &self->object, "balance", KVO_PRIOR | KVO_NEW,
                 &investor_context, &error),
      &error);
}

// The account changes between will and did. The final notification is too late to read the old wealth.
static void investor_observe(kvo_object *object, const kvo_method *_cmd, const char *key_path,
    kvo_object *account, const kvo_change *change, void *context) {
  guide_investor *self = (guide_investor *)object;
  if (context != &investor_context) {
    ((observe_function)kvo_class_imp(kvo_root_class(), _cmd))(object, _cmd, key_path, account,
        change, context);
  } else if (kvo_change_is_prior(change)) {
    kvo_will_change(object, "wealth");
  } else {
    self->wealth = self->factor * kvo_value_get_double(kvo_change_get_new(change));
    kvo_did_change(object, "wealth");
  }
}

static void investor_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)investor_observe);
}

KVO_CLASS_IMPLEMENTATION(guide_investor, "CGuideInvestor", kvo_root_class,
    GUIDE_INVESTOR_PROPERTIES, investor_setup)
