// The built-in types: a static table by kind. Their values may be at any address, such as inside a packed buffer of a
// binding. So the functions load and store by memcpy, which costs nothing.
#include "types/kvo_type.h"

#include "base/kvo_fail.h"
#include "base/kvo_memory.h"
#include "objects/kvo_class_internal.h"
#include "types/kvo_encoding.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOAD(c_type, name, from) \
  c_type name;                   \
  memcpy(&name, from, sizeof name)

static size_t type_count_written(int length) { return length < 0 ? 0 : (size_t)length; }

// Numbers and pointers compare as in C, so that the padding of a long double does not matter. But NaN equals NaN: a
// NaN that stays NaN in a change is unchanged, and a set has it once.
#define EQUAL(name, c_type)                                                      \
  static bool equal_##name(const kvo_type *type, const void *a, const void *b) { \
    (void)type;                                                                  \
    LOAD(c_type, left, a);                                                       \
    LOAD(c_type, right, b);                                                      \
    return left == right || (left != left && right != right);                    \
  }
#define DESCRIBE(name, c_type, format, argument)                                       \
  static size_t describe_##name(const kvo_type *type, const void *value, char *buffer, \
      size_t capacity) {                                                               \
    (void)type;                                                                        \
    LOAD(c_type, number, value);                                                       \
    return type_count_written(snprintf(buffer, capacity, format, argument));           \
  }
#define INTEGER(name, c_type, format) \
  EQUAL(name, c_type)                 \
  DESCRIBE(name, c_type, format, number)

INTEGER(int8, int8_t, "%d")
INTEGER(uint8, uint8_t, "%u")
INTEGER(int16, int16_t, "%d")
INTEGER(uint16, uint16_t, "%u")
INTEGER(int32, int, "%d")
INTEGER(uint32, unsigned, "%u")
INTEGER(int64, long long, "%lld")
INTEGER(uint64, unsigned long long, "%llu")
INTEGER(pointer, void *, "%p")
EQUAL(bool, bool)
DESCRIBE(bool, bool, "%s", number ? "true" : "false")

// Numbers are described with the fewest digits that distinguish them from their neighbours.
#define REAL(name, c_type, format, parse, fewest, most)                                \
  EQUAL(name, c_type)                                                                  \
  static size_t describe_##name(const kvo_type *type, const void *value, char *buffer, \
      size_t capacity) {                                                               \
    (void)type;                                                                        \
    LOAD(c_type, number, value);                                                       \
    char text[64];                                                                     \
    int digits = fewest;                                                               \
    do snprintf(text, sizeof text, format, digits, number);                            \
    while (parse(text, NULL) != number && digits++ < most);                            \
    return type_count_written(snprintf(buffer, capacity, "%s", text));                 \
  }

REAL(float, float, "%.*g", strtof, FLT_DIG, FLT_DECIMAL_DIG)
REAL(double, double, "%.*g", strtod, DBL_DIG, DBL_DECIMAL_DIG)
REAL(long_double, long double, "%.*Lg", strtold, LDBL_DIG, LDBL_DECIMAL_DIG)

static void copy_string(const kvo_type *type, void *target, const void *source) {
  (void)type;
  LOAD(const char *, string, source);
  if (string) string = kvo_alloc_string(string);
  memcpy(target, &string, sizeof string);
}

static void destroy_string(const kvo_type *type, void *value) {
  (void)type;
  LOAD(const char *, string, value);
  kvo_free(string);
}

static bool equal_string(const kvo_type *type, const void *a, const void *b) {
  (void)type;
  LOAD(const char *, left, a);
  LOAD(const char *, right, b);
  return left == right || (left && right && !strcmp(left, right));
}

static size_t describe_string(const kvo_type *type, const void *value, char *buffer,
    size_t capacity) {
  (void)type;
  LOAD(const char *, string, value);
  return type_count_written(snprintf(buffer, capacity, string ? "\"%s\"" : "nil", string));
}

static void copy_object(const kvo_type *type, void *target, const void *source) {
  (void)type;
  LOAD(kvo_object *, object, source);
  if (object) kvo_object_retain(object);
  memcpy(target, &object, sizeof object);
}

static void destroy_object(const kvo_type *type, void *value) {
  (void)type;
  LOAD(kvo_object *, object, value);
  kvo_object_release(object);
}

static size_t describe_object(const kvo_type *type, const void *value, char *buffer,
    size_t capacity) {
  (void)type;
  LOAD(const kvo_object *, object, value);
  if (!object) return type_count_written(snprintf(buffer, capacity, "nil"));
  return kvo_class_of(object)->operations->describe(object, buffer, capacity);
}

static size_t describe_selector(const kvo_type *type, const void *value, char *buffer,
    size_t capacity) {
  (void)type;
  LOAD(const kvo_method *, method, value);
  return type_count_written(snprintf(buffer, capacity, "%s", method ? method->selector : "nil"));
}

