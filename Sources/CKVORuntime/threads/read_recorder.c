// Per-thread state of bindings, including the recorder, by which they learn what a computed key reads.

// Declared before the headers' inline functions use it, because gcc refuses it otherwise.
extern __thread void *const *kvo_recording_word __attribute__((weak, tls_model("initial-exec")));

#include "threads/kvo_read_recorder.h"

static void *const no_recorder = NULL;
__thread void *const *kvo_recording_word = &no_recorder;
__thread void *kvo_recorder;
__thread kvo_reads *kvo_tracked_reads;
static void (*read_listener)(void *recorder, kvo_object *object, const char *interned_key);
__thread void *kvo_errors;
__thread void *kvo_forwarding;

void kvo_set_read_listener(void (*listener)(void *recorder, kvo_object *object,
    const char *interned_key)) {
  __atomic_store_n(&read_listener, listener, __ATOMIC_RELEASE);
}

__attribute__((weak)) void *const *kvo_idle_recording_word(void) { return &no_recorder; }

// Defined by a library that tracks reads.
bool kvo_observation_tracks(kvo_object *object) __attribute__((weak));
void kvo_observation_read(kvo_object *object, const char *interned_key) __attribute__((weak));

bool kvo_tracks_reads(kvo_object *object) {
  return kvo_observation_tracks && kvo_observation_tracks(object);
}

void kvo_notify_tracker(kvo_object *object, const char *interned_key) {
  if (kvo_observation_read) kvo_observation_read(object, interned_key);
}

void kvo_report_read(kvo_object *object, const char *interned_key) {
  if (!kvo_recorder) {
    if (kvo_tracks_reads(object)) kvo_notify_tracker(object, interned_key);
    return;
  }
  void (*listener)(void *, kvo_object *, const char *) =
      __atomic_load_n(&read_listener, __ATOMIC_ACQUIRE);
  if (listener) listener(kvo_recorder, object, interned_key);
}
