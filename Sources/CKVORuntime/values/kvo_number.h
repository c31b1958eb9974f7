/// Numbers of any kind, for conversions and comparisons.
#ifndef KVO_NUMBER_H
#define KVO_NUMBER_H

#include "types/kvo_type.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A number without loss of precision, in the first form that can represent it.
typedef struct kvo_number {
  enum kvo_number_form { KVO_NUMBER_SIGNED, KVO_NUMBER_UNSIGNED, KVO_NUMBER_REAL } form;
  union {
    int64_t integer;
    uint64_t large; ///< past INT64_MAX
    long double real;
  };
} kvo_number;

/// Reads a number of a numeric type.
kvo_number kvo_number_read(const kvo_type *type, const void *bytes);
/// Stores a number as a numeric type, by the rules of the readers in kvo_value.h.
void kvo_number_write(const kvo_type *type, void *bytes, kvo_number number);
/// Compares two numbers exactly: negative, 0 or positive. NaN is below every other number.
int kvo_number_compare(kvo_number a, kvo_number b);
/// Whether two numbers are exactly equal: 2^53 + 1 equals no double. NaN equals only NaN.
bool kvo_number_equal(kvo_number a, kvo_number b);

/// Reads a value that is a number, also of a binding's type; returns false for any other value.
bool kvo_value_number(const kvo_value *value, kvo_number *number);

/// Compares two values: numbers, strings (by their bytes), values of a binding's type that has an order, and objects
/// whose class has a method `compare:` of encoding "i@:@", which returns what strcmp does. Returns false if they have
/// no order. Calls the program's code.
bool kvo_value_compare(const kvo_value *a, const kvo_value *b, int *order);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
