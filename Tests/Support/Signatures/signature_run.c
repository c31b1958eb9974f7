// Runs a case: one object, and one observer that compares what it gets with what was set.
#include "SignatureFixtures.h"

#include "signature_case.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 40 };

typedef struct {
  _Alignas(16) unsigned char bytes[SAMPLE_SIZE_LIMIT];
} sample;

// A run in progress. `failure` is empty until the first failure, which stays.
typedef struct {
  const signature_case *tested;
  char *failure;
  size_t capacity;
  kvo_object *object;
  const kvo_method *getter;
  const kvo_method *setter;
  unsigned round;
  unsigned calls;
  sample before; ///< the old value
  sample after;  ///< the new value
} run;

__attribute__((format(printf, 2, 3))) static void fail(run *run, const char *format, ...) {
  if (*run->failure) return;
  char cause[600];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  snprintf(run->failure, run->capacity, "%s, round %u: %s", run->tested->name, run->round, cause);
}

static void expect_same(run *run, const void *got, const void *expected, const char *what) {
  if (!sample_same(run->tested->value(), got, expected)) fail(run, "%s is another value", what);
}

// A nil string or object is delivered as nil.
static void expect_value(run *run, const kvo_value *value, const void *expected, const char *what) {
  static void *const nil = NULL;
  if (!value) {
    fail(run, "%s is missing", what);
    return;
  }
  if (!kvo_value_is_nil(value) && value->type->size != run->tested->value()->size)
    fail(run, "%s has %zu bytes", what, value->type->size);
  else expect_same(run, kvo_value_is_nil(value) ? &nil : kvo_value_bytes(value), expected, what);
}

static void changed(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  run *run = context;
  run->calls++;
  if (object != run->object || strcmp(key_path, "value")) fail(run, "another key was delivered");
  if (kvo_change_get_kind(change) != KVO_SETTING) fail(run, "the change is no setting");
  expect_value(run, kvo_change_get_old(change), run->before.bytes, "the old value");
  expect_value(run, kvo_change_get_new(change), run->after.bytes, "the new value");
}

// MARK: Making

static kvo_class *make_class(run *run, const char *name) {
  const signature_case *tested = run->tested;
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, NULL, tested->instance_size, &error);
  bool made =
      cls &&
      !kvo_class_add_method(cls, "value", tested->getter, tested->getter_signature, NULL, &error) &&
      !kvo_class_add_method(cls, "setValue:", tested->setter, tested->setter_signature, NULL,
          &error) &&
      !kvo_class_register(cls, &error);
  if (!made) fail(run, "the class can't be made: %s", error.message);
  return made ? cls : NULL;
}

static void make_object(run *run) {
  char name[64];
  snprintf(name, sizeof name, "Signature%td", run->tested - signature_cases);
  const kvo_class *cls = kvo_class_named(name);
  if (!cls) cls = make_class(run, name);
  if (!cls) return;
  run->getter = kvo_class_method(cls, "value");
  run->setter = kvo_class_method(cls, "setValue:");
  run->object = kvo_object_create(cls);
  if (!run->object || !run->getter || !run->setter) fail(run, "the object can't be made");
}

// MARK: Setting and reading

static void set_by_method(run *run) {
  sample result, *expected = NULL;
  if (run->tested->result) {
    expected = (sample *)(void *)((char *)run->object + run->tested->result_offset);
    sample_fill(run->tested->result(), expected, run->round);
  }
  run->tested->set(run->object, run->setter, run->after.bytes, result.bytes);
  if (expected && !sample_same(run->tested->result(), result.bytes, expected))
    fail(run, "the setter's result is not what the original returned");
}

static void set_by_key(run *run) {
  kvo_error error = {0};
  kvo_value value;
  const kvo_type *type =
      kvo_type_for_encoding(run->tested->getter_signature.layout.encoding, &error);
  if (!type || kvo_value_init(&value, type, run->after.bytes)) {
    fail(run, "no value could be made: %s", error.message);
    return;
  }
  if (kvo_set_value_for_key(run->object, "value", &value, &error))
    fail(run, "setting by key fails: %s", error.message);
  kvo_value_destroy(&value);
}

static void compare_reads(run *run) {
  sample got;
  expect_same(run, (char *)run->object + run->tested->value_offset, run->after.bytes,
      "what is stored");
  run->tested->get(run->object, run->getter, got.bytes);
  expect_same(run, got.bytes, run->after.bytes, "what the getter gives");
  kvo_error error = {0};
  kvo_value value;
  if (kvo_value_for_key(run->object, "value", &value, &error)) {
    fail(run, "reading by key fails: %s", error.message);
    return;
  }
  expect_value(run, &value, run->after.bytes, "what the key gives");
  kvo_value_destroy(&value);
}

// A string set by key lives as long as the value that it is set from, because these setters don't copy.
static bool may_set_by_key(const description *description) {
  for (size_t i = 0; i < description->leaf_count; i++)
    if (description->leaves[i].kind == LEAF_STRING) return false;
  return true;
}

static void set_and_compare(run *run) {
  sample_fill(run->tested->value(), run->after.bytes, run->round);
  unsigned calls = run->calls;
  if (run->round % 4 == 3 && may_set_by_key(run->tested->value())) set_by_key(run);
  else set_by_method(run);
  if (run->calls != calls + 1) fail(run, "one set notified %u times", run->calls - calls);
  compare_reads(run);
  run->before = run->after;
}

static void observe_and_set(run *run) {
  kvo_error error = {0};
  kvo_handle *handle = NULL;
  if (kvo_add_callback(run->object, "value", KVO_OLD | KVO_NEW, changed, run, NULL, &handle,
          &error)) {
    fail(run, "observing fails: %s", error.message);
    return;
  }
  for (; run->round < ROUNDS && !*run->failure; run->round++) set_and_compare(run);
  kvo_handle_release(handle);
  unsigned calls = run->calls;
  sample_fill(run->tested->value(), run->after.bytes, run->round);
  set_by_method(run);
  compare_reads(run);
  if (run->calls != calls) fail(run, "a set after the removal notified");
}

size_t signature_case_count(void) { return signature_cases_count; }

const char *signature_case_name(size_t index) { return signature_cases[index].name; }

bool signature_case_is_typed(size_t index) {
  const signature_case *tested = &signature_cases[index];
  return !tested->result && *tested->getter_signature.layout.encoding != '{';
}

bool signature_case_run(size_t index, char *failure, size_t capacity) {
  run run = {.tested = &signature_cases[index], .failure = failure, .capacity = capacity};
  *failure = 0;
  make_object(&run);
  if (!*failure) observe_and_set(&run);
  kvo_object_release(run.object);
  return !*failure;
}
