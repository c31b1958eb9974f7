// Instances of classes of C: memory, references, death.
//
// Two counts precede the header: strong references, and unowned ones, of which the strong
// references together hold one. The last strong one ends the object; the memory goes with the last
// unowned one, so that a registration that still knows a dead observer can ask it whether it
// lives. A dying object's strong count has a high bit set, so that references taken and given back
// by `dealloc` don't end it again.
//
// The header of an instance with an alignment above 16 bytes is that many bytes from the beginning of its memory; the counts
// are the last 16 of these.
//
// Objects die in a loop, not by recursion: a list of 100,000 objects, each of which owns the next, must not overflow the
// stack (P4). `destroyProperties` releases owned objects one at a time. When a release is the last one, it returns, and the
// loop destroys that object and everything it owns before it calls `destroyProperties` again for the next property.
// Objects whose properties are half destroyed wait in a list that is linked through their counts. The order of deaths is the
// one that recursion would give. What a `dealloc` releases dies inside it, by recursion, but only so deep: further down an
// object waits in a second list until the `dealloc` that released it has returned.
#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "objects/kvo_class_internal.h"

#include <stdio.h>

typedef struct {
  uint32_t strong;
  uint32_t unowned;
  uintptr_t
      waiting; // of one that waits until what it held has died: the one below it, and whether it HAS_MORE; of one that
               // waits to die: the one behind it
} __attribute__((aligned(16))) counts;

_Static_assert(sizeof(counts) == KVO_INSTANCE_ALIGNMENT,
    "an instance stays aligned for any scalar");

enum { DYING = 1 << 30 };
enum { HAS_MORE = 1 };        // properties that are to be destroyed
enum { NESTED_DEATHS = 100 }; // on one thread's stack

static counts *counts_of(kvo_object *object) { return (counts *)(void *)object - 1; }

// Where the object's memory begins.
static void *memory_of(kvo_object *object) {
  return (char *)object - kvo_plain_class(kvo_isa(object))->instance_alignment;
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

// The hook that each class itself adds, subclass first.
static void call_each(kvo_object *object, const char *selector) {
  for (const kvo_class *cls = kvo_class_of(object); cls; cls = cls->superclass) {
    const kvo_method *method = kvo_map_get(&cls->methods, selector);
    if (method)
      ((void (*)(kvo_object *, const kvo_method *))kvo_class_imp(cls, method))(object, method);
  }
}

// MARK: Death

// The result of one call of `destroyProperties`.
typedef struct destruction {
  kvo_object *dies; // the object whose last reference it released, or NULL
  bool has_more;    // whether properties are left, which wait until that object has died
} destruction;

// That of the call that runs on this thread; NULL while the user's code runs.
static __thread destruction *under_way __attribute__((tls_model("initial-exec")));

static void root_release(kvo_object *object);

static bool drops_last(kvo_object *object) {
  return !__atomic_sub_fetch(&counts_of(object)->strong, 1, __ATOMIC_ACQ_REL);
}

static void release_another(kvo_object *object) {
  destruction *outer = under_way;
  under_way = NULL;
  kvo_object_release(object);
  under_way = outer;
}

bool kvo_release_in_turn(kvo_object **slot) {
  kvo_object *object = *slot;
  if (!object) return true;
  if (under_way->dies) {
    under_way->has_more = true;
    return false;
  }
  *slot = NULL;
  if (kvo_class_of(object)->operations->release != root_release) release_another(object);
  else if (drops_last(object)) under_way->dies = object;
  return true;
}

bool kvo_releases_take_turns(void) { return under_way; }

// How many objects die inside one another on this thread, and those that wait to: they were released in the innermost one.
typedef struct nesting {
  uint32_t depth;
  kvo_object *first, *last;
} nesting;

static __thread nesting nested __attribute__((tls_model("initial-exec")));

static void mark_dying(kvo_object *object) {
  uint32_t *strong = &counts_of(object)->strong;
  if (!(*strong & DYING)) __atomic_store_n(strong, DYING, __ATOMIC_RELAXED);
}

static __attribute__((noinline)) void wait_to_die(kvo_object *object) {
  mark_dying(object);
  counts_of(object)->waiting = 0;
  if (nested.first) counts_of(nested.last)->waiting = (uintptr_t)object;
  else nested.first = object;
  nested.last = object;
}

static kvo_object *take_waiting(void) {
  kvo_object *object = nested.first;
  if (object) nested.first = (kvo_object *)counts_of(object)->waiting;
  return object;
}

static void begin_to_die(kvo_object *object) {
  mark_dying(object);
  call_each(object, kvo_hooks()->dealloc);
  kvo_object_will_die(object);
}

static destruction destroy_properties(kvo_object *object) {
  destruction destruction = {NULL, false};
  under_way = &destruction;
  call_each(object, kvo_hooks()->destroy_properties);
  under_way = NULL;
  return destruction;
}

// Puts one on the stack of those that wait.
static void await(kvo_object *object, bool has_more, kvo_object **top) {
  counts_of(object)->waiting = (uintptr_t)*top | (has_more ? HAS_MORE : 0);
  *top = object;
}

// Takes those off that have no more to destroy, and gives the first that has, or NULL.
static kvo_object *resume(kvo_object **top) {
  while (*top) {
    kvo_object *object = *top;
    uintptr_t waiting = counts_of(object)->waiting;
    *top = (kvo_object *)(waiting & ~(uintptr_t)HAS_MORE);
    if (waiting & HAS_MORE) return object;
    root_unowned_release(object);
  }
  return NULL;
}

static void end_one_life(kvo_object *object) {
  kvo_object *top = NULL;
  begin_to_die(object);
  while (object) {
    destruction destruction = destroy_properties(object);
    await(object, destruction.has_more, &top);
    if (destruction.dies) begin_to_die(destruction.dies);
    object = destruction.dies ? destruction.dies : resume(&top);
  }
}

static void end_life(kvo_object *object) {
  destruction *outer = under_way;
  under_way = NULL;
  nested.depth++;
  do end_one_life(object);
  while ((object = take_waiting()));
  nested.depth--;
  under_way = outer;
}

static __attribute__((noinline)) void die(kvo_object *object) {
  if (KVO_LIKELY(nested.depth < NESTED_DEATHS)) end_life(object);
  else wait_to_die(object);
}

static void root_release(kvo_object *object) {
  if (drops_last(object)) die(object);
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
