// First uses in a process: making classes, types, calls and a closure.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fixture_stress.h"
#include "require.h"
#include "shortage.h"

// Classes that have not been used yet

typedef struct rare {
  kvo_object object;
  double worth;
  const char *label;
  kvo_collection *KVO_NULLABLE parts;
  location place;
} rare;

typedef struct rarer {
  rare rare;
  long number;
} rarer;

#define RARE_PROPERTIES(PROPERTY)                        \
  PROPERTY(rare, double, worth, Worth, ASSIGN)           \
  PROPERTY(rare, const char *, label, Label, COPY)       \
  PROPERTY(rare, kvo_collection *, parts, Parts, RETAIN) \
  PROPERTY(rare, location, place, Place, ASSIGN, "{location=dd}")
#define RARER_PROPERTIES(PROPERTY) PROPERTY(rarer, long, number, Number, ASSIGN)

KVO_CLASS_INTERFACE(rare, RARE_PROPERTIES)
KVO_CLASS_INTERFACE(rarer, RARER_PROPERTIES)

static int set_ups;

// Must be called once, when everything before it has succeeded.
static void rare_setup(kvo_class *cls) {
  set_ups++;
  if (!kvo_class_method(cls, "setPlace:")) set_ups = 100;
}

KVO_CLASS_IMPLEMENTATION(rare, "CScarceRare", kvo_root_class, RARE_PROPERTIES, rare_setup)
KVO_CLASS_IMPLEMENTATION(rarer, "CScarceRarer", rare_class, RARER_PROPERTIES, NULL)

void fixture_make_class_or_stop(void) { rare_class(); }

// The data of one attempt

typedef struct {
  rarer *object;
  kvo_error error;
  int calls;
  kvo_handle *handle;
} stage;

static void count(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)object, (void)key, (void)change;
  ((stage *)context)->calls++;
}

static void nothing(stage *stage) { (void)stage; }

static void make_object(stage *stage) {
  stage->object = (rarer *)kvo_object_create(rarer_class());
  rare_setLabel(&stage->object->rare, "first");
}

static kvo_status prepare(stage *stage) { return kvo_class_prepare(rarer_class, &stage->error); }

static bool check_class(stage *stage) {
  make_object(stage);
  rarer_setNumber(stage->object, 5);
  rare_setPlace(&stage->object->rare, (location){1, 2});
  bool right = set_ups == 1 && rarer_number(stage->object) == 5 &&
               rare_place(&stage->object->rare).longitude == 2 &&
               kvo_class_superclass(rarer_class()) == rare_class();
  kvo_object_release((kvo_object *)stage->object);
  return right;
}

static kvo_status make_array(stage *stage) {
  const kvo_value one = kvo_value_int(1);
  kvo_collection *made = kvo_collection_create(KVO_ARRAY, &one, 1, &stage->error);
  bool right = made && kvo_collection_count(made) == 1;
  kvo_object_release((kvo_object *)made);
  return right ? KVO_OK : stage->error.status;
}

static kvo_status make_proxy(stage *stage) {
  kvo_collection *proxy = NULL;
  kvo_object *object = (kvo_object *)stage->object;
  kvo_status status = kvo_mutable_array(object, "parts", &proxy, &stage->error);
  kvo_object_release((kvo_object *)proxy);
  return status;
}

static kvo_status insert(stage *stage) {
  kvo_collection *proxy = NULL;
  const kvo_value one = kvo_value_int(1);
  kvo_status status =
      kvo_mutable_array((kvo_object *)stage->object, "parts", &proxy, &stage->error);
  if (!status) status = kvo_collection_insert(proxy, 0, &one, &stage->error);
  kvo_object_release((kvo_object *)proxy);
  return status;
}

static kvo_status read_label(stage *stage) {
  kvo_value value;
  kvo_status status =
      kvo_value_for_key((kvo_object *)stage->object, "label", &value, &stage->error);
  kvo_value_destroy(&value);
  return status;
}

