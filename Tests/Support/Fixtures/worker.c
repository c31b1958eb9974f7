#include "fixture_worker.h"

#include <string.h>

#include "require.h"

// worker

static worker *worker_ueberboss(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  worker *boss = ((worker *)self)->boss;
  return boss ? boss->boss : NULL;
}

static int worker_compare(kvo_object *self, const kvo_method *_cmd, kvo_object *other) {
  (void)_cmd;
  int age = ((worker *)self)->age, others = ((worker *)other)->age;
  return (age > others) - (age < others);
}

static void replace(kvo_value *value, kvo_value with) {
  kvo_value_destroy(value);
  *value = with;
}

static kvo_status worker_validateAge(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    kvo_error *error) {
  (void)self, (void)_cmd;
  if (kvo_value_get_int(value) < -100) *error = (kvo_error){.message = "Too young."};
  if (kvo_value_get_int(value) < 0) return KVO_VALIDATION_FAILED;
  if (kvo_value_get_int(value) > 150) replace(value, kvo_value_int(150));
  return KVO_OK;
}

static kvo_status worker_validateName(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    kvo_error *error) {
  (void)self, (void)_cmd;
  const char *name = kvo_value_get_string(value);
  if (!name) replace(value, kvo_value_string("anonymous"));
  if (!name || *name) return KVO_OK;
  replace(value, kvo_value_string("replaced"));
  *error = (kvo_error){.status = KVO_INVALID_ARGUMENT,
      .class_name = "names",
      .key = "of workers",
      .message = "A worker has a name."};
  return KVO_INVALID_ARGUMENT;
}

static void worker_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_copied_string(&((worker *)self)->label, NULL);
  kvo_store_copied_string(&((worker *)self)->badge.text, NULL);
}

static void worker_setup(kvo_class *cls) {
  require_method(cls, "überboss", (kvo_imp)worker_ueberboss, KVO_ENCODED("@@:"));
  require_method(cls, "compare:", (kvo_imp)worker_compare, KVO_ENCODED("i@:@"));
  require_hook(cls, "validateAge:error:", (kvo_imp)worker_validateAge);
  require_hook(cls, "validateName:error:", (kvo_imp)worker_validateName);
  require_hook(cls, "dealloc", (kvo_imp)worker_dealloc);
  REQUIRE_IVAR(cls, worker, label, "_label", const char *);
  require_ivar(cls, "_badge", offsetof(worker, badge), (kvo_layout)KVO_STRUCT(badge, "{badge=*i}"));
}

KVO_CLASS_IMPLEMENTATION(worker, "CWorker", tracked_class, WORKER_PROPERTIES, worker_setup)

// oracle

static kvo_status oracle_value(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *out, kvo_error *error) {
  if (!strcmp(key, "fortune")) {
    *out = kvo_value_double(((oracle *)self)->notified);
    return KVO_OK;
  }
  typedef kvo_status (*value)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  kvo_status status = ((value)kvo_class_imp(worker_class(), _cmd))(self, _cmd, key, out, error);
  if (!status && !strcmp(key, "age")) replace(out, kvo_value_int(kvo_value_get_int(out) + 1000));
  return status;
}

static kvo_status oracle_setValue(kvo_object *self, const kvo_method *_cmd, const kvo_value *value,
    const char *key, kvo_error *error) {
  if (!strcmp(key, "fortune")) {
    ((oracle *)self)->notified = kvo_value_get_double(value);
    return KVO_OK;
  }
  if (!strcmp(key, "doom")) return KVO_READ_ONLY;
  typedef kvo_status (*take)(kvo_object *, const kvo_method *, const kvo_value *, const char *,
      kvo_error *);
  return ((take)kvo_class_imp(worker_class(), _cmd))(self, _cmd, value, key, error);
}

static kvo_status oracle_validate(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    const char *key, kvo_error *error) {
  if (!strcmp(key, "fortune")) {
    replace(value, kvo_value_int(13));
    return KVO_OK;
  }
  if (!strcmp(key, "doom")) return KVO_VALIDATION_FAILED;
  typedef kvo_status (*ask)(kvo_object *, const kvo_method *, kvo_value *, const char *,
      kvo_error *);
  return ((ask)kvo_class_imp(worker_class(), _cmd))(self, _cmd, value, key, error);
}

static void oracle_setup(kvo_class *cls) {
  require_hook(cls, "validateValue:forKey:error:", (kvo_imp)oracle_validate);
  require_hook(cls, "valueForKey:", (kvo_imp)oracle_value);
  require_hook(cls, "setValue:forKey:", (kvo_imp)oracle_setValue);
}

KVO_CLASS_IMPLEMENTATION(oracle, "COracle", worker_class, ORACLE_PROPERTIES, oracle_setup)
