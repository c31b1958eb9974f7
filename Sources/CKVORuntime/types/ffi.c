// libffi: cifs and calls (A3).
//
// A call's cif is prepared when the call is made, and never written again. The ffi_type of a struct is stored in its
// kvo_struct_type, and made when it is first needed. Its size and alignment come from the encoding, so libffi has
// nothing to compute or write.
//
// Scalars and pointers are called directly, through a function pointer of the C type that the encoding names. So are
// small structs of equal numbers (kvo_shapes.h). Everything else goes through ffi_call.
//
// closures.c has the opposite direction: closures, which are called.
#include <ffi.h>

#include "types/kvo_ffi.h"

#include "base/kvo_fail.h"
#include "base/kvo_memory.h"
#include "types/kvo_scalars.h"
#include "types/kvo_type.h"

#include <string.h>

// MARK: Types

static ffi_type *ffi_type_of(const kvo_type *type);

static size_t count_elements(const kvo_struct_type *type) {
  size_t count = 0;
  for (size_t i = 0; i < type->member_count; i++) count += type->members[i].count;
  return count;
}

// libffi has no arrays, so each element becomes a member.
static bool add_elements(const kvo_struct_type *type, ffi_type **next) {
  for (size_t i = 0; i < type->member_count; i++) {
    ffi_type *element = ffi_type_of(type->members[i].type);
    if (!element) return false;
    for (size_t j = 0; j < type->members[i].count; j++) *next++ = element;
  }
  *next = NULL;
  return true;
}

static ffi_type *make_struct(const kvo_struct_type *type) {
  size_t size = sizeof(ffi_type) + (count_elements(type) + 1) * sizeof(ffi_type *);
  ffi_type *made = kvo_alloc(size);
  if (!made) return NULL;
  ffi_type **elements = (ffi_type **)(void *)(made + 1);
  *made =
      (ffi_type){type->type.size, (unsigned short)type->type.alignment, FFI_TYPE_STRUCT, elements};
  if (add_elements(type, elements)) return made;
  kvo_free(made);
  return NULL;
}

static ffi_type *struct_type_of(kvo_struct_type *type) {
  void *kept = __atomic_load_n(&type->ffi, __ATOMIC_ACQUIRE);
  if (kept) return kept;
  ffi_type *made = make_struct(type);
  if (!made) return NULL;
  bool first = __atomic_compare_exchange_n(&type->ffi, &kept, made, false, __ATOMIC_ACQ_REL,
      __ATOMIC_ACQUIRE);
  if (first) return made;
  kvo_free(made);
  return kept;
}

// On x86-64 a struct of one long double is returned where a long double is, which libffi does not know. As arguments
// the two are passed alike. So we present such a struct to libffi as a long double.
static bool is_struct_of_long_double(const kvo_type *type) {
#if defined(__x86_64__)
  while (type->kind == KVO_KIND_STRUCT) {
    const kvo_struct_type *whole = (const kvo_struct_type *)type;
    if (whole->member_count != 1 || whole->members[0].count != 1) return false;
    type = whole->members[0].type;
  }
#endif
  return type->kind == KVO_KIND_LONG_DOUBLE;
}

// NULL if out of memory.
static ffi_type *ffi_type_of(const kvo_type *type) {
  static ffi_type *const types[KVO_KIND_COUNT] = {[KVO_KIND_VOID] = &ffi_type_void,
      [KVO_KIND_BOOL] = &ffi_type_uint8,
      [KVO_KIND_INT8] = &ffi_type_sint8,
      [KVO_KIND_UINT8] = &ffi_type_uint8,
      [KVO_KIND_INT16] = &ffi_type_sint16,
      [KVO_KIND_UINT16] = &ffi_type_uint16,
      [KVO_KIND_INT32] = &ffi_type_sint32,
      [KVO_KIND_UINT32] = &ffi_type_uint32,
      [KVO_KIND_INT64] = &ffi_type_sint64,
      [KVO_KIND_UINT64] = &ffi_type_uint64,
      [KVO_KIND_FLOAT] = &ffi_type_float,
      [KVO_KIND_DOUBLE] = &ffi_type_double,
      [KVO_KIND_LONG_DOUBLE] = &ffi_type_longdouble,
      [KVO_KIND_POINTER] = &ffi_type_pointer,
      [KVO_KIND_STRING] = &ffi_type_pointer,
      [KVO_KIND_OBJECT] = &ffi_type_pointer,
      [KVO_KIND_SELECTOR] = &ffi_type_pointer};
  if (is_struct_of_long_double(type)) return &ffi_type_longdouble;
  if (type->kind != KVO_KIND_STRUCT) return types[type->kind];
  return struct_type_of((kvo_struct_type *)(uintptr_t)type);
}

// MARK: Shapes

