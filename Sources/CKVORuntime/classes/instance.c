// Instances of C classes: memory, references, destruction.
//
// Two counts precede the header: strong references and unowned ones. All strong references together hold one unowned
// reference. Releasing the last strong one destroys the object; releasing the last unowned one frees the memory. So a
// registration can ask a dead observer whether it is alive. While an object is being destroyed, its strong count has
// a high bit set, so that references that `dealloc` takes and releases don't destroy it again.
//
// If an instance's alignment exceeds 16 bytes, its header is that many bytes after the beginning of its memory, and
// the counts are the last 16 of these.
//
// Objects are destroyed in a loop, not by recursion, because a list of 100,000 objects that own one another must not
// overflow the stack (P4). `destroyProperties` releases owned objects one at a time. When a release is the last one,
// it returns, and the loop destroys that object and everything it owns before it calls `destroyProperties` again for
// the next property. Objects whose destruction is not complete are on a stack that is linked through their counts,
// each with the stage it has reached. The order of deaths is the one that recursion would give.
//
// A `dealloc` that releases an object may afterwards rely on that object's `dealloc` having run. So the object is
// destroyed inside, by recursion, and the program is stopped with a message if the thread's stack is about to end.
// Objects that other code releases during a destruction, such as the release function of an associated value, are
// destroyed inside as well, but only up to a depth. Beyond it, an object waits in a list until the destruction that
// released it is over.
//
// An exception that leaves a `dealloc` is passed on when the loop has finished its destructions (D9).
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "classes/kvo_stack.h"
#include "kvo_binding.h"
#include "kvo_diagnostics.h"
#include "objects/kvo_class_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

typedef struct {
  uint32_t strong;
  uint32_t unowned;
  // The next object. While this one is being destroyed: the one below it on the stack, plus this one's stage. While it
  // waits: the one after it in the list.
  uintptr_t link;
} __attribute__((aligned(16))) counts;

_Static_assert(sizeof(counts) == KVO_INSTANCE_ALIGNMENT,
    "an instance stays aligned for any scalar");

enum { DYING = 1 << 30 };
enum { MAX_NESTED_DEATHS = 100 }; // on one thread's stack, except for those inside `dealloc`

// The next step in the destruction of an object, the last one first.
typedef enum { RELEASE_MEMORY, END_PROPERTIES, END_REGISTRATIONS, DEALLOC, STAGES } stage;
_Static_assert((int)STAGES <= KVO_INSTANCE_ALIGNMENT,
    "an instance's address leaves bits for the stage");

static counts *counts_of(kvo_object *object) { return (counts *)(void *)object - 1; }

// The beginning of the object's memory.
static void *memory_of(kvo_object *object) {
  return (char *)object - kvo_plain_class(kvo_isa_of_c(object))->instance_alignment;
}

static void root_retain(kvo_object *object) {
  __atomic_fetch_add(&counts_of(object)->strong, 1, __ATOMIC_RELAXED);
}

static bool root_try_retain(kvo_object *object) {
  uint32_t *strong = &counts_of(object)->strong, count = __atomic_load_n(strong, __ATOMIC_RELAXED);
  while (count && !(count & DYING))
    if (__atomic_compare_exchange_n(strong, &count, count + 1, true, __ATOMIC_ACQUIRE,
            __ATOMIC_RELAXED))
      return true;
  return false;
}

static void root_unowned_retain(kvo_object *object) {
  __atomic_fetch_add(&counts_of(object)->unowned, 1, __ATOMIC_RELAXED);
}

static void root_unowned_release(kvo_object *object) {
  if (__atomic_sub_fetch(&counts_of(object)->unowned, 1, __ATOMIC_ACQ_REL) == 0)
    kvo_free(memory_of(object));
}

// MARK: Death

// The kind of code that is running for a death and may release objects.
typedef enum { A_DEALLOC, DESTROY_PROPERTIES, OTHER_CODE } running_code;

// The destruction of an object and of those that it owns.
typedef struct death {
  struct death *outer; // the death during which the object was released
  uintptr_t frame;     // on the stack, where a sanitizer may not keep the death itself
  uint32_t depth;
  running_code running;
  kvo_object *top;            // the top of the stack of objects being destroyed
  const kvo_class *next;      // the class whose `dealloc` is called next, for the topmost object
  kvo_object *first, *last;   // the list of waiting objects
  kvo_object *released;       // the object whose last reference `destroyProperties` released
  bool has_more;              // further properties must wait until that object is destroyed
  kvo_object *still_observed; // reported, because it had registrations after all were ended
} death;

