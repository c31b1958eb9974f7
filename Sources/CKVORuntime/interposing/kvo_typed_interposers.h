/// The typed interposers. This source is compiled as C++ if exceptions may pass (typed_interposers.cpp), otherwise as
/// C (interposer_choice.c), and is included nowhere else. C can't do one thing: undo the change when an exception
/// leaves a setter, a getter or an observer, at no cost until one is thrown.
#ifndef KVO_TYPED_INTERPOSERS_H
#define KVO_TYPED_INTERPOSERS_H

#include "delivery/kvo_fast_path.h"
#include "interposing/kvo_interpose.h"
#include "interposing/kvo_interposer_choice.h"
#include "types/kvo_scalars.h"
#include "types/kvo_type.h"

KVO_ASSUME_NONNULL_BEGIN

// Unwinds the frames that this thread has pushed above a mark, unless the change has ended.
typedef struct unwinding {
  kvo_frame *KVO_NULLABLE mark; // NULL: all
  bool is_under_way;
} unwinding;

KVO_INLINE void interposer_unwind(unwinding *unwinding) {
  if (KVO_UNLIKELY(unwinding->is_under_way)) kvo_thread_unwind(unwinding->mark);
}
#define UNWINDING_FROM(place) \
  unwinding unwinding __attribute__((cleanup(interposer_unwind))) = {(place), true}

KVO_INLINE kvo_frame *KVO_NULLABLE top_frame(void) {
  return kvo_this_thread ? kvo_this_thread->top : NULL;
}

// A setter that is being called. The slow path calls it through `set`, which knows the value's type.
typedef struct setting {
  kvo_thread *thread;
  kvo_frame *KVO_NULLABLE frame;
  kvo_object *self;
  const kvo_method *method;
  kvo_observer_slot observer_slot;
  uint8_t observed;
} setting;
typedef void (*set)(kvo_object *self, const kvo_method *method, void *value);

// For a method that changes two keys or part of a to-many key.
static void interposer_set_several_keys(kvo_object *self, const kvo_method *method, set set,
    void *value) {
  void *arguments[] = {&self, &method, value};
  UNWINDING_FROM(top_frame());
  kvo_interposition interposition = kvo_interpose_begin(self, method, arguments);
  set(self, method, value);
  kvo_interpose_end(&interposition);
  unwinding.is_under_way = false;
}

// For a method that sets one key. The setting's frame may have been pushed already.
static void interposer_set_one_key(const setting *setting, set set, void *value) {
  UNWINDING_FROM(setting->frame ? setting->frame : top_frame());
  kvo_frame *frame = setting->frame
                         ? kvo_change_open_frame(setting->frame, setting->self)
                         : kvo_change_open(setting->self, kvo_interpose_key(setting->method));
  set(setting->self, setting->method, value);
  kvo_interpose_notify_late_observers(setting->self, setting->method, setting->observed);
  if (frame) kvo_change_close(frame);
  unwinding.is_under_way = false;
}

static __attribute__((noinline)) void interposer_set_slow(const setting *setting, set set,
    void *value) {
  if (kvo_interpose_sets_one_key(setting->observed)) interposer_set_one_key(setting, set, value);
  else interposer_set_several_keys(setting->self, setting->method, set, value);
}

// False if the change takes the slow path.
KVO_INLINE bool interposer_begin_fast(setting *setting, kvo_object *self, const kvo_method *method,
    kvo_kind kind, size_t size) {
  setting->self = self;
  setting->method = method;
  setting->frame = NULL;
  setting->observed = kvo_interpose_observed(method);
  if (KVO_UNLIKELY(!kvo_interpose_sets_one_key(setting->observed))) return false;
  kvo_thread *thread = kvo_fast_path_thread;
  if (!kvo_fast_path_may_begin(thread)) return false;
  kvo_frame *frame = kvo_frame_push_as(thread, self, KVO_FRAME_OPEN);
  if (KVO_UNLIKELY(!frame)) return false;
  setting->thread = thread;
  setting->frame = frame;
  frame->id = kvo_interpose_key(method);
  return kvo_fast_path_will_change(thread, frame, self, frame->id, &setting->observer_slot, kind,
      size);
}

