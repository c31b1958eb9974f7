#include "fixture_lodger.h"

#include <stdio.h>

#include "require.h"

static const kvo_class *made;

const kvo_class *lodger_class(void) { return made; }

static const kvo_class *class_of(const kvo_object *object) {
  const lodger *self =
      (const lodger *)(const void *)((const char *)object - offsetof(lodger, header));
  return self->cls ? self->cls : made;
}

static void keep(kvo_object *object) { (void)object; }

static bool try_keep(kvo_object *object) {
  (void)object;
  return true;
}

static size_t describe(const kvo_object *object, char *buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "<Lodger: %p>", (const void *)object);
}

static int announcements;
static bool is_silent;
static void (*at_will)(void), (*at_did)(void);

int lodger_take_announcements(void) {
  int taken = announcements;
  announcements = 0;
  return taken;
}

void lodger_be_silent(bool silent) { is_silent = silent; }

void lodger_interrupt(void (*will)(void), void (*did)(void)) {
  at_will = will;
  at_did = did;
}

static int raises_before, raises_after;

static void raise_room(kvo_object *object, int *times) {
  if (!*times) return;
  --*times;
  lodger *self = (lodger *)(void *)((char *)object - offsetof(lodger, header));
  lodger_set_room(self, self->room + 1);
}

static void will_change(kvo_object *object, const char *key, const kvo_part *part) {
  (void)part;
  announcements++;
  if (at_will) at_will();
  if (!is_silent) kvo_will_change(object, key);
}

static void did_change(kvo_object *object, const char *key, const kvo_part *part) {
  (void)part;
  announcements++;
  if (at_did) at_did();
  raise_room(object, &raises_before);
  if (!is_silent) kvo_did_change(object, key);
  raise_room(object, &raises_after);
}

static const kvo_class_operations operations = {
    .retain = keep,
    .release = keep,
    .try_retain = try_keep,
    .unowned_retain = keep,
    .unowned_release = keep,
    .describe = describe,
    .will = will_change,
    .did = did_change,
};

static void add(kvo_class *cls, const char *key, size_t field, bool is_manual) {
  kvo_error error = {0};
  kvo_property_description property = {
      .key = key,
      .type = kvo_type_for_encoding("d", &error),
      .offset = (ptrdiff_t)(field - offsetof(lodger, header)),
      .manual = is_manual,
  };
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &property, &error), &error);
}

void lodger_move_in(void) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create_root("CLodger", &operations, &error);
  require_ok(error.status, &error);
  add(cls, "rent", offsetof(lodger, rent), false);
  add(cls, "savings", offsetof(lodger, savings), true);
  require_ok(kvo_class_register(cls, &error), &error);
  made = cls;
  require_ok(kvo_set_class_of_unobserved(class_of, &error), &error);
}

const kvo_class *lodger_subclass(bool has_own_brackets) {
  static int count;
  char name[32];
  kvo_error error = {0};
  snprintf(name, sizeof name, "CSublodger%d", ++count);
  size_t size = sizeof(lodger) - offsetof(lodger, header);
  kvo_class *cls = kvo_class_create(name, made, size, &error);
  require_ok(error.status, &error);
  add(cls, "rent", offsetof(lodger, room), false);
  if (has_own_brackets) kvo_class_set_announces(cls, KVO_ANNOUNCES_SETTINGS | KVO_ANNOUNCES_PARTS);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static void set(lodger *self, double *field, double value) {
  bool is_observed = kvo_binding_is_observed(&self->header);
  kvo_frame *frame = is_observed ? kvo_uniform_will(&self->header, field) : NULL;
  *field = value;
  if (frame) kvo_uniform_did(frame);
}

void lodger_set_rent(lodger *self, double rent) { set(self, &self->rent, rent); }

void lodger_set_savings(lodger *self, double savings) { set(self, &self->savings, savings); }

void lodger_set_room(lodger *self, double rent) { set(self, &self->room, rent); }

double lodger_raise_room(lodger *self, int times, bool before_super) {
  *(before_super ? &raises_before : &raises_after) = times - 1;
  lodger_set_room(self, self->room + 1);
  return self->room;
}