#define PLAIN(kind, encoding, c_type, name)                                                     \
  [KVO_KIND_##kind] = {encoding, sizeof(c_type), _Alignof(c_type), KVO_KIND_##kind, NULL, NULL, \
      equal_##name, describe_##name, NULL, NULL}

static const kvo_type types[] = {
    [KVO_KIND_VOID] = {"v", 0, 1, KVO_KIND_VOID, NULL, NULL, NULL, NULL, NULL, NULL},
    PLAIN(BOOL, "B", bool, bool),
    PLAIN(INT8, "c", int8_t, int8),
    PLAIN(UINT8, "C", uint8_t, uint8),
    PLAIN(INT16, "s", int16_t, int16),
    PLAIN(UINT16, "S", uint16_t, uint16),
    PLAIN(INT32, "i", int, int32),
    PLAIN(UINT32, "I", unsigned, uint32),
    PLAIN(INT64, "q", long long, int64),
    PLAIN(UINT64, "Q", unsigned long long, uint64),
    PLAIN(FLOAT, "f", float, float),
    PLAIN(DOUBLE, "d", double, double),
    PLAIN(LONG_DOUBLE, "D", long double, long_double),
    PLAIN(POINTER, "^v", void *, pointer),
    [KVO_KIND_STRING] = {"*", sizeof(char *), _Alignof(char *), KVO_KIND_STRING, copy_string,
        destroy_string, equal_string, describe_string, NULL, NULL},
    [KVO_KIND_OBJECT] = {"@", sizeof(void *), _Alignof(void *), KVO_KIND_OBJECT, copy_object,
        destroy_object, equal_pointer, describe_object, NULL, NULL},
    [KVO_KIND_SELECTOR] = {":", sizeof(void *), _Alignof(void *), KVO_KIND_SELECTOR, NULL, NULL,
        equal_pointer, describe_selector, NULL, NULL},
};

const kvo_type *kvo_type_of_kind(kvo_kind kind) { return &types[kind]; }

const char *kvo_type_name(const kvo_type *type) {
  static const char *const names[] = {
      [KVO_KIND_VOID] = "void",
      [KVO_KIND_BOOL] = "bool",
      [KVO_KIND_INT8] = "int8_t",
      [KVO_KIND_UINT8] = "uint8_t",
      [KVO_KIND_INT16] = "int16_t",
      [KVO_KIND_UINT16] = "uint16_t",
      [KVO_KIND_INT32] = "int32_t",
      [KVO_KIND_UINT32] = "uint32_t",
      [KVO_KIND_INT64] = "int64_t",
      [KVO_KIND_UINT64] = "uint64_t",
      [KVO_KIND_FLOAT] = "float",
      [KVO_KIND_DOUBLE] = "double",
      [KVO_KIND_LONG_DOUBLE] = "long double",
      [KVO_KIND_POINTER] = "pointer",
      [KVO_KIND_STRING] = "string",
      [KVO_KIND_OBJECT] = "object",
      [KVO_KIND_SELECTOR] = "selector",
  };
  if (!type) return "nil";
  return type->kind < KVO_KIND_STRUCT ? names[type->kind] : type->encoding;
}

const kvo_type *kvo_type_for_normal(kvo_kind kind, const char *text, size_t length,
    kvo_error *error) {
  if (kind == KVO_KIND_STRUCT) return kvo_struct_type_for_normal(text, length, error);
  return kvo_type_of_kind(kind);
}

const kvo_type *kvo_type_for_encoding(const char *encoding, kvo_error *error) {
  const kvo_type *type = NULL;
  char *normal = kvo_alloc(strlen(encoding) + 1);
  if (!normal) {
    kvo_fail(error, KVO_NO_MEMORY, NULL, NULL, "no memory to read the encoding \"%.100s\"",
        encoding);
    return NULL;
  }
  kvo_encoding_item item;
  kvo_encoding_reader reader = kvo_encoding_start(encoding, normal, error);
  if (!kvo_encoding_read(&reader, KVO_ENCODING_OF_VALUE, &item) && !kvo_encoding_finish(&reader))
    type = kvo_type_for_normal(item.kind, normal, strlen(normal), error);
  kvo_free(normal);
  return type;
}

bool kvo_type_stands_for_nil(const kvo_type *type, const void *bytes) {
  if (type->kind != KVO_KIND_STRING && type->kind != KVO_KIND_OBJECT) return false;
  LOAD(const void *, pointer, bytes);
  return !pointer;
}

bool kvo_type_copy(const kvo_type *type, void *target, const void *source) {
  if (!type->copy) {
    memcpy(target, source, type->size);
    return true;
  }
  if (type->kind == KVO_KIND_STRUCT)
    return kvo_struct_copy((const kvo_struct_type *)type, target, source);
  type->copy(type, target, source);
  if (type->kind != KVO_KIND_STRING) return true;
  LOAD(const char *, wanted, source);
  LOAD(const char *, copied, target);
  return copied || !wanted;
}