KVO_INLINE void interposer_end_fast(const setting *setting, size_t size) {
  kvo_frame *frame = setting->frame;
  kvo_interpose_notify_late_observers(setting->self, setting->method, setting->observed);
  setting->thread->open_count--;
  // If the state is no longer OPEN, the object was destroyed in the setter; skip delivery.
  if (KVO_LIKELY(__atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_OPEN)) {
    __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
    // Keys with a typed setter use their interned name as id.
    kvo_fast_path_finish(frame, setting->self, &setting->observer_slot, (const char *)frame->id,
        size);
  }
}

#define INTERPOSER(name, c_type, kind, size)                                                     \
  KVO_CALLS_BY_ENCODING KVO_INLINE void call_##name(kvo_object *self, const kvo_method *method,  \
      c_type value) {                                                                            \
    kvo_imp original = kvo_interpose_original(self, method);                                     \
    ((void (*)(kvo_object *, const kvo_method *, c_type))original)(self, method, value);         \
  }                                                                                              \
  static void set_##name(kvo_object *self, const kvo_method *method, void *value) {              \
    call_##name(self, method, *(c_type *)value);                                                 \
  }                                                                                              \
  KVO_CALLS_BY_ENCODING static void interpose_##name(kvo_object *self, const kvo_method *method, \
      c_type value) {                                                                            \
    setting setting;                                                                             \
    if (KVO_UNLIKELY(!interposer_begin_fast(&setting, self, method, (kind), (size)))) {          \
      struct setting slow = setting; /* a copy: `setting` itself can stay in registers */        \
      c_type copy = value;                                                                       \
      interposer_set_slow(&slow, set_##name, &copy);                                             \
      return;                                                                                    \
    }                                                                                            \
    UNWINDING_FROM(setting.frame);                                                               \
    call_##name(self, method, value);                                                            \
    interposer_end_fast(&setting, (size));                                                       \
    unwinding.is_under_way = false;                                                              \
    kvo_frame_pop_own(setting.thread, setting.frame);                                            \
  }
#define TYPED_INTERPOSER(kind, c_type) INTERPOSER(kind, c_type, KVO_KIND_##kind, sizeof(c_type))
// For a struct: `KVO_KIND_VOID` allows any type that the getter may return.
#define SHAPED_INTERPOSER(shape, c_type) INTERPOSER(shape, c_type, KVO_KIND_VOID, 0)
KVO_SCALAR_KINDS(TYPED_INTERPOSER)
KVO_SHAPES(SHAPED_INTERPOSER)
#undef SHAPED_INTERPOSER
#undef TYPED_INTERPOSER
#undef INTERPOSER

static kvo_imp KVO_NULLABLE shaped_interposer(kvo_shape shape) {
  switch (shape) {
#define CASE(shape, c_type) \
  case KVO_SHAPE_##shape: return (kvo_imp)interpose_##shape;
    KVO_SHAPES(CASE)
#undef CASE
  default: return NULL;
  }
}

kvo_imp KVO_NULLABLE kvo_typed_interposer(const kvo_call *call) {
  bool is_setter = call->argument_count == 3 && call->result->kind == KVO_KIND_VOID;
  if (!is_setter) return NULL;
  switch (call->arguments[2]->kind) {
#define CASE(kind, c_type) \
  case KVO_KIND_##kind: return (kvo_imp)interpose_##kind;
    KVO_SCALAR_KINDS(CASE)
#undef CASE
  default: return shaped_interposer(kvo_type_shape(call->arguments[2]));
  }
}

KVO_ASSUME_NONNULL_END

#endif
