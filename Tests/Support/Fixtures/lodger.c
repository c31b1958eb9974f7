#include "fixture_lodger.h"

#include <stdio.h>

#include "require.h"

static const kvo_class *made;

const kvo_class *lodger_class(void) { return made; }

static const kvo_class *class_of(const kvo_object *object) {
  (void)object;
  return made;
}

static void keep(kvo_object *object) { (void)object; }

static bool try_keep(kvo_object *object) {
  (void)object;
  return true;
}

static size_t describe(const kvo_object *object, char *buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "<Lodger: %p>", (const void *)object);
}

static const kvo_class_operations operations = {
    .retain = keep,
    .release = keep,
    .try_retain = try_keep,
    .unowned_retain = keep,
    .unowned_release = keep,
    .describe = describe,
};

static void add_rent(kvo_class *cls) {
  kvo_error error = {0};
  kvo_property_description rent = {
      .key = "rent",
      .type = kvo_type_for_encoding("d", &error),
      .offset = offsetof(lodger, rent) - offsetof(lodger, header),
  };
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &rent, &error), &error);
}

void lodger_move_in(void) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create_root("CLodger", &operations, &error);
  require_ok(error.status, &error);
  add_rent(cls);
  require_ok(kvo_class_register(cls, &error), &error);
  made = cls;
  require_ok(kvo_set_class_of_unobserved(class_of, &error), &error);
}

void lodger_set_rent(lodger *self, double rent) {
  if (!kvo_binding_is_observed(&self->header)) {
    self->rent = rent;
    return;
  }
  kvo_frame *frame = kvo_uniform_will(&self->header, &self->rent);
  self->rent = rent;
  if (frame) kvo_uniform_did(frame);
}
