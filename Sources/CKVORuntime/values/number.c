// Numbers, and conversions between them. Every number is read into one of three forms without loss, and written from
// there, so that the rules are in one place:
//
// - to an integer: a fraction is cut off. Numbers beyond 64 bits saturate (unsigned targets at 2^64 - 1, others at
//   -2^63 and 2^63 - 1), and NaN is 0. Then the lowest bits are taken, as C wraps;
// - to `_Bool`: true if it is not 0, as NaN;
// - to a floating-point type: rounded to nearest, infinite beyond its range.
//
// In C a conversion from float to integer that does not fit is undefined, so the limits are checked first.
#include "values/kvo_number.h"

#include <string.h>

#define TWO_63 9223372036854775808.0L
#define TWO_64 18446744073709551616.0L

static kvo_number from_signed(int64_t value) {
  return (kvo_number){.form = KVO_NUMBER_SIGNED, .integer = value};
}

static kvo_number from_unsigned(uint64_t value) {
  if (value <= INT64_MAX) return from_signed((int64_t)value);
  return (kvo_number){.form = KVO_NUMBER_UNSIGNED, .large = value};
}

static kvo_number from_real(long double value) {
  return (kvo_number){.form = KVO_NUMBER_REAL, .real = value};
}

static int64_t number_saturated(long double real) {
  if (real >= TWO_63) return INT64_MAX;
  if (real >= -TWO_63) return (int64_t)real;
  return real < 0 ? INT64_MIN : 0;
}

static int64_t to_signed(kvo_number number) {
  switch (number.form) {
  case KVO_NUMBER_SIGNED: return number.integer;
  case KVO_NUMBER_UNSIGNED: return (int64_t)number.large;
  case KVO_NUMBER_REAL: break;
  }
  return number_saturated(number.real);
}

static uint64_t to_unsigned(kvo_number number) {
  if (number.form != KVO_NUMBER_REAL || !(number.real >= TWO_63))
    return (uint64_t)to_signed(number);
  return number.real < TWO_64 ? (uint64_t)number.real : UINT64_MAX;
}

static bool to_bool(kvo_number number) {
  if (number.form == KVO_NUMBER_REAL) return number.real != 0;
  return number.form == KVO_NUMBER_UNSIGNED || number.integer != 0;
}

// Rounded once, directly from the form, even if long double is no wider than double.
#define TO_REAL(c_type, number)                                       \
  ((number).form == KVO_NUMBER_REAL        ? (c_type)(number).real    \
      : (number).form == KVO_NUMBER_SIGNED ? (c_type)(number).integer \
                                           : (c_type)(number).large)

// (kind, C type, function that reads it, expression that writes it)
#define NUMBER_KINDS(KIND)                                   \
  KIND(BOOL, bool, from_signed, to_bool(number))             \
  KIND(INT8, int8_t, from_signed, to_signed(number))         \
  KIND(UINT8, uint8_t, from_signed, to_unsigned(number))     \
  KIND(INT16, int16_t, from_signed, to_signed(number))       \
  KIND(UINT16, uint16_t, from_signed, to_unsigned(number))   \
  KIND(INT32, int32_t, from_signed, to_signed(number))       \
  KIND(UINT32, uint32_t, from_signed, to_unsigned(number))   \
  KIND(INT64, int64_t, from_signed, to_signed(number))       \
  KIND(UINT64, uint64_t, from_unsigned, to_unsigned(number)) \
  KIND(FLOAT, float, from_real, TO_REAL(float, number))      \
  KIND(DOUBLE, double, from_real, TO_REAL(double, number))   \
  KIND(LONG_DOUBLE, long double, from_real, TO_REAL(long double, number))

kvo_number kvo_number_read(const kvo_type *type, const void *bytes) {
  switch (type->kind) {
#define READ(kind, c_type, from, to)     \
  case KVO_KIND_##kind: {                \
    c_type value;                        \
    memcpy(&value, bytes, sizeof value); \
    return from(value);                  \
  }
    NUMBER_KINDS(READ)
#undef READ
  default: return from_signed(0);
  }
}

void kvo_number_write(const kvo_type *type, void *bytes, kvo_number number) {
  switch (type->kind) {
#define WRITE(kind, c_type, from, to)    \
  case KVO_KIND_##kind: {                \
    c_type value = (c_type)(to);         \
    memcpy(bytes, &value, sizeof value); \
    break;                               \
  }
    NUMBER_KINDS(WRITE)
#undef WRITE
  default: break;
  }
}

// MARK: Order

static int compare_integers(kvo_number a, kvo_number b) {
  if (a.form != b.form) return a.form == KVO_NUMBER_UNSIGNED ? 1 : -1;
  if (a.form == KVO_NUMBER_UNSIGNED) return (a.large > b.large) - (a.large < b.large);
  return (a.integer > b.integer) - (a.integer < b.integer);
}

// NaN is below every other number.
static int compare_reals(long double a, long double b) {
  if (a != a || b != b) return (a == a) - (b == b);
  return (a > b) - (a < b);
}

// Compares the whole parts, which are exact as integers, then the fraction.
static int compare_real_with_integer(long double real, kvo_number integer) {
  if (real >= TWO_64) return 1;
  if (!(real >= -TWO_63)) return -1;
  kvo_number whole = real >= TWO_63 ? from_unsigned((uint64_t)real) : from_signed((int64_t)real);
  int order = compare_integers(whole, integer);
  return order ? order : compare_reals(real - TO_REAL(long double, whole), 0);
}

int kvo_number_compare(kvo_number a, kvo_number b) {
  bool is_real = a.form == KVO_NUMBER_REAL;
  if (is_real && b.form == KVO_NUMBER_REAL) return compare_reals(a.real, b.real);
  if (is_real) return compare_real_with_integer(a.real, b);
  if (b.form == KVO_NUMBER_REAL) return -compare_real_with_integer(b.real, a);
  return compare_integers(a, b);
}

bool kvo_number_equal(kvo_number a, kvo_number b) { return kvo_number_compare(a, b) == 0; }

// MARK: Reading values

static bool read_binding_number(const kvo_value *value, kvo_number *number) {
  const kvo_type_operations *operations = value->type->operations;
  kvo_value converted = KVO_VALUE_NIL;
  if (!operations || !operations->number ||
      !operations->number(value->type, kvo_value_bytes(value), &converted))
    return false;
  bool is_number = converted.type && kvo_type_is_number(converted.type);
  if (is_number) *number = kvo_number_read(converted.type, kvo_value_bytes(&converted));
  kvo_value_destroy(&converted);
  return is_number;
}

bool kvo_value_number(const kvo_value *value, kvo_number *number) {
  if (!value->type) return false;
  if (!kvo_type_is_number(value->type)) return read_binding_number(value, number);
  *number = kvo_number_read(value->type, kvo_value_bytes(value));
  return true;
}

// A value that is not a number reads as 0. So does NULL, which a change returns for a value that it lacks.
static kvo_number number_of(const kvo_value *value) {
  kvo_number number;
  return value && kvo_value_number(value, &number) ? number : from_signed(0);
}

bool kvo_value_get_bool(const kvo_value *value) { return to_bool(number_of(value)); }

int64_t kvo_value_get_int(const kvo_value *value) { return to_signed(number_of(value)); }

double kvo_value_get_double(const kvo_value *value) {
  kvo_number number = number_of(value);
  return TO_REAL(double, number);
}
