// Types whose layout an encoding can't express, unreadable encodings, and invalid methods.
#include "SignatureFixtures.h"

#include <stdio.h>
#include <string.h>

// MARK: The types

typedef struct {
  int8_t a;
  int b;
} __attribute__((packed)) packed_mixed;
typedef struct {
  int a, b;
} __attribute__((packed)) packed_even;
typedef struct {
  int a;
} __attribute__((aligned(16))) over_aligned;
typedef struct {
  int8_t a;
  int b __attribute__((aligned(8)));
} over_aligned_member;
typedef int over_aligned_int __attribute__((aligned(8)));
typedef float vector __attribute__((vector_size(16)));
typedef struct {
  vector a;
} struct_of_vector;
typedef union {
  int a;
  double b;
} number_union;
typedef union {
  int a;
  int8_t b[5];
} odd_union;
typedef struct {
  int a;
  number_union b;
} struct_of_union;
typedef struct {
  unsigned a : 3, b : 9;
} bit_fields;
typedef struct {
  double x, y;
} point;
typedef struct {
  int8_t a[3];
} bytes3;
typedef struct {
  int8_t a[70000];
} huge;
#ifdef __SIZEOF_INT128__
typedef struct {
  __int128 a;
} wide;
#endif

// MARK: The list

typedef struct {
  const char *name;
  kvo_signature signature; ///< as a getter; or a whole encoding
  kvo_status status;
  const char *cause; ///< a part of the message
} refusal;

#define TYPE(name, type, encoding, status, cause) \
  {name, {KVO_FORM_GETTER, KVO_STRUCT(type, encoding)}, status, cause}
#define MISMATCH(name, type, encoding) \
  TYPE(name, type, encoding, KVO_LAYOUT_MISMATCH, "packed or over-aligned")
#define UNREADABLE(name, type, encoding, cause) \
  TYPE(name, type, encoding, KVO_INVALID_ENCODING, cause)
#define UNNAMED(name, type) \
  {name, {KVO_FORM_GETTER, KVO_TYPE(type)}, KVO_INVALID_ENCODING, "KVO_STRUCT("}
#define METHOD(encoding, cause) \
  {"method " encoding, {KVO_FORM_ENCODED, {encoding, 0, 0}}, KVO_INVALID_ENCODING, cause}

#define DEEP_8 "{a={a={a={a={a={a={a={a="
#define DEEP_8_END "}}}}}}}}"

static const refusal refusals[] = {
    MISMATCH("packed struct", packed_mixed, "{p=ci}"),
    MISMATCH("packed struct without gaps", packed_even, "{p=ii}"),
    MISMATCH("over-aligned struct", over_aligned, "{o=i}"),
    MISMATCH("over-aligned member", over_aligned_member, "{o=ci}"),
    MISMATCH("over-aligned int", over_aligned_int, "i"),
    MISMATCH("vector as struct", vector, "{v=ffff}"),
    MISMATCH("struct of a vector", struct_of_vector, "{v=[4f]}"),
    MISMATCH("union as its first member", odd_union, "i"),
    MISMATCH("union as a struct", odd_union, "{u=i}"),
    MISMATCH("bit-fields as bytes", bit_fields, "{b=CC}"),
    MISMATCH("too few members", point, "{point=d}"),
    MISMATCH("another scalar", int, "s"),
    MISMATCH("long double as double", long double, "d"),
#ifdef __SIZEOF_INT128__
    MISMATCH("__int128 as struct", __int128, "{w=qq}"),
    MISMATCH("struct of __int128", wide, "{w=qq}"),
    UNREADABLE("__int128", __int128, "t", "__int128"),
    UNREADABLE("unsigned __int128", unsigned __int128, "T", "__int128"),
    UNREADABLE("struct of __int128 by name", wide, "{w=t}", "__int128"),
    UNNAMED("__int128 without encoding", __int128),
#endif
    UNREADABLE("vector", vector, "![16,16f]", "a vector"),
    UNREADABLE("union", number_union, "(u=id)", "a union"),
    UNREADABLE("struct of a union", struct_of_union, "{s=i(u=id)}", "a union"),
    UNREADABLE("bit-fields", bit_fields, "{b=b3b9}", "a bit-field"),
    UNREADABLE("complex", _Complex double, "jd", "a complex number"),
    UNREADABLE("atomic", int, "Ai", "an atomic type"),
    UNREADABLE("class", void *, "#", "a class"),
    UNREADABLE("block", void *, "@?", "a block"),
    UNREADABLE("array", bytes3, "[3c]", "an array"),
    UNREADABLE("array of nothing", bytes3, "{a=[0c]}", "number of elements"),
    UNREADABLE("array without number", bytes3, "{a=[c]}", "number of elements"),
    UNREADABLE("array of two types", bytes3, "{a=[3cs]}", "more than one type"),
    UNREADABLE("array not closed", bytes3, "{a=[3c", "not closed"),
    UNREADABLE("void", int, "v", "void"),
    UNREADABLE("member void", int, "{a=v}", "void"),
    UNREADABLE("struct without members", int, "{empty=}", "no members"),
    UNREADABLE("struct by name alone", int, "{opaque}", "\"opaque\" are missing"),
    UNREADABLE("struct not closed", point, "{point=dd", "not closed"),
    UNREADABLE("brace too many", point, "{point=dd}}", "something follows"),
    UNREADABLE("two types", int, "ii", "something follows"),
    UNREADABLE("unknown character", int, "x", "'x'"),
    UNREADABLE("unknown byte", int, "\x01", "0x01"),
    UNREADABLE("pointer to nothing", void *, "^", "\"^v\""),
    UNREADABLE("pointer to what is not closed", void *, "^{a=i", "not closed"),
    UNREADABLE("name not closed", int, "{a=\"b", "quoted name"),
    UNREADABLE("huge", huge, "{huge=[70000c]}", "65536 bytes"),
    UNREADABLE("more than any size", huge, "{huge=[99999999999999999999999c]}", "65536 bytes"),
    UNREADABLE("large by multiplication", huge, "{huge=[4096[4096[4096[4096q]]]]}", "65536 bytes"),
    UNREADABLE("nested too deeply", int,
        DEEP_8 DEEP_8 DEEP_8 DEEP_8 "{a=i}" DEEP_8_END DEEP_8_END DEEP_8_END DEEP_8_END,
        "more than 32 deep"),
    UNREADABLE("empty encoding", int, "", "KVO_STRUCT("),
    UNNAMED("struct without encoding", point),
    UNNAMED("complex without encoding", _Complex double),
    METHOD("", "KVO_STRUCT("),
    METHOD("v", "\"@:\""),
    METHOD("v@", "\"@:\""),
    METHOD("v:@d", "\"@:\""),
    METHOD("v^v:d", "\"@:\""),
    METHOD("v@:v", "void"),
    METHOD("v@:(u=id)", "a union"),
    METHOD("v@:b3", "a bit-field"),
    METHOD("x@:d", "'x'"),
};

