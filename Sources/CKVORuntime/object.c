// Objects of C: memory, references, death.
//
// Two counts precede the header: strong references, and unowned ones, of which the strong
// references together hold one. The last strong one ends the object; the memory goes with the last
// unowned one, so that a registration that still knows a dead observer can ask it whether it
// lives. A dying object's strong count has a high bit set, so that references taken and given back
// by `dealloc` don't end it again.
#include "kvo_object.h"

#include "kvo_class_internal.h"
#include "kvo_diagnostics.h"
#include "kvo_fail.h"
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_open_pairs.h"
#include "kvo_registration.h"
#include "kvo_thread.h"

#include <stdio.h>

typedef struct {
  uint32_t strong;
  uint32_t unowned;
} __attribute__((aligned(16))) counts;

_Static_assert(sizeof(counts) == 16, "an instance stays aligned for any scalar");
_Static_assert(sizeof(kvo_object) == 2 * sizeof(void *),
    "bindings lay the header out as two words");

enum { DYING = 1 << 30 };

static counts *counts_of(kvo_object *object) { return (counts *)(void *)object - 1; }

static const kvo_class *(*class_of_unobserved)(const kvo_object *object);

// MARK: References

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

// MARK: Any object

const kvo_class_operations *kvo_operations[256];
static uint32_t operations_count;

bool kvo_class_set_operations(kvo_class *root, const kvo_class_operations *operations) {
  KVO_LOCKED(&kvo_class_lock);
  uint32_t i = 0;
  while (i < operations_count && kvo_operations[i] != operations) i++;
  if (i == sizeof kvo_operations / sizeof *kvo_operations) return false;
  if (i == operations_count) kvo_operations[operations_count++] = operations;
  root->operations = operations;
  root->operations_number = (uint8_t)i;
  return true;
}

kvo_status kvo_set_class_of_unobserved(const kvo_class *(*class_of)(const kvo_object *object),
    kvo_error *error) {
  const kvo_class *(*known)(const kvo_object *) = NULL;
  bool first = __atomic_compare_exchange_n(&class_of_unobserved, &known, class_of, false,
      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  if (first || known == class_of) return KVO_OK;
  return kvo_fail(error, KVO_DUPLICATE, NULL, NULL,
      "Another binding tells the class of unobserved objects already.");
}

const kvo_class *kvo_class_of(const kvo_object *object) {
  const kvo_class *isa = kvo_isa(object);
  if (isa) return kvo_plain_class(isa);
  return __atomic_load_n(&class_of_unobserved, __ATOMIC_ACQUIRE)(object);
}

kvo_object *kvo_object_create(const kvo_class *cls) {
  if (!kvo_class_is_registered(cls) || cls->is_bound || cls->is_dynamic) return NULL;
  counts *memory = kvo_alloc_zeroed(sizeof *memory + cls->instance_size);
  if (!memory) return NULL;
  *memory = (counts){1, 1};
  kvo_object *object = (kvo_object *)(memory + 1);
  object->isa = cls;
  return object;
}

kvo_object *kvo_object_retain(kvo_object *object) {
  kvo_class_of(object)->operations->retain(object);
  return object;
}

void kvo_object_release(kvo_object *object) {
  if (object) kvo_class_of(object)->operations->release(object);
}

void kvo_object_will_die(kvo_object *object) {
  if (kvo_this_thread) kvo_thread_abandon_open(kvo_this_thread, object);
  if (!__atomic_load_n(&object->observations, __ATOMIC_ACQUIRE)) return;
  kvo_registrations_end_with(object);
  kvo_registrations_end_by(object);
  kvo_open_pairs_end_with(object);
}

size_t kvo_object_describe(const kvo_object *object, char *buffer, size_t capacity) {
  return kvo_class_of(object)->operations->describe(object, buffer, capacity);
}
