// The typed lane, and the choice between it and closures.
//
// A setter `void (self, _cmd, scalar or pointer)` is interposed by a function that was compiled for
// its argument's type: `self` and `_cmd` lead to all else that it needs, as in a closure. So there
// is one for each type, whatever the class and key.
//
// A closure for such a setter does nothing but call the same function (ffi.c): both lanes behave
// alike.
//
// C++ for the one thing that C can't do: an exception that leaves the setter, a getter or an observer
// finds the frame undone, at no cost until one is thrown.
extern "C" {
#include "kvo_lane.h"

#include "kvo_diagnostics.h"
#include "kvo_interpose.h"
#include "kvo_scalars.h"
#include "kvo_short.h"
}

namespace {

// Undoes what this thread has begun above a place of its stack of frames, unless it is completed.
class unwinding {
public:
  explicit unwinding(kvo_frame *mark) : mark(mark) {}
  unwinding(const unwinding &) = delete;
  unwinding &operator=(const unwinding &) = delete;
  ~unwinding() {
    if (is_under_way) kvo_thread_unwind(mark);
  }
  void complete() { is_under_way = false; }

private:
  kvo_frame *mark;
  bool is_under_way = true;
};

template <class T> using setter = void (*)(kvo_object *, const kvo_method *, T);

template <class T>
KVO_CALLS_BY_ENCODING KVO_INLINE void call_original(kvo_object *self, const kvo_method *method,
    T value) {
  reinterpret_cast<setter<T>>(kvo_interpose_original(self, method))(self, method, value);
}

// The method changes two keys or part of a to-many key.
template <class T>
KVO_CALLS_BY_ENCODING __attribute__((noinline)) void set_several(kvo_object *self,
    const kvo_method *method, T value) {
  unwinding unwinding(kvo_this_thread ? kvo_this_thread->top : nullptr);
  void *arguments[] = {&self, &method, &value};
  kvo_interposition interposition = kvo_interpose_begin(self, method, arguments);
  reinterpret_cast<setter<T>>(interposition.original)(self, method, value);
  kvo_interpose_end(&interposition);
  unwinding.complete();
}

// The long way of a change, of which the frame may have been pushed. `observed`: which of the method's
// keys were when it began, of which this is the change of one.
template <class T>
KVO_CALLS_BY_ENCODING __attribute__((noinline)) void set_long(kvo_frame *pushed, kvo_object *self,
    const kvo_method *method, uint8_t observed, T value) {
  unwinding unwinding(pushed ? pushed : kvo_this_thread ? kvo_this_thread->top : nullptr);
  kvo_frame *frame = pushed ? kvo_change_open_frame(pushed, self)
                            : kvo_change_open(self, kvo_interpose_key(method));
  call_original(self, method, value);
  kvo_interpose_look(self, method, observed);
  if (frame) kvo_change_close(frame);
  unwinding.complete();
}

template <kvo_kind kind, class T>
KVO_CALLS_BY_ENCODING void interpose(kvo_object *self, const kvo_method *method, T value) {
  const uint8_t observed = kvo_interpose_observed(method);
  if (KVO_UNLIKELY(!kvo_interpose_sets_one_key(observed))) return set_several(self, method, value);
  kvo_thread *thread = kvo_this_thread;
  if (KVO_UNLIKELY(!thread) || !kvo_short_may_begin(thread))
    return set_long<T>(nullptr, self, method, observed, value);
  kvo_frame *frame = kvo_frame_push_as(thread, self, KVO_FRAME_OPEN);
  if (KVO_UNLIKELY(!frame)) return set_long<T>(nullptr, self, method, observed, value);
  const uintptr_t id = kvo_interpose_key(method);
  frame->id = id;
  kvo_place place;
  if (KVO_UNLIKELY(!kvo_short_will(thread, frame, self, id, &place, kind, sizeof(T))))
    return set_long<T>(frame, self, method, observed, value);
  unwinding unwinding(frame);
  call_original(self, method, value);
  kvo_interpose_look(self, method, observed);
  thread->open_count--;
  // Else the object has died.
  if (KVO_LIKELY(__atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_OPEN)) {
    __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
    kvo_short_finish(frame, self, &place, kind, sizeof(T));
  }
  unwinding.complete();
  kvo_frame_pop_own(thread, frame);
}

bool closures_forced;

} // namespace

kvo_imp kvo_typed_interposer(const kvo_call *call) {
  bool is_setter = call->argument_count == 3 && call->result->kind == KVO_KIND_VOID;
  if (!is_setter) return nullptr;
  switch (call->arguments[2]->kind) {
#define CASE(kind, c_type) \
  case KVO_KIND_##kind: return reinterpret_cast<kvo_imp>(interpose<KVO_KIND_##kind, c_type>);
    KVO_SCALAR_KINDS(CASE)
#undef CASE
  default: return nullptr;
  }
}

// MARK: The choice

bool kvo_set_closures_forced(bool forced) {
  return __atomic_exchange_n(&closures_forced, forced, __ATOMIC_RELAXED);
}

kvo_imp kvo_lane_interposer(const kvo_call *call, kvo_error *error) {
  bool forced = __atomic_load_n(&closures_forced, __ATOMIC_RELAXED);
  kvo_imp typed = forced ? nullptr : kvo_typed_interposer(call);
  return typed ? typed : kvo_call_closure(call, error);
}