// MARK: Running

static void unused(void) {}

typedef struct {
  const refusal *tested;
  kvo_class *cls;
  char *failure;
  size_t capacity;
} attempt;

// Each refusal names the class, the member, and the cause.
static void expect_refusal(attempt *attempt, const char *what, const char *name, kvo_status status,
    const kvo_error *error) {
  const char *flaw = NULL;
  if (status != attempt->tested->status) flaw = "has another status";
  else if (error->status != status) flaw = "does not give its status in the error";
  else if (strcmp(error->class_name, kvo_class_name(attempt->cls)))
    flaw = "does not give the class in the error";
  else if (!strstr(error->message, attempt->tested->cause)) flaw = "does not give the cause";
  else if (!strstr(error->message, kvo_class_name(attempt->cls)) || !strstr(error->message, name))
    flaw = "does not say where";
  if (flaw && !*attempt->failure)
    snprintf(attempt->failure, attempt->capacity, "%s as %s: the refusal %s: %s, \"%s\"",
        attempt->tested->name, what, flaw, kvo_status_name(status), error->message);
}

static void refuse_method(attempt *attempt, const char *selector, enum kvo_signature_form form) {
  kvo_error error = {0};
  kvo_signature signature = attempt->tested->signature;
  signature.form = form;
  kvo_status status = kvo_class_add_method(attempt->cls, selector, unused, signature, NULL, &error);
  expect_refusal(attempt, "method", selector, status, &error);
  if (kvo_class_method(attempt->cls, selector) && !*attempt->failure)
    snprintf(attempt->failure, attempt->capacity, "%s: the refused method is there",
        attempt->tested->name);
}

static void refuse_ivar(attempt *attempt) {
  kvo_error error = {0};
  kvo_status status = kvo_class_add_ivar(attempt->cls, "value", sizeof(kvo_object),
      attempt->tested->signature.layout, &error);
  expect_refusal(attempt, "ivar", "value", status, &error);
}

static kvo_class *make_class(const refusal *tested, kvo_error *error) {
  char name[64];
  static unsigned serial;
  snprintf(name, sizeof name, "Refusal%tdOf%u", tested - refusals, serial++);
  return kvo_class_create(name, NULL, sizeof(kvo_object) + sizeof(huge), error);
}

size_t refusal_case_count(void) { return sizeof refusals / sizeof *refusals; }

const char *refusal_case_name(size_t index) { return refusals[index].name; }

bool refusal_case_run(size_t index, char *failure, size_t capacity) {
  kvo_error error = {0};
  attempt attempt = {&refusals[index], make_class(&refusals[index], &error), failure, capacity};
  *failure = 0;
  if (!attempt.cls) {
    snprintf(failure, capacity, "the class can't be made: %s", error.message);
    return false;
  }
  if (attempt.tested->signature.form == KVO_FORM_ENCODED) {
    refuse_method(&attempt, "setValue:", KVO_FORM_ENCODED);
  } else {
    refuse_method(&attempt, "value", KVO_FORM_GETTER);
    refuse_method(&attempt, "setValue:", KVO_FORM_SETTER);
    refuse_ivar(&attempt);
  }
  if (kvo_class_register(attempt.cls, &error) && !*failure)
    snprintf(failure, capacity, "the class can't be registered: %s", error.message);
  return !*failure;
}
