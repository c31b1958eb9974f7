// What bindings have of their own on each thread. The recorder of reads: how they learn what a computed key reads.
#include "threads/kvo_read_recorder.h"

__thread void *kvo_recorder;
__thread kvo_reads *kvo_sink;
static void (*read_listener)(void *recorder, kvo_object *object, const char *interned_key);
__thread void *kvo_errors;
__thread void *kvo_flow;

void kvo_set_read_listener(void (*listener)(void *recorder, kvo_object *object,
    const char *interned_key)) {
  __atomic_store_n(&read_listener, listener, __ATOMIC_RELEASE);
}

void kvo_tell_read(kvo_object *object, const char *interned_key) {
  void (*listener)(void *, kvo_object *, const char *) =
      __atomic_load_n(&read_listener, __ATOMIC_ACQUIRE);
  if (listener) listener(kvo_recorder, object, interned_key);
}