// The block at which `call->cif` points.
typedef struct {
  ffi_cif cif;
  ffi_type *arguments[];
} shape;

static bool add_arguments(shape *made, const kvo_call *call) {
  for (uint32_t i = 0; i < call->argument_count; i++)
    if (!(made->arguments[i] = ffi_type_of(call->arguments[i]))) return false;
  return true;
}

kvo_status kvo_ffi_prepare(kvo_call *call, kvo_error *error) {
  ffi_status status = FFI_OK;
  ffi_type *result = ffi_type_of(call->result);
  shape *made = kvo_alloc(sizeof *made + call->argument_count * sizeof *made->arguments);
  bool complete = result && made && add_arguments(made, call);
  if (complete)
    status =
        ffi_prep_cif(&made->cif, FFI_DEFAULT_ABI, call->argument_count, result, made->arguments);
  if (complete && status == FFI_OK) {
    call->cif = &made->cif;
    return KVO_OK;
  }
  kvo_free(made);
  if (!complete)
    return kvo_fail(error, KVO_NO_MEMORY, NULL, NULL,
        "no memory for methods of the encoding \"%.100s\"", call->encoding);
  return kvo_fail(error, KVO_INVALID_ENCODING, NULL, NULL,
      "libffi can't call methods of the encoding \"%.100s\" on this machine (status %d)",
      call->encoding, (int)status);
}

void kvo_ffi_discard(kvo_call *call) {
  kvo_free(call->cif);
  call->cif = NULL;
}

// MARK: Calling

void kvo_call_invoke(const kvo_call *call, kvo_imp imp, void *result, void **arguments) {
  ffi_call(call->cif, imp, result, arguments);
}

// The size of a result buffer: libffi may write a whole word, or a whole struct.
static size_t result_room(const kvo_call *call) {
  return call->result->size > sizeof(ffi_arg) ? call->result->size : sizeof(ffi_arg);
}

void kvo_call_drop(const kvo_call *call, kvo_imp imp, void **arguments) {
  ffi_call(call->cif, imp, __builtin_alloca(result_room(call)), arguments);
}

static void get_by_ffi(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, void *result) {
  void *arguments[] = {&self, &method};
  ffi_arg word;
  bool small = call->result->size < sizeof word;
  ffi_call(call->cif, imp, small ? &word : result, arguments);
  if (small) memcpy(result, &word, call->result->size);
}

#define GET(c_type)                                                                   \
  {                                                                                   \
    c_type value = ((c_type (*)(kvo_object *, const kvo_method *))imp)(self, method); \
    memcpy(result, &value, sizeof value);                                             \
    return;                                                                           \
  }
#define GET_KIND(kind, c_type) \
  case KVO_KIND_##kind: GET(c_type)
#define GET_SHAPE(shape, c_type) \
  case KVO_SHAPE_##shape: GET(c_type)

KVO_CALLS_BY_ENCODING static void get_struct(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, void *result) {
  switch (kvo_type_shape(call->result)) {
    KVO_SHAPES(GET_SHAPE)
  default: get_by_ffi(call, imp, self, method, result);
  }
}

KVO_CALLS_BY_ENCODING void kvo_call_get(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, void *result) {
  switch (call->result->kind) {
    KVO_SCALAR_KINDS(GET_KIND)
  default: get_struct(call, imp, self, method, result);
  }
}

static void set_by_ffi(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, const void *value) {
  void *arguments[] = {&self, &method, (void *)(uintptr_t)value};
  ffi_call(call->cif, imp, __builtin_alloca(result_room(call)), arguments);
}

#define SET(c_type)                                                                    \
  {                                                                                    \
    c_type argument;                                                                   \
    memcpy(&argument, value, sizeof argument);                                         \
    ((void (*)(kvo_object *, const kvo_method *, c_type))imp)(self, method, argument); \
    return;                                                                            \
  }
#define SET_KIND(kind, c_type) \
  case KVO_KIND_##kind: SET(c_type)
#define SET_SHAPE(shape, c_type) \
  case KVO_SHAPE_##shape: SET(c_type)

KVO_CALLS_BY_ENCODING static void set_struct(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, const void *value) {
  switch (kvo_type_shape(call->arguments[2])) {
    KVO_SHAPES(SET_SHAPE)
  default: set_by_ffi(call, imp, self, method, value);
  }
}

KVO_CALLS_BY_ENCODING void kvo_call_set(const kvo_call *call, kvo_imp imp, kvo_object *self,
    const kvo_method *method, const void *value) {
  if (call->result->kind != KVO_KIND_VOID) {
    set_by_ffi(call, imp, self, method, value);
    return;
  }
  switch (call->arguments[2]->kind) {
    KVO_SCALAR_KINDS(SET_KIND)
  default: set_struct(call, imp, self, method, value);
  }
}
