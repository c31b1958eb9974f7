// Logs each call of an observer (J2).
#include "base/kvo_log.h"
#include "delivery/kvo_delivery.h"
#include "delivery/kvo_depth.h"
#include "tables/kvo_registration.h"

#include <stdio.h>

static const char *kind_name(kvo_change_kind kind) {
  static const char *const names[] = {"", "setting", "insertion", "removal", "replacement"};
  return names[kind];
}

static __attribute__((noinline)) void log_delivery(const kvo_registration *registration,
    const kvo_change *change) {
  char recipient[KVO_RECIPIENT_NAME];
  kvo_registration_name_recipient(registration, registration->context, recipient, sizeof recipient);
  fprintf(stderr, "KVO: %s%s of \"%s\" of %s %p delivered to %s, context %p\n",
      change->is_prior ? "prior " : "", kind_name(change->kind),
      kvo_registration_key_path(registration), kvo_class_name(kvo_class_of(registration->object)),
      (void *)registration->object, recipient, registration->context);
}

void kvo_log_delivery(kvo_registration *registration, const kvo_change *change) {
  kvo_depth_warn_of_deep_stack(registration);
  kvo_counts *counts = kvo_registration_counts(registration);
  if (counts) __atomic_fetch_add(&counts->hits, 1, __ATOMIC_RELAXED);
  if (!(kvo_log_flags & KVO_LOG_DELIVERIES)) return;
  log_delivery(registration, change);
}
