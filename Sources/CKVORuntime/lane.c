// The typed lane, and the choice between it and closures.
//
// A setter `void (self, _cmd, scalar or pointer)` is interposed by a function that was compiled for
// its argument's type (kvo_typed_lane.h): `self` and `_cmd` lead to all else that it needs, as in a
// closure. So there is one for each type, whatever the class and key.
//
// A closure for such a setter does nothing but call the same function (ffi.c): both lanes behave
// alike.
#include "kvo_lane.h"

#include "kvo_diagnostics.h"
#include "kvo_type.h"

#ifndef KVO_EXCEPTIONS
#include "kvo_typed_lane.h"
#endif

static bool closures_forced;

bool kvo_set_closures_forced(bool forced) {
  return __atomic_exchange_n(&closures_forced, forced, __ATOMIC_RELAXED);
}

// Structs take the closure, which passes them on to a function of their shape.
static bool is_closed(const kvo_call *call) {
  return call->argument_count > 2 && call->arguments[2]->kind == KVO_KIND_STRUCT;
}

kvo_imp kvo_lane_interposer(const kvo_call *call, kvo_error *error) {
  bool forced = __atomic_load_n(&closures_forced, __ATOMIC_RELAXED);
  kvo_imp typed = forced || is_closed(call) ? NULL : kvo_typed_interposer(call);
  return typed ? typed : kvo_call_closure(call, error);
}
