// Names of recipients, for dumps and logs (J1, J2). The binding that made a callback looks its name up each time, so
// a registration stores nothing for it.
#include "kvo_binding.h"
#include "tables/kvo_registration.h"

#include <stdio.h>

static kvo_callback_namer *callback_namer; // atomic

void kvo_set_callback_namer(kvo_callback_namer *namer) {
  __atomic_store_n(&callback_namer, namer, __ATOMIC_RELEASE);
}

bool kvo_callbacks_have_names(void) { return __atomic_load_n(&callback_namer, __ATOMIC_ACQUIRE); }

static void name_callback(kvo_callback callback, const void *context, char *buffer,
    size_t capacity) {
  kvo_callback_namer *namer = __atomic_load_n(&callback_namer, __ATOMIC_ACQUIRE);
  if (namer && namer(callback, context, buffer, capacity)) return;
  snprintf(buffer, capacity, "callback %p", (void *)callback);
}

// The class of a dying observer may be unable to describe it.
static void name_observer(const kvo_registration *registration, char *buffer, size_t capacity) {
  const kvo_class_operations *operations = kvo_registration_operations(registration);
  if (!operations->try_retain(registration->observer)) {
    snprintf(buffer, capacity, "a dying object");
    return;
  }
  operations->describe(registration->observer, buffer, capacity);
  operations->release(registration->observer);
}

void kvo_registration_name_recipient(const kvo_registration *registration, const void *context,
    char *buffer, size_t capacity) {
  if (registration->options & KVO_BY_OBSERVER) name_observer(registration, buffer, capacity);
  else name_callback(registration->callback, context, buffer, capacity);
}
