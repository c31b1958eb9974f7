// Stops endless recursion: an observer that sets the property it observes, or a class's method that sets the property
// it announces (E5), without end (D7).
//
// Without this check the recursion would end in a stack overflow without any message. It is checked whenever the
// frames fill a block, that is, at least at every sixteenth level, so a change that does not nest pays nothing. The
// program is stopped at one of two limits: too many changes are being delivered, or so little of the stack is left that
// the next two blocks may not fit. Only changes that are being delivered count as levels. These frames do not
// count: changes that are merely open, such as suspended accesses; and the further frames of a change that protect
// objects along a key path, or for derived keys.
#include "delivery/kvo_depth.h"

#include "base/kvo_forward.h"
#include "base/kvo_log.h"
#include "classes/kvo_stack.h"
#include "delivery/kvo_delivery.h"
#include "kvo_binding.h"
#include "kvo_diagnostics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static uint32_t depth_limit = KVO_DEFAULT_DEPTH; // atomic

uint32_t kvo_depth_limit(void) { return __atomic_load_n(&depth_limit, __ATOMIC_RELAXED); }

void kvo_set_depth_limit(uint32_t limit) {
  __atomic_store_n(&depth_limit, limit, __ATOMIC_RELAXED);
}

__attribute__((constructor(101))) static void depth_read_environment(void) {
  size_t limit = KVO_DEFAULT_DEPTH;
  kvo_read_number("KVO_DEPTH", &limit);
  kvo_set_depth_limit(limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX);
}

// The newest change of this thread that is calling observers or methods and whose object is alive and observed, with
// its key's accessors. NULL if there is none. The object is never released, because the program ends.
static const kvo_frame *find_delivering(const kvo_thread *thread, const kvo_accessors **accessors) {
  const kvo_frame *frame = NULL;
  while ((frame = kvo_thread_delivering_before(thread, frame))) {
    kvo_object *object = kvo_table_owner_at(frame->object);
    *accessors = object ? kvo_change_accessors(object, frame->id) : NULL;
    if (*accessors) break;
  }
  return frame;
}

static bool (*key_speller)(const void *binding, char *buffer, size_t capacity); // atomic

void kvo_set_key_speller(bool (*spell)(const void *binding, char *buffer, size_t capacity)) {
  __atomic_store_n(&key_speller, spell, __ATOMIC_RELEASE);
}

// The text of a key that is not a name, spelled by the binding. Spelling may take more stack than is left, so it is
// done on a thread of its own, with a time limit.
static struct {
  const kvo_accessors *accessors;
  char text[192];
} spelling;

static void *depth_spell(void *unused) {
  (void)unused;
  bool (*speller)(const void *, char *, size_t) = __atomic_load_n(&key_speller, __ATOMIC_ACQUIRE);
  const kvo_property_description *property = kvo_accessors_property(spelling.accessors);
  bool is_spelled =
      speller && property && speller(property->binding, spelling.text, sizeof spelling.text);
  return is_spelled ? spelling.text : NULL;
}

static void *depth_join(pthread_t thread) {
  enum { SECONDS = 10 }; // generous, because the machine may be busy
  void *result = NULL;
#ifdef __linux__
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += SECONDS;
  return pthread_timedjoin_np(thread, &result, &until) ? NULL : result;
#else
  return pthread_join(thread, &result) ? NULL : result;
#endif
}

static const char *depth_spelled(const kvo_accessors *delivered) {
  if (*delivered->key != '\\') return delivered->key;
  pthread_t thread;
  spelling.accessors = delivered;
  const char *text = pthread_create(&thread, NULL, depth_spell, NULL) ? NULL : depth_join(thread);
  return text ? text : delivered->key;
}

// The code to blame in the message: the observers, or a method of the class.
typedef struct {
  const char *name, *deed, *kind;
} culprit;

static const culprit *culprit_of(const kvo_frame *delivering) {
  static const culprit observer = {"observers of", "set what they observe", "An observer"};
  static const culprit method = {"didChangeValue for", "sets what it announces", "A method"};
  static const culprit method_of_part = {"didChange for", "sets what it announces", "A method"};
  if (!delivering || delivering->state != KVO_FRAME_ANNOUNCING) return &observer;
  return delivering->flags & KVO_FRAME_HAS_MUTATION ? &method_of_part : &method;
}

