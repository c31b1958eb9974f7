#include "fixture_answers.h"

#include <pthread.h>
#include <stdio.h>

#include "require.h"

// The part of bit n returns or stores field n.
#define GETTER(bit)                                                   \
  static double get_##bit(kvo_object *self, const kvo_method *_cmd) { \
    (void)_cmd;                                                       \
    return ((answers *)self)->fields[bit];                            \
  }
#define SETTER(bit)                                                               \
  static void set_##bit(kvo_object *self, const kvo_method *_cmd, double value) { \
    (void)_cmd;                                                                   \
    ((answers *)self)->fields[bit] = value;                                       \
  }
GETTER(0)
GETTER(1)
GETTER(2)
GETTER(3)
SETTER(16)
SETTER(17)

static void get_nothing(kvo_object *self, const kvo_method *_cmd) { (void)self, (void)_cmd; }

// The elements 0, 10 and 20.

static size_t count(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 3;
}

static double object(kvo_object *self, const kvo_method *_cmd, size_t index) {
  (void)self, (void)_cmd;
  return 10.0 * (double)index;
}

static kvo_collection *at_indexes(kvo_object *self, const kvo_method *_cmd,
    const kvo_index_set *indexes) {
  kvo_value elements[3];
  size_t length = 0;
  for (size_t i = 0; i < 3; i++)
    if (kvo_index_set_contains(indexes, i))
      elements[length++] = kvo_value_double(object(self, _cmd, i));
  return kvo_collection_create(KVO_ARRAY, elements, length, NULL);
}

static size_t index_of(kvo_object *self, const kvo_method *_cmd, double element) {
  for (size_t i = 0; i < 3; i++)
    if (object(self, _cmd, i) == element) return i;
  return KVO_NOT_FOUND;
}

static kvo_collection *enumerator(kvo_object *self, const kvo_method *_cmd) {
  kvo_value elements[3];
  for (size_t i = 0; i < 3; i++) elements[i] = kvo_value_double(object(self, _cmd, i));
  return kvo_collection_create(KVO_ARRAY, elements, 3, NULL);
}

static bool member(kvo_object *self, const kvo_method *_cmd, double element) {
  return index_of(self, _cmd, element) != KVO_NOT_FOUND;
}

static bool refuse_ivars(const kvo_class *cls) {
  (void)cls;
  return false;
}

// The part of each bit: a method with its encoding, or an ivar if there is no function.
static const struct {
  const char *name;
  kvo_imp imp;
  const char *encoding;
} parts[ANSWERS_COUNT_OF_PARTS] = {
    {"getValue", (kvo_imp)get_0, "d@:"},
    {"value", (kvo_imp)get_1, "d@:"},
    {"isValue", (kvo_imp)get_2, "d@:"},
    {"_value", (kvo_imp)get_3, "d@:"},
    {"countOfValue", (kvo_imp)count, "Q@:"},
    {"objectInValueAtIndex:", (kvo_imp)object, "d@:Q"},
    {"valueAtIndexes:", (kvo_imp)at_indexes, "@@:^v"},
    {"indexInValueOfObject:", (kvo_imp)index_of, "Q@:d"},
    {"enumeratorOfValue", (kvo_imp)enumerator, "@@:"},
    {"memberOfValue:", (kvo_imp)member, "B@:d"},
    {"_value", NULL, NULL},
    {"_isValue", NULL, NULL},
    {"value", NULL, NULL},
    {"isValue", NULL, NULL},
    {"accessInstanceVariablesDirectly", (kvo_imp)refuse_ivars, NULL},
    {"getValue", (kvo_imp)get_nothing, "v@:"},
    {"setValue:", (kvo_imp)set_16, "v@:d"},
    {"_setValue:", (kvo_imp)set_17, "v@:d"},
};

static void add_part(kvo_class *cls, size_t bit) {
  const char *name = parts[bit].name;
  if (parts[bit].encoding) {
    require_method(cls, name, parts[bit].imp, KVO_ENCODED(parts[bit].encoding));
  } else if (parts[bit].imp) {
    require_class_method(cls, name, parts[bit].imp);
  } else {
    require_ivar(cls, name, offsetof(answers, fields) + bit * sizeof(double),
        (kvo_layout)KVO_TYPE(double));
  }
}

void answers_class_add(const kvo_class *cls, answers_parts chosen) {
  for (size_t bit = 0; bit < ANSWERS_COUNT_OF_PARTS; bit++)
    if ((uint32_t)chosen >> bit & 1) add_part((kvo_class *)(uintptr_t)cls, bit);
}

static const kvo_class *make_class(const char *name, answers_parts chosen) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, NULL, sizeof(answers), &error);
  require_ok(error.status, &error);
  answers_class_add(cls, chosen);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

const kvo_class *answers_class(answers_parts chosen) {
  static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
  char name[32];
  snprintf(name, sizeof name, "CAnswers%u", (unsigned)chosen);
  pthread_mutex_lock(&making);
  const kvo_class *cls = kvo_class_named(name);
  if (!cls) cls = make_class(name, chosen);
  pthread_mutex_unlock(&making);
  return cls;
}

answers *answers_make(answers_parts chosen) {
  answers *made = (answers *)kvo_object_create(answers_class(chosen));
  for (size_t bit = 0; bit < ANSWERS_COUNT_OF_PARTS; bit++) made->fields[bit] = (double)bit;
  return made;
}
