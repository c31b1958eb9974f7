/// Numbers of any kind, as conversions and comparisons see them.
#ifndef KVO_CONVERT_H
#define KVO_CONVERT_H

#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Whether it is `_Bool`, an integer or a floating-point type.
static inline bool kvo_type_is_number(const kvo_type *type) {
  return type->kind >= KVO_KIND_BOOL && type->kind <= KVO_KIND_LONG_DOUBLE;
}

/// A number without loss, in the first form that holds it.
typedef struct kvo_number {
  enum kvo_number_form { KVO_NUMBER_SIGNED, KVO_NUMBER_UNSIGNED, KVO_NUMBER_REAL } form;
  union {
    int64_t integer;
    uint64_t large; ///< past INT64_MAX
    long double real;
  };
} kvo_number;

/// Reads a number of a type that is one.
kvo_number kvo_number_read(const kvo_type *type, const void *bytes);
/// Stores it as the type, which is a number's, by the rules of the readers in kvo_value.h.
void kvo_number_write(const kvo_type *type, void *bytes, kvo_number number);
/// Whether they are of equal worth, exactly: 2^53 + 1 is no double's equal. NaN equals nothing.
bool kvo_number_equal(kvo_number a, kvo_number b);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
