#include "account.h"

#include "support.h"

KVO_CLASS_IMPLEMENTATION(account, "BenchmarkAccount", kvo_root_class, ACCOUNT_PROPERTIES, NULL)

const kvo_class *bench_account_subclass(const char *name) {
  const kvo_class *known = kvo_class_named(name);
  if (known) return known;
  kvo_error error;
  kvo_class *made = kvo_class_create(name, account_class(), sizeof(account), &error);
  bench_require(made != NULL, "%s", error.message);
  bench_require_ok(kvo_class_register(made, &error), &error);
  return made;
}

account *bench_account_create(const kvo_class *cls) {
  kvo_object *object = kvo_object_create(cls);
  bench_require(object != NULL, "no account can be made");
  return (account *)object;
}
