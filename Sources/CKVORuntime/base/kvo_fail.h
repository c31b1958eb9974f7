/// Filling in errors.
#ifndef KVO_FAIL_H
#define KVO_FAIL_H

#include "kvo_error.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Fills in `error`, if there is one, and returns `status`. `class_name` and `key` may be NULL; the format gives the
/// whole sentence.
kvo_status kvo_fail(kvo_error *KVO_NULLABLE error, kvo_status status,
    const char *KVO_NULLABLE class_name, const char *KVO_NULLABLE key, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/// Copies an error that was made separately, and returns its status. For callers that need the status even if no
/// error was asked for.
kvo_status kvo_fail_with(kvo_error *KVO_NULLABLE error, const kvo_error *cause);

/// Fails with KVO_NO_MEMORY for an operation on a key: `to` is a verb, such as "observe".
kvo_status kvo_fail_no_memory(kvo_error *KVO_NULLABLE error, const char *to, const char *class_name,
    const char *key);

/// Initialises an error as empty, for code that may fill in any part of it. Cheaper than clearing all of it.
static inline void kvo_error_clear(kvo_error *error) {
  error->status = KVO_OK;
  *error->class_name = *error->key = *error->message = 0;
  *error->component = *error->expected = *error->found = 0;
}

/// Add details to an error that `kvo_fail` has filled in: the component of the path at fault, and the expected and
/// actual type of a value.
void kvo_fail_component(kvo_error *KVO_NULLABLE error, const char *prefix, const char *component);
void kvo_fail_types(kvo_error *KVO_NULLABLE error, const char *expected, const char *found);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
