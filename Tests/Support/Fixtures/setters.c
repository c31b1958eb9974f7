#include "fixture_setters.h"

#include <stdlib.h>
#include <string.h>

#include "require.h"

static void quirk_setup(kvo_class *cls);

KVO_CLASS_IMPLEMENTATION(quirk, "CQuirk", kvo_root_class, QUIRK_PROPERTIES, quirk_setup)

// The getters of the hand-written setters.
#define GIVES_THE_FIELD(type, key)                                          \
  static type quirk_##key##_imp(kvo_object *self, const kvo_method *_cmd) { \
    (void)_cmd;                                                             \
    return ((quirk *)self)->key;                                            \
  }
GIVES_THE_FIELD(double, level)
GIVES_THE_FIELD(int, fixed)
GIVES_THE_FIELD(const char *, label)
GIVES_THE_FIELD(int, bracketed)
GIVES_THE_FIELD(int, nested)

static void quirk_setLevel_imp(kvo_object *self, const kvo_method *_cmd, double value) {
  (void)_cmd;
  ((quirk *)self)->level = value < 0 ? 0 : value > 100 ? 100 : value;
}

static void quirk_setFixed_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)self;
  (void)_cmd;
  (void)value;
}

static void replace_label(quirk *self, const char *value) {
  char *old = (char *)self->label;
  self->label = value ? strdup(value) : NULL;
  if (!old) return;
  memset(old, '#', strlen(old));
  free(old);
}

static void quirk_setLabel_imp(kvo_object *self, const kvo_method *_cmd, const char *value) {
  (void)_cmd;
  replace_label((quirk *)self, value);
}

static void quirk_setBracketed_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  kvo_will_change(self, "bracketed");
  ((quirk *)self)->bracketed = value;
  kvo_did_change(self, "bracketed");
}

static void quirk_setNested_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  if (value > 0) quirk_setNested((quirk *)self, value - 1);
  ((quirk *)self)->nested = value;
}

static const kvo_method *setTally_method;

static int setTally(kvo_object *self, const kvo_method *_cmd, int value) {
  int before = ((quirk *)self)->tally;
  (void)_cmd;
  ((quirk *)self)->tally = value;
  return before;
}

int quirk_setTally(quirk *self, int value) {
  return ((int (*)(kvo_object *, const kvo_method *, int))kvo_method_lookup(&self->object,
      setTally_method))(&self->object, setTally_method, value);
}

static void quirk_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  replace_label((quirk *)self, NULL);
}

static void quirk_setup(kvo_class *cls) {
  kvo_error error = {0};
  require_ok(kvo_class_add_method(cls, "setTally:", (kvo_imp)setTally, KVO_ENCODED("i@:i"),
                 &setTally_method, &error),
      &error);
  require_hook(cls, "dealloc", (kvo_imp)quirk_dealloc);
}
