// Closures: interposers that libffi makes at run time, for methods of any signature (A3).
//
// There is one closure for each signature (`kvo_call`), shared by all methods that have it: it learns from `self` and
// `_cmd` what it interposes on. Closures are made when first needed, under the closure lock, published atomically, and
// never freed. The function that handles a closure is chosen when the closure is made. So a setter `void (self, _cmd,
// scalar)`, or of a small struct, reaches its original without a switch and without ffi_call, through the typed
// interposer of interposer_choice.c.
#include <ffi.h>

#include "interposing/kvo_interposer_choice.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "interposing/kvo_interpose.h"
#include "threads/kvo_thread.h"
#include "types/kvo_scalars.h"
#include "types/kvo_type.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

typedef void (*handler)(ffi_cif *cif, void *result, void **arguments, void *context);

// `void (self, _cmd, value)` of a scalar, a pointer or a small struct: the context is the typed interposer, which
// does all of the work.
#define PASS_ON(kind, c_type)                                                                      \
  KVO_CALLS_BY_ENCODING static void pass_on_##kind(ffi_cif *cif, void *result, void **arguments,   \
      void *interposer) {                                                                          \
    (void)cif, (void)result;                                                                       \
    ((void (*)(kvo_object *, const kvo_method *, c_type))interposer)(*(kvo_object **)arguments[0], \
        *(const kvo_method **)arguments[1], *(c_type *)arguments[2]);                              \
  }
KVO_SCALAR_KINDS(PASS_ON)
KVO_SHAPES(PASS_ON)
#undef PASS_ON

// Any other signature. A closure has to store in `result` exactly what ffi_call stores there: the value, or a small
// integer widened to a word.
typedef struct {
  ffi_cif *cif;
  void *result;
  void **arguments;
} invocation;

static void interpose_any_unwinding(void *opaque) {
  const invocation *call = opaque;
  kvo_interposition interposition = kvo_interpose_begin(*(kvo_object **)call->arguments[0],
      *(const kvo_method **)call->arguments[1], call->arguments);
  ffi_call(call->cif, interposition.original, call->result, call->arguments);
  kvo_interpose_end(&interposition);
}

static void interpose_any(ffi_cif *cif, void *result, void **arguments, void *context) {
  (void)context;
  invocation call = {cif, result, arguments};
  kvo_unwinding(interpose_any_unwinding, NULL, &call);
}

static handler handler_of(const kvo_call *call) {
#define BY_KIND(kind, c_type) [KVO_KIND_##kind] = pass_on_##kind,
#define BY_SHAPE(shape, c_type) [KVO_SHAPE_##shape] = pass_on_##shape,
  static const handler by_kind[KVO_KIND_COUNT] = {KVO_SCALAR_KINDS(BY_KIND)};
  static const handler by_shape[KVO_SHAPE_COUNT] = {KVO_SHAPES(BY_SHAPE)};
  if (!kvo_typed_interposer(call)) return interpose_any;
  handler shaped = by_shape[kvo_type_shape(call->arguments[2])];
  return shaped ? shaped : by_kind[call->arguments[2]->kind];
}

#define NO_EXECUTABLE_MEMORY "libffi got no executable memory"

static bool closures_refused;

void kvo_ffi_set_closures_refused(bool refused) {
  __atomic_store_n(&closures_refused, refused, __ATOMIC_RELAXED);
}

static void *refuse_closure(kvo_error *error, const char *what, const char *cause) {
  kvo_fail(error, KVO_CLOSURES_UNAVAILABLE, NULL, NULL,
      "its setter needs code that libffi makes at run time, but %s: %s", what, cause);
  return NULL;
}

// Why the system refuses executable memory. libffi reports a lack of memory for every reason, so this asks for a page
// itself and reads errno.
static const char *closure_refusal(void) {
  void *page =
      mmap(NULL, 1, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return strerror(errno);
  munmap(page, 1);
  return strerror(ENOMEM);
}

static ffi_closure *closure_allocate(void **code, kvo_error *error) {
  ffi_closure *closure = kvo_alloc_code(ffi_closure_alloc, sizeof *closure, code);
  return closure ? closure : refuse_closure(error, NO_EXECUTABLE_MEMORY, closure_refusal());
}

static kvo_imp make_closure(const kvo_call *call, kvo_error *error) {
  void *code = NULL;
  ffi_closure *closure = closure_allocate(&code, error);
  if (!closure) return NULL;
  ffi_status status = ffi_prep_closure_loc(closure, call->cif, handler_of(call),
      (void *)kvo_typed_interposer(call), code);
  if (status == FFI_OK) return (kvo_imp)code;
  ffi_closure_free(closure);
  return refuse_closure(error, "libffi can't make it",
      status == FFI_BAD_ABI ? "unknown calling convention" : "unknown type");
}

kvo_imp kvo_call_closure(const kvo_call *call, kvo_error *error) {
  if (__atomic_load_n(&closures_refused, __ATOMIC_RELAXED))
    return (kvo_imp)refuse_closure(error, NO_EXECUTABLE_MEMORY, "refused on request");
  kvo_imp *slot = &((kvo_call *)(uintptr_t)call)->closure;
  kvo_imp made = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (made) return made;
  KVO_LOCKED(&kvo_closure_lock);
  made = *slot ? *slot : make_closure(call, error);
  __atomic_store_n(slot, made, __ATOMIC_RELEASE);
  return made;
}
