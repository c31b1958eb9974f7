// Objects of C and of bindings: their class, and the operations of their root (A2).
#include "kvo_object.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "kvo_diagnostics.h"
#include "objects/kvo_class_internal.h"

_Static_assert(sizeof(kvo_object) == 2 * sizeof(void *),
    "bindings lay the header out as two words");

static const kvo_class *(*class_of_unobserved)(const kvo_object *object);

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
      "Another binding already supplies the class of unobserved objects.");
}

const kvo_class *kvo_class_of(const kvo_object *object) {
  const kvo_class *isa = kvo_isa(object);
  if (isa) return kvo_plain_class(isa);
  return __atomic_load_n(&class_of_unobserved, __ATOMIC_ACQUIRE)(object);
}

kvo_object *kvo_object_retain(kvo_object *object) {
  kvo_class_of(object)->operations->retain(object);
  return object;
}

bool kvo_object_try_retain(kvo_object *object) {
  return kvo_class_of(object)->operations->try_retain(object);
}

void kvo_object_release(kvo_object *object) {
  if (object) kvo_class_of(object)->operations->release(object);
}

size_t kvo_object_describe(const kvo_object *object, char *buffer, size_t capacity) {
  return kvo_class_of(object)->operations->describe(object, buffer, capacity);
}
