/// Making an error.
#ifndef KVO_FAIL_H
#define KVO_FAIL_H

#include "kvo_error.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Fills in `error`, if there is one, and returns `status`. `class_name` and `key` may be NULL
/// where there is none; the format gives the whole sentence.
kvo_status kvo_fail(kvo_error *KVO_NULLABLE error, kvo_status status,
    const char *KVO_NULLABLE class_name, const char *KVO_NULLABLE key, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
