/// What every public header uses: attributes for linkage, nullability, and how names read in Swift.
#ifndef KVO_BASE_H
#define KVO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Which version these headers are of. Before 1.0 a new second number may ask for programs to be
/// compiled again.
#define KVO_VERSION "0.1.0"

/// Around declarations that C++ is to read as C's.
#ifdef __cplusplus
#define KVO_BEGIN_DECLS extern "C" {
#define KVO_END_DECLS }
#else
#define KVO_BEGIN_DECLS
#define KVO_END_DECLS
#endif

/// What clang and Swift are told of pointers, enumerations and names. Nothing for other compilers.
#ifdef __clang__
#define KVO_ASSUME_NONNULL_BEGIN                                                                   \
  _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") \
      _Pragma("clang assume_nonnull begin")
#define KVO_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#define KVO_NULLABLE _Nullable
#define KVO_NONNULL _Nonnull
#define KVO_CLOSED_ENUM __attribute__((enum_extensibility(closed)))
#define KVO_FLAG_ENUM __attribute__((flag_enum, enum_extensibility(closed)))
#define KVO_SWIFT_NAME(name) __attribute__((swift_name(#name)))
#else
#define KVO_ASSUME_NONNULL_BEGIN
#define KVO_ASSUME_NONNULL_END
#define KVO_NULLABLE
#define KVO_NONNULL
#define KVO_CLOSED_ENUM
#define KVO_FLAG_ENUM
#define KVO_SWIFT_NAME(name)
#endif

/// How a type is aligned, and what must be so at compile time, in C and in C++.
#ifdef __cplusplus
#define KVO_ALIGNOF(type) alignof(type)
#define KVO_ASSERT_ static_assert
#else
#define KVO_ALIGNOF(type) _Alignof(type)
#define KVO_ASSERT_ _Static_assert
#endif

/// The encoding of plain `char`, which is signed or not as the compiler has it: on arm64 it is not.
#ifdef __CHAR_UNSIGNED__
#define KVO_CHAR_ENCODING_ "C"
#else
#define KVO_CHAR_ENCODING_ "c"
#endif

/// The encoding of `wchar_t`, an integer of C++'s own: its width and sign are the compiler's choice as well.
#if __SIZEOF_WCHAR_T__ == 2
#define KVO_WCHAR_ENCODING_ "S"
#elif defined(__WCHAR_UNSIGNED__)
#define KVO_WCHAR_ENCODING_ "I"
#else
#define KVO_WCHAR_ENCODING_ "i"
#endif

/// Hints to the compiler: always in line, and which way a condition usually goes.
#define KVO_INLINE static inline __attribute__((always_inline))
#define KVO_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KVO_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