// The innermost death of this thread.
static __thread death *dying __attribute__((tls_model("initial-exec")));

static void root_release(kvo_object *object);

// True if it was the last.
static bool remove_strong_reference(kvo_object *object) {
  return !__atomic_sub_fetch(&counts_of(object)->strong, 1, __ATOMIC_ACQ_REL);
}

static void release_object_of_other_root(kvo_object *object) {
  death *death = dying;
  death->running = OTHER_CODE;
  kvo_object_release(object);
  death->running = DESTROY_PROPERTIES;
}

bool kvo_release_in_turn(kvo_object **slot) {
  kvo_object *object = *slot;
  if (!object) return true;
  if (dying->released) {
    dying->has_more = true;
    return false;
  }
  *slot = NULL;
  if (kvo_class_of(object)->operations->release != root_release)
    release_object_of_other_root(object);
  else if (remove_strong_reference(object)) dying->released = object;
  return true;
}

void kvo_value_destroy_in_turn(kvo_value *value) {
  death *death = dying;
  death->running = OTHER_CODE;
  kvo_value_destroy(value);
  death->running = DESTROY_PROPERTIES;
}

bool kvo_releases_take_turns(void) { return dying && dying->running == DESTROY_PROPERTIES; }

static void mark_dying(kvo_object *object) {
  uint32_t *strong = &counts_of(object)->strong;
  uint32_t count =
      __atomic_load_n(strong, __ATOMIC_RELAXED); // atomic, since other threads may try to retain it
  if (!(count & DYING)) __atomic_store_n(strong, DYING, __ATOMIC_RELAXED);
}

static void instance_push(death *death, kvo_object *object) {
  mark_dying(object);
  counts_of(object)->link = (uintptr_t)death->top | DEALLOC;
  death->top = object;
  death->next = kvo_class_of(object);
}

static void set_stage(kvo_object *object, stage stage) {
  uintptr_t *link = &counts_of(object)->link;
  *link = (*link & ~(uintptr_t)(STAGES - 1)) | stage;
}

// MARK: The stages

// Calls the class's own method, if it has one, and not its superclass's.
static void call_own_method(const kvo_class *cls, kvo_object *object, const char *selector) {
  const kvo_method *method = kvo_map_get(&cls->methods, selector);
  if (method)
    ((void (*)(kvo_object *, const kvo_method *))kvo_class_imp(cls, method))(object, method);
}

// Calls the subclass's method first. A method that throws is not called again.
static void call_deallocs(death *death, kvo_object *object) {
  death->running = A_DEALLOC;
  while (death->next) {
    const kvo_class *cls = death->next;
    death->next = cls->superclass;
    call_own_method(cls, object, kvo_hooks()->dealloc);
  }
  set_stage(object, END_REGISTRATIONS);
}

// Called again if it throws: each registration is removed before the program's code is called for it.
static void instance_end_registrations(death *death, kvo_object *object) {
  death->running = OTHER_CODE;
  kvo_object_will_die(object);
  if (KVO_UNLIKELY(kvo_binding_has_observations(object))) death->still_observed = object;
  set_stage(object, END_PROPERTIES);
}

// Called again for the remaining properties if the release of an object of another root throws.
static void destroy_properties(death *death, kvo_object *object) {
  death->running = DESTROY_PROPERTIES;
  death->has_more = false;
  for (const kvo_class *cls = kvo_class_of(object); cls; cls = cls->superclass)
    call_own_method(cls, object, kvo_hooks()->destroy_properties);
  set_stage(object, death->has_more ? END_PROPERTIES : RELEASE_MEMORY);
  if (death->released) instance_push(death, death->released);
  death->released = NULL;
}

// Objects that this one owned may have observed it in their `dealloc`. Those registrations end here. If that throws, the
// loop repeats this stage.
static void instance_release_memory(death *death, kvo_object *object) {
  if (KVO_UNLIKELY(kvo_binding_has_observations(object)) && object != death->still_observed) {
    death->running = OTHER_CODE;
    kvo_object_will_die(object);
  }
  death->top = (kvo_object *)(counts_of(object)->link & ~(uintptr_t)(STAGES - 1));
  root_unowned_release(object);
}

static bool push_waiting(death *death) {
  kvo_object *object = death->first;
  if (!object) return false;
  death->first = (kvo_object *)counts_of(object)->link;
  instance_push(death, object);
  return true;
}

static void instance_run_death(void *opaque) {
  static void (*const steps[])(struct death *, kvo_object *) = {
      [RELEASE_MEMORY] = instance_release_memory,
      [END_PROPERTIES] = destroy_properties,
      [END_REGISTRATIONS] = instance_end_registrations,
      [DEALLOC] = call_deallocs};
  death *death = opaque;
  while (death->top || push_waiting(death))
    steps[counts_of(death->top)->link & (STAGES - 1)](death, death->top);
}