static kvo_status observe(stage *stage, const char *key) {
  return kvo_add_callback((kvo_object *)stage->object, key, KVO_NEW | KVO_OLD, count, stage, NULL,
      &stage->handle, &stage->error);
}

static kvo_status observe_worth(stage *stage) { return observe(stage, "worth"); }
// By a closure.
static kvo_status observe_place(stage *stage) { return observe(stage, "place"); }
static kvo_status observe_path(stage *stage) { return observe(stage, "parts.@sum.self"); }

static bool check_object(stage *stage) {
  rare *object = &stage->object->rare;
  rare_setWorth(object, 3);
  rare_setPlace(object, (location){3, 4});
  rare_setParts(object, NULL);
  bool right = stage->calls == (stage->handle != NULL) && rare_worth(object) == 3 &&
               rare_place(object).latitude == 3;
  kvo_handle_release(stage->handle);
  kvo_object_release((kvo_object *)object);
  return right;
}

static bool check_nothing(stage *stage) { return !stage->object; }

static const struct first_use {
  const char *name;
  void (*set_up)(stage *);
  kvo_status (*act)(stage *);
  bool (*check)(stage *);
} uses[] = {{"a class", nothing, prepare, check_class},
    {"an array", nothing, make_array, check_nothing},
    {"a proxy", make_object, make_proxy, check_object},
    {"an insertion", make_object, insert, check_object},
    {"a key", make_object, read_label, check_object},
    {"an observer", make_object, observe_worth, check_object},
    {"a closure", make_object, observe_place, check_object},
    {"a path", make_object, observe_path, check_object}};

// Attempts

typedef struct {
  const struct first_use *use;
  int64_t at;
  bool lasting;
} attempt;

enum { RAN_OUT = 0, HAD_ENOUGH = 1, WENT_WRONG = 2 };

static bool says_memory(const kvo_error *error, kvo_status status) {
  bool is_status = status == KVO_NO_MEMORY || status == KVO_CLOSURES_UNAVAILABLE;
  return is_status && error->status == status && strcasestr(error->message, "memory");
}

static int run(const attempt *attempt) {
  stage stage = {0};
  attempt->use->set_up(&stage);
  if (attempt->lasting) fixture_limit_memory(attempt->at);
  else fixture_fail_allocation(attempt->at);
  kvo_status status = attempt->use->act(&stage);
  bool ran_out = fixture_memory_ran_out();
  fixture_limit_memory(-1);
  bool right = !status || says_memory(&stage.error, status);
  if (status) status = attempt->use->act(&stage);
  if (right && !status && attempt->use->check(&stage)) return ran_out ? RAN_OUT : HAD_ENOUGH;
  fprintf(stderr, "%s, allocation %lld%s: %s\n", attempt->use->name, (long long)attempt->at,
      attempt->lasting ? " on" : "", stage.error.message);
  return WENT_WRONG;
}

static bool ran_out(void *context) { _exit(run(context)); }

static void try_all(const struct first_use *use, bool lasting, fixture_shortage *result) {
  attempt attempt = {use, 0, lasting};
  for (int code = RAN_OUT; code != HAD_ENOUGH; attempt.at++) {
    int status = fixture_fork(ran_out, &attempt);
    code = (status >> 8) & 0xff;
    bool wrong = (status & 0xff) || (code != RAN_OUT && code != HAD_ENOUGH);
    result->failures += code != HAD_ENOUGH;
    result->wrong += wrong;
    if (wrong && attempt.at > 1000) return;
  }
}

fixture_shortage fixture_run_first_uses(void) {
  fixture_shortage result = {.scenarios = sizeof uses / sizeof *uses};
  for (int i = 0; i < result.scenarios; i++) {
    try_all(&uses[i], true, &result);
    try_all(&uses[i], false, &result);
  }
  return result;
}
