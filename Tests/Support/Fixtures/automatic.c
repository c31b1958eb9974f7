#include "fixture_automatic.h"

#include <string.h>

#include "require.h"

static bool says_yes(const kvo_class *cls) {
  (void)cls;
  return true;
}

static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void by_key_setup(kvo_class *cls) {
  REQUIRE_IVAR(cls, automatic_by_key, bare, "_bare", int);
  require_class_method(cls, "automaticallyNotifiesObserversOfBare", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversOfOf", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversForFor_", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversOfBoth", (kvo_imp)says_yes);
  require_class_method(cls, "automaticallyNotifiesObserversForBoth", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(automatic_by_key, "CAutomaticByKey", kvo_root_class,
    AUTOMATIC_BY_KEY_PROPERTIES, by_key_setup)

static int times_asked;

int automatic_general_times_asked(void) { return __atomic_load_n(&times_asked, __ATOMIC_SEQ_CST); }

static bool general_hook(const kvo_class *cls, const char *key) {
  (void)cls;
  if (strcmp(key, "quiet") == 0 || strcmp(key, "Loud") == 0) return false;
  if (strcmp(key, "named") == 0) return true;
  if (strcmp(key, "counted") == 0) __atomic_fetch_add(&times_asked, 1, __ATOMIC_SEQ_CST);
  return kvo_class_automatically_notifies(kvo_root_class(), key);
}

static int general_Loud(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((automatic_general *)self)->loud * 10;
}

static void general_setup(kvo_class *cls) {
  require_method(cls, "Loud", (kvo_imp)general_Loud, KVO_GETTER(int));
  require_class_method(cls, "automaticallyNotifiesObserversForKey:", (kvo_imp)general_hook);
  require_class_method(cls, "automaticallyNotifiesObserversOfNamed", (kvo_imp)says_no);
  require_class_method(cls, "automaticallyNotifiesObserversOfLeft", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(automatic_general, "CAutomaticGeneral", kvo_root_class,
    AUTOMATIC_GENERAL_PROPERTIES, general_setup)

static bool sub_hook(const kvo_class *cls, const char *key) {
  (void)cls;
  if (strcmp(key, "loud") == 0) return false;
  return kvo_class_automatically_notifies(automatic_general_class(), key);
}

static void sub_setup(kvo_class *cls) {
  require_class_method(cls, "automaticallyNotifiesObserversForKey:", (kvo_imp)sub_hook);
  require_class_method(cls, "automaticallyNotifiesObserversForOther", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(automatic_sub, "CAutomaticSub", automatic_general_class,
    AUTOMATIC_SUB_PROPERTIES, sub_setup)

static void hand_setup(kvo_class *cls) {
  require_class_method(cls, "automaticallyNotifiesObserversOfBalance", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(hand, "CHand", kvo_root_class, HAND_PROPERTIES, hand_setup)

static double hand_balance_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((hand *)self)->balance;
}

static void hand_setBalance_imp(kvo_object *self, const kvo_method *_cmd, double value) {
  (void)_cmd;
  if (((hand *)self)->balance == value) return;
  kvo_will_change(self, "balance");
  ((hand *)self)->balance = value;
  hand_setItself((hand *)self, value);
  kvo_did_change(self, "balance");
}
