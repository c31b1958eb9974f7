// Growing lists of values, used for reading and making collections.
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "values/kvo_collection_internal.h"

bool kvo_elements_reserve(kvo_elements *elements, size_t count) {
  if (count <= elements->capacity - elements->count) return true;
  if (count > SIZE_MAX / sizeof(kvo_value) - elements->count) return false;
  kvo_value *values = kvo_grow(elements->values, elements->count, elements->count + count,
      sizeof *values, &elements->capacity);
  if (values) elements->values = values;
  return values;
}

kvo_status kvo_elements_take(kvo_elements *elements, kvo_value value) {
  if (kvo_elements_reserve(elements, 1)) {
    elements->values[elements->count++] = value;
    return KVO_OK;
  }
  kvo_value_destroy(&value);
  return KVO_NO_MEMORY;
}

kvo_status kvo_elements_add(kvo_elements *elements, const kvo_value *value) {
  kvo_value copy;
  kvo_status status = kvo_value_copy(&copy, value);
  return status ? status : kvo_elements_take(elements, copy);
}

// A value whose object throws is nil afterwards.
void kvo_elements_empty(kvo_elements *elements) {
  for (size_t i = 0; i < elements->count; i++) kvo_value_destroy(&elements->values[i]);
  kvo_free(elements->values);
  *elements = (kvo_elements){0};
}

static void elements_go_on(void *elements) { kvo_elements_empty(elements); }

void kvo_elements_destroy(kvo_elements *elements) {
  if (elements->count) kvo_until_done(elements_go_on, elements);
  else kvo_elements_empty(elements);
}
