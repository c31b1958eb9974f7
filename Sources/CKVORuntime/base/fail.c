// Filling in errors, and the names of statuses.
#include "base/kvo_fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy_cut(char *target, size_t capacity, const char *source) {
  size_t length = source ? strnlen(source, capacity - 1) : 0;
  if (length) memcpy(target, source, length);
  target[length] = 0;
}

kvo_status kvo_fail(kvo_error *error, kvo_status status, const char *class_name, const char *key,
    const char *format, ...) {
  if (!error) return status;
  error->status = status;
  copy_cut(error->class_name, sizeof error->class_name, class_name);
  copy_cut(error->key, sizeof error->key, key);
  *error->component = *error->expected = *error->found = 0;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
  return status;
}

kvo_status kvo_fail_with(kvo_error *error, const kvo_error *cause) {
  if (error) *error = *cause;
  return cause->status;
}

kvo_status kvo_fail_no_memory(kvo_error *error, const char *to, const char *class_name,
    const char *key) {
  return kvo_fail(error, KVO_NO_MEMORY, class_name, key, "No memory to %s \"%s\" of %s.", to, key,
      class_name);
}

void kvo_fail_component(kvo_error *error, const char *prefix, const char *component) {
  if (error) snprintf(error->component, sizeof error->component, "%s%s", prefix, component);
}

void kvo_fail_types(kvo_error *error, const char *expected, const char *found) {
  if (!error) return;
  copy_cut(error->expected, sizeof error->expected, expected);
  copy_cut(error->found, sizeof error->found, found);
}

const char *kvo_status_name(kvo_status status) {
  switch (status) {
#define NAME(status) \
  case status: return #status;
    NAME(KVO_OK)
    NAME(KVO_UNDEFINED_KEY)
    NAME(KVO_NIL_VALUE)
    NAME(KVO_TYPE_MISMATCH)
    NAME(KVO_READ_ONLY)
    NAME(KVO_NOT_OBSERVABLE)
    NAME(KVO_NOT_REGISTERED)
    NAME(KVO_INVALID_KEY_PATH)
    NAME(KVO_INVALID_OPERATOR)
    NAME(KVO_INDEX_OUT_OF_BOUNDS)
    NAME(KVO_VALIDATION_FAILED)
    NAME(KVO_INVALID_ENCODING)
    NAME(KVO_LAYOUT_MISMATCH)
    NAME(KVO_DUPLICATE)
    NAME(KVO_INVALID_ARGUMENT)
    NAME(KVO_CLOSURES_UNAVAILABLE)
    NAME(KVO_NO_MEMORY)
    NAME(KVO_REFUSED)
#undef NAME
  }
  return "unknown status";
}
