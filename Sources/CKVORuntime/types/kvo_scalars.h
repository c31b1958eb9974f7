/// The kinds for which C functions can be written: one for each scalar and pointer type.
#ifndef KVO_SCALARS_H
#define KVO_SCALARS_H

#include "kvo_value.h"

/// `KIND(kind, C type)` for each: `kind` as in `KVO_KIND_INT32`.
#define KVO_SCALAR_KINDS(KIND)   \
  KIND(BOOL, bool)               \
  KIND(INT8, int8_t)             \
  KIND(UINT8, uint8_t)           \
  KIND(INT16, int16_t)           \
  KIND(UINT16, uint16_t)         \
  KIND(INT32, int32_t)           \
  KIND(UINT32, uint32_t)         \
  KIND(INT64, int64_t)           \
  KIND(UINT64, uint64_t)         \
  KIND(FLOAT, float)             \
  KIND(DOUBLE, double)           \
  KIND(LONG_DOUBLE, long double) \
  KIND(POINTER, void *)          \
  KIND(STRING, const char *)     \
  KIND(OBJECT, kvo_object *)     \
  KIND(SELECTOR, const kvo_method *)

/// The number of all kinds.
enum { KVO_KIND_COUNT = KVO_KIND_BINDING + 1 };

/// Attribute of a function that calls others by their encodings, or is called that way. Encodings distinguish char
/// from int, but neither char from signed char nor `int *` from `void *`. The sanitizer for function types
/// distinguishes them; calling conventions don't.
#if defined(__clang__)
#define KVO_CALLS_BY_ENCODING __attribute__((no_sanitize("function")))
#else
#define KVO_CALLS_BY_ENCODING
#endif

#endif
