// Replaces two weak definitions of the core. So a program that links this has its reads reported, and a program that
// does not runs the same instructions as before.
#include "kvo_observation.h"

#include <pthread.h>

__thread void *kvo_recorder = (void *)&kvo_asking;
const void *kvo_idle_recorder(void) { return &kvo_asking; }

static __thread bool hashed;

bool kvo_observation_take_hashed(void) {
  bool was_hashed = hashed;
  hashed = false;
  return was_hashed;
}

void kvo_observation_set_hashed(void) { hashed = true; }

static __thread bool registering;

bool kvo_observation_is_registering(void) { return registering; }

void kvo_observation_set_registering(bool is_registering) { registering = is_registering; }

const void *kvo_observation_thread(void) { return &hashed; }

// MARK: The thread's probe

static __thread void *probe;
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

// Other code that runs at the end of the thread may still read properties. It then uses another probe.
static void end_thread(void *kept) {
  probe = NULL;
  kvo_observation_end_probe(kept);
}

static void make_thread_end(void) {
  // Without a key, probes of threads that end later are leaked.
  (void)pthread_key_create(&thread_end, end_thread);
}

void *kvo_observation_probe(void) { return probe; }

void kvo_observation_keep_probe(void *kept) {
  probe = kept;
  pthread_once(&thread_end_once, make_thread_end);
  pthread_setspecific(thread_end, kept);
}
