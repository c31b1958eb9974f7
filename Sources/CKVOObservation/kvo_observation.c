// Replaces two weak definitions of the core. So a program that links this has its reads reported while Observation
// tracks, and other programs run the same instructions.
#include "kvo_observation.h"

#include <link.h>

// Of threads that have not read anything yet.
static void *const unknown = (void *)&unknown;
__thread void *const *kvo_recording_word = &unknown;

// Observation's variable of this thread, which is NULL while it does not track; NULL until the thread's first read.
static __thread void *const *tracker;

void *const *kvo_idle_recording_word(void) { return tracker ? tracker : &unknown; }

static bool is_tracking(void) {
  if (!tracker) {
    tracker = kvo_observation_find_tracker();
    if (!kvo_recorder) kvo_recording_word = tracker;
  }
  return *tracker != NULL;
}

static __thread bool registering;

void kvo_observation_set_registering(bool is_registering) { registering = is_registering; }

const void *kvo_observation_thread(void) { return &registering; }

static __thread size_t read_keys;

void kvo_observation_count_read_key(bool is_read) { read_keys += is_read ? 1 : (size_t)-1; }

bool kvo_observation_may_wait(void) { return read_keys && !is_tracking(); }

// Asked by the core.
bool kvo_observation_tracks(kvo_object *object) {
  (void)object;
  return !registering && is_tracking();
}

// MARK: Thread-local variables

typedef struct search {
  uintptr_t address;
  kvo_thread_locals found;
} search;

static int look_into(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  search *searched = context;
  bool contains = false;
  size_t variables = 0;
  for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_TLS) variables = segment->p_memsz;
    if (segment->p_type == PT_LOAD &&
        searched->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz)
      contains = true;
  }
  if (!contains) return 0;
  if (info->dlpi_tls_data)
    searched->found = (kvo_thread_locals){.start = info->dlpi_tls_data, .size = variables};
  return 1;
}

kvo_thread_locals kvo_observation_thread_locals(const void *address) {
  search searched = {.address = (uintptr_t)address};
  dl_iterate_phdr(look_into, &searched);
  return searched.found;
}