static __attribute__((noreturn)) void depth_stop(const kvo_thread *thread, kvo_object *object,
    const char *why, const char *remedy) {
  const kvo_accessors *delivered = NULL;
  const kvo_frame *frame = find_delivering(thread, &delivered);
  // Static, because little of the stack may be left. Two threads that get here together may mix their messages; the
  // program ends either way.
  static char key[256], message[1024];
  if (delivered)
    snprintf(key, sizeof key, "\"%s\" of %s", depth_spelled(delivered), delivered->cls->name);
  else snprintf(key, sizeof key, "%s", kvo_class_of(object)->name);
  const culprit *culprit = culprit_of(frame);
  snprintf(message, sizeof message,
      "%s: %s %s %s, again and again, probably without an end. %s that does so has to stop at some value. (%s)",
      why, culprit->name, key, culprit->deed, culprit->kind, remedy);
  kvo_break_on_misuse(message);
  struct iovec parts[] = {{"KVO: ", 5}, {message, strlen(message)}, {"\n", 1}};
  (void)!writev(STDERR_FILENO, parts, 3);
  abort();
}

static void check_number(const kvo_thread *thread, kvo_object *object) {
  uint32_t limit = kvo_depth_limit();
  if (!limit || KVO_LIKELY(kvo_thread_depth_at_most(thread) < limit)) return;
  uint32_t count = kvo_thread_count_delivering(thread);
  if (count < limit) return;
  char why[64];
  snprintf(why, sizeof why, "%u nested changes are being delivered", (unsigned)count);
  depth_stop(thread, object, why,
      "KVO_DEPTH, kvo_set_depth_limit and, in Swift, KVODiagnostics.depthLimit say how deep changes "
      "may nest.");
}

// MARK: The thread's own stack

// With fewer frames than FIRST_LOOK the stack is not checked, because finding the bounds of a main thread's takes long.
enum {
  FIRST_LOOK = 32,
  BLOCKS_AHEAD = 2, // blocks of frames that must still fit, with the stack that the last one took
};

// The stack that a block of frames takes: the smaller of the last two measurements, 0 if there is only one. Endless
// recursion takes as much each time, unlike something large that is done once.
static size_t step_of(const kvo_frame_block *block, uintptr_t here) {
  size_t last = block->stack > here ? block->stack - here : 0;
  const kvo_frame_block *below = block->previous;
  size_t earlier = below && below->stack > block->stack ? below->stack - block->stack : 0;
  return earlier < last ? earlier : last;
}

// The stack may be one that the program allocated, whose bounds are unknown, or not the one of the last block. Then
// nothing is checked.
static void check_stack(const kvo_thread *thread, kvo_object *object, uintptr_t here) {
  kvo_stack stack = kvo_stack_now();
  uintptr_t low = here - stack.left, before = thread->block->stack;
  if (!stack.size || before - low >= stack.size) return;
  size_t needed = BLOCKS_AHEAD * step_of(thread->block, here);
  if (KVO_LIKELY(!kvo_stack_is_short(&stack, needed))) return;
  char why[64];
  snprintf(why, sizeof why, "%zu KB are left of the stack's %zu", stack.left / 1024,
      stack.size / 1024);
  depth_stop(thread, object, why,
      "Where it does stop, further on, its thread needs a larger stack.");
}

uintptr_t kvo_depth_check(kvo_thread *thread, kvo_object *object) {
  uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  check_number(thread, object);
  if (kvo_thread_depth_at_most(thread) >= FIRST_LOOK) check_stack(thread, object, here);
  return here;
}

// MARK: A property's code that sets the property

// A property's own code that sets it, such as a Swift `didSet`, begins each change after the previous one has ended:
// only the stack nests, not the changes. The program continues, because a deep call chain alone is not a mistake.
void kvo_depth_warn_of_deep_stack(const kvo_registration *registration) {
  static bool is_reported; // atomic
  kvo_stack stack = kvo_stack_now();
  if (!kvo_stack_is_short(&stack, kvo_stack_reserve(&stack))) return;
  if (__atomic_exchange_n(&is_reported, true, __ATOMIC_RELAXED)) return;
  kvo_misuse(
      "\"%s\" of %s is set where %zu KB are left of the stack's %zu: by code that runs when it is set, "
      "such as a didSet, and that sets it again and again. Such code has to stop at some value.",
      kvo_registration_key_path(registration), kvo_class_of(registration->object)->name,
      stack.left / 1024, stack.size / 1024);
}
