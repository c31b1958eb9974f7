#include <pthread.h>
#include <stdio.h>

#include "fixture_keys.h"
#include "require.h"

enum { FIRST_IVAR = 4, FIRST_SETTER = 8, CANDIDATES = 10 };

// The method of bit n returns or stores field n.
#define GETTER(bit)                                                   \
  static double get_##bit(kvo_object *self, const kvo_method *_cmd) { \
    (void)_cmd;                                                       \
    return ((search *)self)->fields[bit];                             \
  }
#define SETTER(bit)                                                               \
  static void set_##bit(kvo_object *self, const kvo_method *_cmd, double value) { \
    (void)_cmd;                                                                   \
    ((search *)self)->fields[bit] = value;                                        \
  }
GETTER(0)
GETTER(1)
GETTER(2)
GETTER(3)
SETTER(8)
SETTER(9)

static const struct {
  const char *name;
  kvo_imp imp;
} candidates[CANDIDATES] = {
    {"getValue", (kvo_imp)get_0},
    {"value", (kvo_imp)get_1},
    {"isValue", (kvo_imp)get_2},
    {"_value", (kvo_imp)get_3},
    {"_value", NULL},
    {"_isValue", NULL},
    {"value", NULL},
    {"isValue", NULL},
    {"setValue:", (kvo_imp)set_8},
    {"_setValue:", (kvo_imp)set_9},
};

static void add_candidate(kvo_class *cls, size_t bit) {
  const char *name = candidates[bit].name;
  if (bit >= FIRST_SETTER) {
    require_method(cls, name, candidates[bit].imp, KVO_SETTER(double));
  } else if (bit >= FIRST_IVAR) {
    require_ivar(cls, name, offsetof(search, fields) + bit * sizeof(double),
        (kvo_layout)KVO_TYPE(double));
  } else {
    require_method(cls, name, candidates[bit].imp, KVO_GETTER(double));
  }
}

void search_class_add(const kvo_class *cls, search_candidates chosen) {
  for (size_t bit = 0; bit < CANDIDATES; bit++) {
    if (chosen & (1u << bit)) add_candidate((kvo_class *)(uintptr_t)cls, bit);
  }
}

static const kvo_class *make_class(const char *name, search_candidates chosen) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, NULL, sizeof(search), &error);
  require_ok(error.status, &error);
  search_class_add(cls, chosen);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

const kvo_class *search_class(search_candidates chosen) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  char name[32];
  snprintf(name, sizeof name, "CSearch%u", (unsigned)chosen);
  pthread_mutex_lock(&making);
  const kvo_class *cls = kvo_class_named(name);
  if (!cls) cls = make_class(name, chosen);
  pthread_mutex_unlock(&making);
  return cls;
}
