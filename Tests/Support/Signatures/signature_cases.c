// The classes: for each type an instance struct, a getter and a setter, and the calls, all as C users write
// them without the macros.
#include "signature_case.h"

#include <string.h>

#define DEFINE_GETTER(unique, id)                                                               \
  static sample_##id getter_##unique(kvo_object *self, const kvo_method *_cmd) {                \
    (void)_cmd;                                                                                 \
    return ((object_##unique *)self)->value;                                                    \
  }                                                                                             \
  static void get_##unique(kvo_object *object, const kvo_method *method, void *value) {         \
    kvo_imp imp = kvo_method_lookup(object, method);                                            \
    sample_##id got = ((sample_##id (*)(kvo_object *, const kvo_method *))imp)(object, method); \
    memcpy(value, &got, sizeof got);                                                            \
  }

#define DEFINE_CASE(id)                                                                       \
  typedef struct object_##id {                                                                \
    kvo_object object;                                                                        \
    sample_##id value;                                                                        \
  } object_##id;                                                                              \
  DEFINE_GETTER(id, id)                                                                       \
  static void setter_##id(kvo_object *self, const kvo_method *_cmd, sample_##id value) {      \
    (void)_cmd;                                                                               \
    ((object_##id *)self)->value = value;                                                     \
  }                                                                                           \
  static void set_##id(kvo_object *object, const kvo_method *method, const void *value,       \
      void *result) {                                                                         \
    (void)result;                                                                             \
    sample_##id argument;                                                                     \
    memcpy(&argument, value, sizeof argument);                                                \
    kvo_imp imp = kvo_method_lookup(object, method);                                          \
    ((void (*)(kvo_object *, const kvo_method *, sample_##id))imp)(object, method, argument); \
  }

#define DEFINE_RETURNING_CASE(unique, id, returned)                                         \
  typedef struct object_##unique {                                                          \
    kvo_object object;                                                                      \
    sample_##id value;                                                                      \
    sample_##returned result;                                                               \
  } object_##unique;                                                                        \
  DEFINE_GETTER(unique, id)                                                                 \
  static sample_##returned setter_##unique(kvo_object *self, const kvo_method *_cmd,        \
      sample_##id value) {                                                                  \
    (void)_cmd;                                                                             \
    ((object_##unique *)self)->value = value;                                               \
    return ((object_##unique *)self)->result;                                               \
  }                                                                                         \
  static void set_##unique(kvo_object *object, const kvo_method *method, const void *value, \
      void *result) {                                                                       \
    sample_##id argument;                                                                   \
    memcpy(&argument, value, sizeof argument);                                              \
    kvo_imp imp = kvo_method_lookup(object, method);                                        \
    sample_##returned got =                                                                 \
        ((sample_##returned (*)(kvo_object *, const kvo_method *, sample_##id))imp)(object, \
            method, argument);                                                              \
    memcpy(result, &got, sizeof got);                                                       \
  }

#define DEFINE_STRUCT_CASE(tag, encoding) DEFINE_CASE(tag)
#define DEFINE_BYTES_CASE(size, encoding) DEFINE_CASE(bytes##size)
#define DEFINE_SCALAR_CASE(id, type) DEFINE_CASE(id)
#define DEFINE_NAMED_CASE(id, type, encoding) DEFINE_CASE(id)
#define DEFINE_RETURNING(id, encoding, returned, returned_encoding) \
  DEFINE_RETURNING_CASE(id##_returning_##returned, id, returned)

MIXED_STRUCTS(DEFINE_STRUCT_CASE)
BYTE_STRUCTS(DEFINE_BYTES_CASE)
SCALARS(DEFINE_SCALAR_CASE)
NAMED_SCALARS(DEFINE_NAMED_CASE)
RETURNING_SETTERS(DEFINE_RETURNING)

#define CASE(name, id, ...)                                                         \
  {name, describe_##id, NULL, sizeof(object_##id), offsetof(object_##id, value), 0, \
      (kvo_imp)getter_##id, (kvo_imp)setter_##id, {KVO_FORM_GETTER, __VA_ARGS__},   \
      {KVO_FORM_SETTER, __VA_ARGS__}, get_##id, set_##id},
#define RETURNING_CASE(unique, id, encoding, returned, returned_encoding)  \
  {#unique, describe_##id, describe_##returned, sizeof(object_##unique),   \
      offsetof(object_##unique, value), offsetof(object_##unique, result), \
      (kvo_imp)getter_##unique, (kvo_imp)setter_##unique,                  \
      {KVO_FORM_GETTER, KVO_STRUCT(sample_##id, encoding)},                \
      {KVO_FORM_ENCODED, {returned_encoding "@:" encoding, 0, 0}}, get_##unique, set_##unique},

#define STRUCT_CASE(tag, encoding) CASE(encoding, tag, KVO_STRUCT(sample_##tag, encoding))
#define BYTES_CASE(size, encoding) \
  CASE("struct of " #size " bytes", bytes##size, KVO_STRUCT(sample_bytes##size, encoding))
#define SCALAR_CASE(id, type) CASE(#type, id, KVO_TYPE(sample_##id))
#define NAMED_CASE(id, type, encoding) \
  CASE(#type " as " encoding, id, KVO_STRUCT(sample_##id, encoding))
#define RETURNING(id, encoding, returned, returned_encoding) \
  RETURNING_CASE(id##_returning_##returned, id, encoding, returned, returned_encoding)

const signature_case signature_cases[] = {
    // clang-format off
    SCALARS(SCALAR_CASE)
    NAMED_SCALARS(NAMED_CASE)
    MIXED_STRUCTS(STRUCT_CASE)
    BYTE_STRUCTS(BYTES_CASE)
    RETURNING_SETTERS(RETURNING)
    // clang-format on
};
const size_t signature_cases_count = sizeof signature_cases / sizeof *signature_cases;
