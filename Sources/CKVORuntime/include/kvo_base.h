/// Attributes that every public header uses: linkage, nullability, and names in Swift.
#ifndef KVO_BASE_H
#define KVO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The version of these headers. Before 1.0, an increase of the second number may require programs to be recompiled.
#define KVO_VERSION "0.1.0"

/// Encloses declarations, so that C++ gives them C linkage.
#ifdef __cplusplus
#define KVO_BEGIN_DECLS extern "C" {
#define KVO_END_DECLS }
#else
#define KVO_BEGIN_DECLS
#define KVO_END_DECLS
#endif

/// Annotations of pointers, enumerations and names for clang and Swift. They expand to nothing in other compilers.
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

/// Alignment of a type, and compile-time assertion, in C and in C++.
#ifdef __cplusplus
#define KVO_ALIGNOF(type) alignof(type)
#define KVO_ASSERT_ static_assert
#else
#define KVO_ALIGNOF(type) _Alignof(type)
#define KVO_ASSERT_ _Static_assert
#endif

/// The encoding of plain `char`. Whether it is signed depends on the platform: on arm64 it is unsigned.
#ifdef __CHAR_UNSIGNED__
#define KVO_CHAR_ENCODING_ "C"
#else
#define KVO_CHAR_ENCODING_ "c"
#endif

/// The encoding of `wchar_t`, which is a distinct type in C++. Its width and sign depend on the platform.
#if __SIZEOF_WCHAR_T__ == 2
#define KVO_WCHAR_ENCODING_ "S"
#elif defined(__WCHAR_UNSIGNED__)
#define KVO_WCHAR_ENCODING_ "I"
#else
#define KVO_WCHAR_ENCODING_ "i"
#endif

/// Hints to the compiler: always inline, and which outcome of a condition is the usual one.
#define KVO_INLINE static inline __attribute__((always_inline))
#define KVO_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define KVO_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#endif
