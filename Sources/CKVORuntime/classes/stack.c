// The remaining stack of a thread. The bounds are cached per thread, since finding them is slow.
#include "classes/kvo_stack.h"

#include <pthread.h>

typedef struct {
  bool is_known; // also true if they can't be found; then the size is 0
  uintptr_t low;
  size_t size;
} bounds;

static _Thread_local bounds stack_bounds;

#ifdef __linux__
static void find_bounds(bounds *found) {
  pthread_attr_t attributes;
  void *low;
  found->is_known = true;
  if (pthread_getattr_np(pthread_self(), &attributes)) return;
  if (!pthread_attr_getstack(&attributes, &low, &found->size)) found->low = (uintptr_t)low;
  pthread_attr_destroy(&attributes);
}
#else
static void find_bounds(bounds *found) { found->is_known = true; }
#endif

kvo_stack kvo_stack_now(void) {
  bounds *bounds = &stack_bounds;
  if (!bounds->is_known) find_bounds(bounds);
  uintptr_t left = (uintptr_t)__builtin_frame_address(0) - bounds->low;
  return left < bounds->size ? (kvo_stack){bounds->size, left} : (kvo_stack){0};
}
