#include "fixture_offset_object.h"

#include <stdio.h>

#include "require.h"

static const kvo_class *made;

const kvo_class *offset_object_class(void) { return made; }

static const kvo_class *class_of(const kvo_object *object) {
  const offset_object *self =
      (const offset_object *)(const void *)((const char *)object - offsetof(offset_object, header));
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

int offset_object_take_announcements(void) {
  int taken = announcements;
  announcements = 0;
  return taken;
}

void offset_object_set_silent(bool silent) { is_silent = silent; }

void offset_object_interrupt(void (*will)(void), void (*did)(void)) {
  at_will = will;
  at_did = did;
}

static int raises_before, raises_after;

static void raise_room(kvo_object *object, int *times) {
  if (!*times) return;
  --*times;
  offset_object *self = (offset_object *)(void *)((char *)object - offsetof(offset_object, header));
  offset_object_set_room(self, self->room + 1);
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
      .offset = (ptrdiff_t)(field - offsetof(offset_object, header)),
      .manual = is_manual,
  };
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &property, &error), &error);
}

void offset_object_install(void) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create_root("CLodger", &operations, &error);
  require_ok(error.status, &error);
  add(cls, "rent", offsetof(offset_object, rent), false);
  add(cls, "savings", offsetof(offset_object, savings), true);
  require_ok(kvo_class_register(cls, &error), &error);
  made = cls;
  require_ok(kvo_set_class_of_unobserved(class_of, &error), &error);
}

const kvo_class *offset_object_subclass(bool has_own_brackets) {
  static int count;
  char name[32];
  kvo_error error = {0};
  snprintf(name, sizeof name, "CSublodger%d", ++count);
  size_t size = sizeof(offset_object) - offsetof(offset_object, header);
  kvo_class *cls = kvo_class_create(name, made, size, &error);
  require_ok(error.status, &error);
  add(cls, "rent", offsetof(offset_object, room), false);
  if (has_own_brackets) kvo_class_set_announces(cls, KVO_ANNOUNCES_SETTINGS | KVO_ANNOUNCES_PARTS);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static void set(offset_object *self, double *field, double value) {
  bool is_observed = kvo_binding_is_observed(&self->header);
  kvo_frame *frame = is_observed ? kvo_stored_property_will_change(&self->header, field) : NULL;
  *field = value;
  if (frame) kvo_stored_property_did_change(frame);
}

void offset_object_set_rent(offset_object *self, double rent) { set(self, &self->rent, rent); }

void offset_object_set_savings(offset_object *self, double savings) {
  set(self, &self->savings, savings);
}

void offset_object_set_room(offset_object *self, double rent) { set(self, &self->room, rent); }

double offset_object_raise_room(offset_object *self, int times, bool before_super) {
  *(before_super ? &raises_before : &raises_after) = times - 1;
  offset_object_set_room(self, self->room + 1);
  return self->room;
}
