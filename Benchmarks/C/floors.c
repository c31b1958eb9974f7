/// Lower bounds of the C cases: an indirect call, and a libffi closure around one.
#include <dlfcn.h>
#include <ffi.h>
#include <stdlib.h>
#include <string.h>

#include "BenchmarkC.h"
#include "beside.h"
#include "support.h"

/// The shape of the runtime's setters, without the runtime.
typedef struct floor_object {
  double value;
} floor_object;
typedef void (*floor_setter)(floor_object *self, const void *_cmd, double value);

/// The state of one closure.
typedef struct floor_state {
  floor_object object;
  floor_setter setter; ///< called by the loop
  uint64_t calls;      ///< calls of the closure's handler
  ffi_closure *closure;
  ffi_cif cif;
  ffi_type *arguments[3];
} floor_state;

static void store(floor_object *self, const void *_cmd, double value) {
  (void)_cmd;
  self->value = value;
}

static void floor_run(void *opaque, uint64_t iterations) {
  floor_state *state = opaque;
  floor_setter setter = state->setter;
  // Hides from the compiler which function it is.
  __asm__ volatile("" : "+r"(setter));
  for (uint64_t i = 0; i < iterations; i++) setter(&state->object, NULL, (double)i);
}

static void floor_call_finish(void *opaque, uint64_t iterations) {
  (void)iterations;
  free(opaque);
}

static bench_workload floor_call(void) {
  floor_state *state = bench_allocate(1, sizeof *state);
  state->setter = store;
  return (bench_workload){state, floor_run, floor_call_finish};
}

bench_workload bench_floor_call(bool beside_another) {
  return beside_another ? bench_beside(floor_call, floor_call) : floor_call();
}

/// The closure's handler: counts, as an observer would, and calls the typed setter.
static void forward(ffi_cif *cif, void *result, void **arguments, void *opaque) {
  (void)cif;
  (void)result;
  floor_state *state = opaque;
  state->calls++;
  store(*(floor_object **)arguments[0], *(const void **)arguments[1], *(double *)arguments[2]);
}

static void floor_closure_finish(void *opaque, uint64_t iterations) {
  floor_state *state = opaque;
  bench_require(state->calls == iterations, "floor.ffi.closure: %llu calls of %llu arrived",
      (unsigned long long)state->calls, (unsigned long long)iterations);
  ffi_closure_free(state->closure);
  free(state);
}

bench_workload bench_floor_ffi_closure(void) {
  floor_state *state = bench_allocate(1, sizeof *state);
  void *code;
  state->closure = ffi_closure_alloc(sizeof(ffi_closure), &code);
  bench_require(state->closure != NULL, "libffi has no memory for a closure");
  memcpy(state->arguments, (ffi_type *[]){&ffi_type_pointer, &ffi_type_pointer, &ffi_type_double},
      sizeof state->arguments);
  ffi_status status =
      ffi_prep_cif(&state->cif, FFI_DEFAULT_ABI, 3, &ffi_type_void, state->arguments);
  if (status == FFI_OK)
    status = ffi_prep_closure_loc(state->closure, &state->cif, forward, state, code);
  bench_require(status == FFI_OK, "libffi refuses the closure: status %d", (int)status);
  state->setter = (floor_setter)code;
  return (bench_workload){state, floor_run, floor_closure_finish};
}

#ifdef FFI_VERSION_STRING
const char *bench_libffi_version(void) { return ffi_get_version(); }
#else
const char *bench_libffi_version(void) {
  // Resolve the link: libffi.so.8 says little, but libffi.so.8.1.2 is one release.
  static char path[4096];
  Dl_info info;
  if (dladdr((void *)ffi_call, &info) == 0 || !info.dli_fname || !realpath(info.dli_fname, path))
    return NULL;
  const char *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path;
  return strncmp(name, "libffi", strlen("libffi")) == 0 ? name : NULL;
}
#endif
