// The typed lane, and the choice between it and closures.
//
// A setter `void (self, _cmd, scalar or pointer)` is interposed by a function that was compiled for
// its argument's type: `self` and `_cmd` lead to all else that it needs, as in a closure. So there
// is one for each type, whatever the class and key. What it was called with lies in a `setting` on
// the stack, since an exception must find the frames undone (kvo_unwinding).
//
// A closure for such a setter does nothing but call the same function (ffi.c): both lanes behave
// alike.
#include "kvo_lane.h"

#include "kvo_diagnostics.h"
#include "kvo_interpose.h"
#include "kvo_scalars.h"

// What a setter was called with; the value follows. Every type of value may lie there.
typedef struct setting {
  kvo_object *self;
  const kvo_method *method;
} setting;

// The method changes two keys or part of a to-many key.
static __attribute__((noinline)) void set_several(setting *setting) {
  void *arguments[] = {&setting->self, &setting->method, setting + 1};
  kvo_interposition interposition = kvo_interpose_begin(setting->self, setting->method, arguments);
  kvo_call_set(setting->method->call, interposition.original, setting->self, setting->method,
      setting + 1);
  kvo_interpose_end(&interposition);
}

// Read anew each time: in registers they would have to be kept over three calls.
#define SELF call->setting.self
#define METHOD call->setting.method
#define TYPED_INTERPOSER(kind, c_type)                                                           \
  typedef struct kind##_setting {                                                                \
    setting setting;                                                                             \
    c_type value;                                                                                \
    uint8_t observed;                                                                            \
  } kind##_setting;                                                                              \
  _Static_assert(offsetof(kind##_setting, value) == sizeof(setting), "where set_several looks"); \
  KVO_CALLS_BY_ENCODING static void set_##kind(void *opaque) {                                   \
    kind##_setting *call = opaque;                                                               \
    call->observed = kvo_interpose_observed(METHOD);                                             \
    if (KVO_UNLIKELY(!kvo_interpose_sets_one_key(call->observed))) {                             \
      set_several(opaque);                                                                       \
      return;                                                                                    \
    }                                                                                            \
    kvo_imp original = kvo_interpose_original(SELF, METHOD);                                     \
    kvo_frame *frame = kvo_interpose_open(SELF, METHOD);                                         \
    ((void (*)(kvo_object *, const kvo_method *, c_type))original)(SELF, METHOD, call->value);   \
    kvo_interpose_look(SELF, METHOD, call->observed);                                            \
    if (frame) kvo_change_close(frame);                                                          \
  }                                                                                              \
  KVO_CALLS_BY_ENCODING static void interpose_##kind(kvo_object *self, const kvo_method *method, \
      c_type value) {                                                                            \
    kind##_setting call;                                                                         \
    call.setting = (setting){self, method};                                                      \
    call.value = value;                                                                          \
    kvo_unwinding(set_##kind, NULL, &call);                                                      \
  }
KVO_SCALAR_KINDS(TYPED_INTERPOSER)
#undef TYPED_INTERPOSER
#undef METHOD
#undef SELF

kvo_imp kvo_typed_interposer(const kvo_call *call) {
#define ENTRY(kind, c_type) [KVO_KIND_##kind] = (kvo_imp)interpose_##kind,
  static const kvo_imp interposers[KVO_KIND_COUNT] = {KVO_SCALAR_KINDS(ENTRY)};
#undef ENTRY
  bool is_setter = call->argument_count == 3 && call->result->kind == KVO_KIND_VOID;
  return is_setter ? interposers[call->arguments[2]->kind] : NULL;
}

// MARK: The choice

static bool closures_forced;

bool kvo_set_closures_forced(bool forced) {
  return __atomic_exchange_n(&closures_forced, forced, __ATOMIC_RELAXED);
}

kvo_imp kvo_lane_interposer(const kvo_call *call, kvo_error *error) {
  bool forced = __atomic_load_n(&closures_forced, __ATOMIC_RELAXED);
  kvo_imp typed = forced ? NULL : kvo_typed_interposer(call);
  return typed ? typed : kvo_call_closure(call, error);
}
