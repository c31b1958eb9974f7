#include "fixture_account.h"

#include <math.h>

#include "require.h"

KVO_CLASS_IMPLEMENTATION(account, "CAccount", kvo_root_class, ACCOUNT_PROPERTIES, NULL)

static void savings_setBalance_imp(kvo_object *self, const kvo_method *_cmd, double value) {
  ((savings *)self)->sets += 1;
  ((void (*)(kvo_object *, const kvo_method *, double))kvo_class_imp(account_class(), _cmd))(self,
      _cmd, floor(value));
}

static void savings_setup(kvo_class *cls) {
  require_method(cls, "setBalance:", (kvo_imp)savings_setBalance_imp, KVO_SETTER(double));
}

KVO_CLASS_IMPLEMENTATION(savings, "CSavings", account_class, SAVINGS_PROPERTIES, savings_setup)
