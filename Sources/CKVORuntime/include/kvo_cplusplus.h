/// The encodings of C++ types, for the macros of kvo_property.h. C finds them by `_Generic`.
#ifndef KVO_CPLUSPLUS_H
#define KVO_CPLUSPLUS_H

#include "kvo_base.h"

#ifdef __cplusplus

// Templates need this if the headers are included inside an `extern "C"` block.
extern "C++" {

/// The encoding of a type. It is "" for a struct or class, whose encoding must be given. An enumeration has its
/// underlying type's.
template <class T, bool = __is_enum(T)> struct kvo_encoding {
  static constexpr const char *text() { return ""; }
};
template <class T> struct kvo_encoding<T, true> : kvo_encoding<__underlying_type(T)> {};
template <class T> struct kvo_encoding<const T, false> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<const T, true> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<volatile T, false> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<volatile T, true> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<const volatile T, false> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<const volatile T, true> : kvo_encoding<T> {};
template <class T> struct kvo_encoding<T *, false> {
  static constexpr const char *text() { return "^v"; }
};

#define KVO_ENCODING_IS_(type, encoding)                     \
  template <> struct kvo_encoding<type, false> {             \
    static constexpr const char *text() { return encoding; } \
  }
KVO_ENCODING_IS_(bool, "B");
KVO_ENCODING_IS_(char, KVO_CHAR_ENCODING_);
KVO_ENCODING_IS_(signed char, "c");
KVO_ENCODING_IS_(unsigned char, "C");
KVO_ENCODING_IS_(short, "s");
KVO_ENCODING_IS_(unsigned short, "S");
KVO_ENCODING_IS_(int, "i");
KVO_ENCODING_IS_(unsigned, "I");
KVO_ENCODING_IS_(long, "q");
KVO_ENCODING_IS_(unsigned long, "Q");
KVO_ENCODING_IS_(long long, "q");
KVO_ENCODING_IS_(unsigned long long, "Q");
KVO_ENCODING_IS_(float, "f");
KVO_ENCODING_IS_(double, "d");
KVO_ENCODING_IS_(long double, "D");
KVO_ENCODING_IS_(char *, "*");
KVO_ENCODING_IS_(const char *, "*");
// Distinct types in C++, each with the size and sign of the integer type that C uses.
KVO_ENCODING_IS_(wchar_t, KVO_WCHAR_ENCODING_);
KVO_ENCODING_IS_(char16_t, "S");
KVO_ENCODING_IS_(char32_t, "I");
#ifdef __cpp_char8_t
KVO_ENCODING_IS_(char8_t, "C");
#endif
#undef KVO_ENCODING_IS_

/// Whether a property of the type may be retained: true for pointers to structs or classes, and for `void *`.
template <class T> struct kvo_is_retainable {
  static constexpr bool value = false;
};
template <class T> struct kvo_is_retainable<T *> {
  static constexpr bool value = __is_class(T);
};
template <> struct kvo_is_retainable<void *> {
  static constexpr bool value = true;
};
template <class T> struct kvo_is_retainable<T *const> : kvo_is_retainable<T *> {};

/// Whether two types are the same, ignoring `const` and `volatile`.
template <class T> struct kvo_unqualified {
  typedef T type;
};
template <class T> struct kvo_unqualified<const T> : kvo_unqualified<T> {};
template <class T> struct kvo_unqualified<volatile T> : kvo_unqualified<T> {};
template <class T> struct kvo_unqualified<const volatile T> : kvo_unqualified<T> {};
template <class A, class B> struct kvo_is_same {
  static constexpr bool value = false;
};
template <class T> struct kvo_is_same<T, T> {
  static constexpr bool value = true;
};
template <class A, class B>
struct kvo_is_same_type
    : kvo_is_same<typename kvo_unqualified<A>::type, typename kvo_unqualified<B>::type> {};

} // extern "C++"

#endif
#endif
