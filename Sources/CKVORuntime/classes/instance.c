// Instances of classes of C: memory, references, death.
//
// Two counts precede the header: strong references, and unowned ones, of which the strong
// references together hold one. The last strong one ends the object; the memory goes with the last
// unowned one, so that a registration that still knows a dead observer can ask it whether it
// lives. A dying object's strong count has a high bit set, so that references taken and given back
// by `dealloc` don't end it again.
#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "objects/kvo_class_internal.h"

#include <stdio.h>

typedef struct {
  uint32_t strong;
  uint32_t unowned;
} __attribute__((aligned(16))) counts;

_Static_assert(sizeof(counts) == 16, "an instance stays aligned for any scalar");

enum { DYING = 1 << 30 };

static counts *counts_of(kvo_object *object) { return (counts *)(void *)object - 1; }

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
  counts *counts = counts_of(object);
  if (__atomic_sub_fetch(&counts->unowned, 1, __ATOMIC_ACQ_REL) == 0) kvo_free(counts);
}

// The hook that each class itself adds, subclass first.
static void call_each(kvo_object *object, const char *selector) {
  for (const kvo_class *cls = kvo_class_of(object); cls; cls = cls->superclass) {
    const kvo_method *method = kvo_map_get(&cls->methods, selector);
    if (method)
      ((void (*)(kvo_object *, const kvo_method *))kvo_class_imp(cls, method))(object, method);
  }
}

static void root_release(kvo_object *object) {
  if (__atomic_sub_fetch(&counts_of(object)->strong, 1, __ATOMIC_ACQ_REL)) return;
  __atomic_store_n(&counts_of(object)->strong, DYING, __ATOMIC_RELAXED);
  call_each(object, kvo_hooks()->dealloc);
  kvo_object_will_die(object);
  call_each(object, kvo_hooks()->destroy_properties);
  root_unowned_release(object);
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
  counts *memory = kvo_alloc_zeroed(sizeof *memory + cls->instance_size);
  if (!memory) return NULL;
  *memory = (counts){1, 1};
  kvo_object *object = (kvo_object *)(memory + 1);
  object->isa = cls;
  return object;
}
