// Conversions between numbers. Every number is read into one of three forms without loss, and
// written from there, so that the rules stand in one place:
//
// - to an integer: a fraction is cut; what is beyond 64 bits saturates (unsigned targets up to
//   2^64 - 1, others from -2^63 to 2^63 - 1) and NaN is 0; then the lowest bits are taken, as C
//   wraps;
// - to `_Bool`: whether it is neither 0 nor NaN;
// - to a floating-point type: rounded to nearest, infinite past its range.
//
// C leaves float to integer undefined where it does not fit; the limits are compared first.
#include "kvo_convert.h"

#include "kvo_type.h"

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

static int64_t saturated(long double real) {
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
  return saturated(number.real);
}

static uint64_t to_unsigned(kvo_number number) {
  if (number.form != KVO_NUMBER_REAL || !(number.real >= TWO_63))
    return (uint64_t)to_signed(number);
  return number.real < TWO_64 ? (uint64_t)number.real : UINT64_MAX;
}

static bool to_bool(kvo_number number) {
  if (number.form == KVO_NUMBER_REAL) return number.real < 0 || number.real > 0;
  return number.form == KVO_NUMBER_UNSIGNED || number.integer != 0;
}

// Rounded once, straight from the form, even where long double is no wider than double.
#define TO_REAL(c_type, number)                                       \
  ((number).form == KVO_NUMBER_REAL        ? (c_type)(number).real    \
      : (number).form == KVO_NUMBER_SIGNED ? (c_type)(number).integer \
                                           : (c_type)(number).large)

// (kind, C type, what reads it, what it is written from)
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

static bool equals_integer(long double real, kvo_number integer) {
  if (integer.form == KVO_NUMBER_SIGNED)
    return real >= -TWO_63 && real < TWO_63 && (int64_t)real == integer.integer &&
           (long double)(int64_t)real == real;
  return real >= TWO_63 && real < TWO_64 && (uint64_t)real == integer.large;
}

bool kvo_number_equal(kvo_number a, kvo_number b) {
  if (a.form == KVO_NUMBER_REAL)
    return b.form == KVO_NUMBER_REAL ? a.real == b.real : equals_integer(a.real, b);
  if (b.form == KVO_NUMBER_REAL) return equals_integer(b.real, a);
  return a.form == b.form && a.integer == b.integer;
}

// MARK: Values

// What is no number reads as 0.
static kvo_number number_of(const kvo_value *value) {
  bool is_number = value->type && kvo_type_is_number(value->type);
  return is_number ? kvo_number_read(value->type, kvo_value_bytes(value)) : from_signed(0);
}

bool kvo_value_get_bool(const kvo_value *value) { return to_bool(number_of(value)); }

int64_t kvo_value_get_int(const kvo_value *value) { return to_signed(number_of(value)); }

double kvo_value_get_double(const kvo_value *value) {
  kvo_number number = number_of(value);
  return TO_REAL(double, number);
}

static void *pointer_of(const kvo_value *value, kvo_kind kind) {
  void *pointer = NULL;
  if (value->type && value->type->kind == kind)
    memcpy(&pointer, kvo_value_bytes(value), sizeof pointer);
  return pointer;
}

const char *kvo_value_get_string(const kvo_value *value) {
  return pointer_of(value, KVO_KIND_STRING);
}

kvo_object *kvo_value_get_object(const kvo_value *value) {
  return pointer_of(value, KVO_KIND_OBJECT);
}

static kvo_status convert_number(kvo_value *target, const kvo_type *type, const kvo_value *source) {
  _Alignas(16) char bytes[sizeof(long double)];
  kvo_number_write(type, bytes, number_of(source));
  return kvo_value_init(target, type, bytes);
}

kvo_status kvo_value_convert(kvo_value *target, const kvo_type *type, const kvo_value *source) {
  if (source->type == type) return kvo_value_copy(target, source);
  if (source->type && kvo_type_is_number(source->type) && kvo_type_is_number(type))
    return convert_number(target, type, source);
  *target = KVO_VALUE_NIL;
  bool takes_nil = type->kind == KVO_KIND_STRING || type->kind == KVO_KIND_OBJECT;
  return !source->type && takes_nil ? KVO_OK : KVO_TYPE_MISMATCH;
}
