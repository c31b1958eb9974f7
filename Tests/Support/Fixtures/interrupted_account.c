#include "fixture_interrupted_account.h"

#include "require.h"

static void play(interrupted_account *self) {
  if (self->during) self->during(self->context);
}

static void set_balance(kvo_object *self, const kvo_method *_cmd, double balance) {
  (void)_cmd;
  play((interrupted_account *)self);
  ((account *)self)->balance = balance;
}

static void set_frozen(kvo_object *self, const kvo_method *_cmd, bool frozen) {
  (void)_cmd;
  play((interrupted_account *)self);
  ((account *)self)->frozen = frozen;
}

static void set_rate(kvo_object *self, const kvo_method *_cmd, int rate) {
  (void)_cmd;
  play((interrupted_account *)self);
  ((interrupted_account *)self)->rate = rate;
}

static void set_up(kvo_class *cls) {
  REQUIRE_IVAR(cls, interrupted_account, rate, "_rate", double);
  require_method(cls, "setRate:", (kvo_imp)set_rate, KVO_SETTER(int));
  require_method(cls, "setBalance:", (kvo_imp)set_balance, KVO_SETTER(double));
  require_method(cls, "setFrozen:", (kvo_imp)set_frozen, KVO_SETTER(bool));
}

KVO_CLASS_IMPLEMENTATION(interrupted_account, "CInterlude", account_class, INTERLUDE_PROPERTIES,
    set_up)

kvo_class *interrupted_account_subclass(const char *name) {
  kvo_error error = {0};
  kvo_class *cls =
      kvo_class_create(name, interrupted_account_class(), sizeof(interrupted_account), &error);
  require_ok(cls ? kvo_class_register(cls, &error) : error.status, &error);
  return cls;
}

static double hundredfold(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((account *)self)->balance * 100;
}

void interrupted_account_replace_getter(kvo_class *cls) {
  kvo_error error = {0};
  require_ok(kvo_class_replace_method(cls, "balance", (kvo_imp)hundredfold, NULL, &error), &error);
}

static double play_and_get(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  play((interrupted_account *)self);
  return ((account *)self)->balance;
}

void interrupted_account_interrupt_getter(kvo_class *cls) {
  kvo_error error = {0};
  require_ok(kvo_class_replace_method(cls, "balance", (kvo_imp)play_and_get, NULL, &error), &error);
}

static double thousandfold(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((account *)self)->balance * 1000;
}

void interrupted_account_add_getter(kvo_class *cls) {
  require_method(cls, "getBalance", (kvo_imp)thousandfold, KVO_GETTER(double));
}

void interrupted_account_set_rate(interrupted_account *object, int rate) {
  const kvo_method *method = kvo_class_method(interrupted_account_class(), "setRate:");
  kvo_imp imp = kvo_method_lookup((kvo_object *)object, method);
  ((void (*)(kvo_object *, const kvo_method *, int))imp)((kvo_object *)object, method, rate);
}
