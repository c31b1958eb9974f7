/// Numbers of any kind, as conversions and comparisons see them.
#ifndef KVO_NUMBER_H
#define KVO_NUMBER_H

#include "types/kvo_type.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

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
/// Their order, exactly: negative, 0 or positive. NaN stands below every number.
int kvo_number_compare(kvo_number a, kvo_number b);
/// Whether they are of equal worth, exactly: 2^53 + 1 is no double's equal. NaN equals NaN alone.
bool kvo_number_equal(kvo_number a, kvo_number b);

/// Reads a value that is a number, also one of a binding's type; false for any other.
bool kvo_value_number(const kvo_value *value, kvo_number *number);

/// The order of two values of one sort: numbers, strings (by their bytes), a binding's type that
/// has an order, and objects whose class has a method `compare:` of encoding "i@:@", which answers
/// as strcmp does. False if they have none. Calls user code.
bool kvo_value_compare(const kvo_value *a, const kvo_value *b, int *order);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
