// Retains an object while the program's code runs that may drop the last other reference to it: a getter, a hook, or
// a class method that a search asks.
//
// `kvo_finally` also frees other resources if that code throws, and `kvo_until_done` frees all of them where freeing
// throws.
#include "base/kvo_forward.h"
#include "threads/kvo_thread.h"

typedef struct {
  kvo_object *object;
  void (*body)(void *context);
  void *context;
} holding;

static void holding_run(void *opaque) {
  const holding *holding = opaque;
  holding->body(holding->context);
}

static void let_go(void *opaque) { kvo_object_release(((holding *)opaque)->object); }

void kvo_finally(void (*body)(void *context), void (*end)(void *context), void *context) {
#ifdef KVO_EXCEPTIONS
  kvo_run_finally(kvo_this_thread ? kvo_this_thread->top : NULL, body, end, context);
#else
  body(context);
  end(context);
#endif
}

void kvo_until_done(void (*body)(void *context), void *context) {
#ifdef KVO_EXCEPTIONS
  kvo_run_until_done(kvo_this_thread ? kvo_this_thread->top : NULL, body, context);
#else
  body(context);
#endif
}

void kvo_frame_hold(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_RETAINED) return;
  if (kvo_object_try_retain(frame->object)) frame->flags |= KVO_FRAME_RETAINED;
}

void kvo_with_object_retained(kvo_object *object, void (*body)(void *context), void *context) {
  holding holding = {object, body, context};
  if (kvo_object_try_retain(object)) kvo_finally(holding_run, let_go, &holding);
  else body(context);
}
