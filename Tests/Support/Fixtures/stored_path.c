#include "fixture_stored_path.h"

#include "require.h"

#include <stddef.h>

static const char binding[] = "behind";

// An interned key is its own token.
static void tell_step(kvo_reads *reads, stored_path *self, const char *key, const void *place) {
  const char *token = kvo_key_intern(key);
  if (!kvo_reads_follow(reads, &self->object, token))
    kvo_reads_add_step(reads, &self->object, token, token, place);
}

static long behind(const stored_path *self) { return self->next ? self->next->x : -1; }

static void track(kvo_object *object, const void *unused, kvo_reads *reads) {
  (void)unused;
  stored_path *self = (stored_path *)object;
  self->tracked++;
  tell_step(reads, self, "next", &self->next);
  if (self->next) tell_step(reads, self->next, "x", &self->next->x);
  kvo_reads_are_path(reads, 2, offsetof(stored_path, object));
  kvo_value *answer = kvo_reads_result(reads);
  if (answer) *answer = kvo_value_int(behind(self));
}

static kvo_status get(kvo_object *object, const void *unused, kvo_value *value, kvo_error *error) {
  (void)unused;
  (void)error;
  *value = kvo_value_int(behind((stored_path *)object));
  return KVO_OK;
}

static long sum(const stored_path *self) { return self->x + (self->next ? self->next->x : 0); }

static void track_sum(kvo_object *object, const void *unused, kvo_reads *reads) {
  (void)unused;
  stored_path *self = (stored_path *)object;
  tell_step(reads, self, "next", &self->next);
  tell_step(reads, self, "x", &self->x);
  if (self->next) tell_step(reads, self->next, "x", &self->next->x);
  kvo_value *answer = kvo_reads_result(reads);
  if (answer) *answer = kvo_value_int(sum(self));
}

static kvo_status get_sum(kvo_object *object, const void *unused, kvo_value *value,
    kvo_error *error) {
  (void)unused;
  (void)error;
  *value = kvo_value_int(sum((stored_path *)object));
  return KVO_OK;
}

static long area(const stored_path *self) { return self->next ? self->next->y * self->next->x : 0; }

static void track_area(kvo_object *object, const void *unused, kvo_reads *reads) {
  (void)unused;
  stored_path *self = (stored_path *)object;
  tell_step(reads, self, "next", &self->next);
  if (self->next) {
    tell_step(reads, self->next, "y", &self->next->y);
    tell_step(reads, self->next, "x", &self->next->x);
  }
  kvo_value *answer = kvo_reads_result(reads);
  if (answer) *answer = kvo_value_int(area(self));
}

static kvo_status get_area(kvo_object *object, const void *unused, kvo_value *value,
    kvo_error *error) {
  (void)unused;
  (void)error;
  *value = kvo_value_int(area((stored_path *)object));
  return KVO_OK;
}

static void add(kvo_class *cls, kvo_property_description property) {
  kvo_error error = {0};
  property.type = kvo_type_for_encoding("q", &error);
  property.binding = binding;
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &property, &error), &error);
}

static void set_up(kvo_class *cls) {
  kvo_error error = {0};
  const kvo_property_description property = {.key = "behind",
      .type = kvo_type_for_encoding("q", &error),
      .get = get,
      .binding = binding,
      .track = track,
      .is_path = true};
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &property, &error), &error);
  add(cls, (kvo_property_description){
               .key = "sum", .get = get_sum, .track = track_sum, .has_link = true});
  add(cls, (kvo_property_description){
               .key = "area", .get = get_area, .track = track_area, .is_path = true});
}

KVO_CLASS_IMPLEMENTATION(stored_path, "CTrail", kvo_root_class, TRAIL_PROPERTIES, set_up)