// Runs after the loop, also if that threw. If objects are left, it continues the loop, and runs again after that.
static void instance_end_death(void *opaque) {
  death *death = opaque;
  if (death->top || death->first) kvo_finally(instance_run_death, instance_end_death, death);
  else dying = death->outer;
}

static void destroy_now(kvo_object *object) {
  death death = {.outer = dying,
      .frame = (uintptr_t)__builtin_frame_address(0),
      .depth = dying ? dying->depth + 1 : 0};
  instance_push(&death, object);
  dying = &death;
  kvo_finally(instance_run_death, instance_end_death, &death);
}

// MARK: Nested deaths

static __attribute__((noinline)) void destroy_later(kvo_object *object) {
  death *death = dying;
  mark_dying(object);
  counts_of(object)->link = 0;
  if (death->first) counts_of(death->last)->link = (uintptr_t)object;
  else death->first = object;
  death->last = object;
}

static __attribute__((noinline, noreturn)) void instance_stop_program(const kvo_object *object,
    const kvo_stack *stack) {
  static char message[512]; // not on the stack; the first thread to get here ends the program
  snprintf(message, sizeof message,
      "%zu KB are left of the stack's %zu, and %u objects are being destroyed inside each other; the next is an "
      "object of %s. Each one's dealloc has released the next. A chain of any length may be linked by properties of "
      "the policy RETAIN, or by collections; otherwise the thread needs a larger stack.",
      stack->left / 1024, stack->size / 1024, (unsigned)dying->depth + 1,
      kvo_class_of(object)->name);
  kvo_break_on_misuse(message);
  struct iovec parts[] = {{"KVO: ", 5}, {message, strlen(message)}, {"\n", 1}};
  (void)!writev(STDERR_FILENO, parts, 3);
  abort();
}

enum { STACK_CHECK_DEPTH = 32 }; // in deaths; finding the bounds of the main thread's stack is slow

// Whether two more deaths, of the size of the last two, may not fit on the stack. If those began on another stack, the
// size is unknown: the difference of the addresses exceeds this stack's size.
static bool is_stack_short(kvo_stack *stack) {
  if (dying->depth < STACK_CHECK_DEPTH) return false;
  *stack = kvo_stack_now();
  size_t last_two = dying->outer->frame - (uintptr_t)__builtin_frame_address(0);
  return kvo_stack_is_short(stack, last_two < stack->size ? last_two : 0);
}

static __attribute__((noinline)) void destroy_nested(kvo_object *object) {
  const death *death = dying;
  kvo_stack stack;
  bool is_short = is_stack_short(&stack);
  if (death->running != A_DEALLOC && (is_short || death->depth >= MAX_NESTED_DEATHS - 1))
    destroy_later(object);
  else if (is_short) instance_stop_program(object, &stack);
  else destroy_now(object);
}

static void instance_destroy(kvo_object *object) {
  if (KVO_LIKELY(!dying)) destroy_now(object);
  else destroy_nested(object);
}

static void root_release(kvo_object *object) {
  if (remove_strong_reference(object)) instance_destroy(object);
}

static size_t root_describe(const kvo_object *object, char *buffer, size_t capacity) {
  int length =
      snprintf(buffer, capacity, "<%s: %p>", kvo_class_of(object)->name, (const void *)object);
  return length < 0 ? 0 : (size_t)length;
}

const kvo_class_operations kvo_root_operations = {
    .retain = root_retain,
    .release = root_release,
    .try_retain = root_try_retain,
    .unowned_retain = root_unowned_retain,
    .unowned_release = root_unowned_release,
    .describe = root_describe,
};

// A binding creates the objects of its classes. An object gets a dynamic class when it is observed, not before.
kvo_object *kvo_object_create(const kvo_class *cls) {
  if (!kvo_class_is_registered(cls) || cls->is_bound || cls->is_dynamic) return NULL;
  size_t alignment = cls->instance_alignment, size = alignment + cls->instance_size;
  char *memory = KVO_LIKELY(alignment == KVO_INSTANCE_ALIGNMENT)
                     ? kvo_alloc_zeroed(size)
                     : kvo_alloc_aligned(alignment, size);
  if (!memory) return NULL;
  kvo_object *object = (kvo_object *)(void *)(memory + alignment);
  *counts_of(object) = (counts){.strong = 1, .unowned = 1};
  object->isa = cls;
  return object;
}
