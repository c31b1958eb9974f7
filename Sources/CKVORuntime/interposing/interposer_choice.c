// Chooses between typed interposers and closures.
//
// A setter `void (self, _cmd, scalar or pointer)` is interposed by a function that was compiled for its argument's
// type (kvo_typed_interposers.h). It finds everything else through `self` and `_cmd`, like a closure. So there is one
// function for each type, for all classes and keys.
//
// A closure for such a setter only calls the same function (closures.c), so both behave alike.
#include "interposing/kvo_interposer_choice.h"

#include "base/kvo_log.h"

#ifndef KVO_EXCEPTIONS
#include "base/kvo_forward.h"
#include "interposing/kvo_typed_interposers.h"
#endif

// Structs get a closure, which passes them on to the function for their shape.
static bool takes_struct(const kvo_call *call) {
  return call->argument_count > 2 && call->arguments[2]->kind == KVO_KIND_STRUCT;
}

kvo_imp kvo_choose_interposer(const kvo_call *call, kvo_error *error) {
  kvo_imp typed =
      kvo_closures_are_forced() || takes_struct(call) ? NULL : kvo_typed_interposer(call);
  return typed ? typed : kvo_call_closure(call, error);
}
