#include <stdio.h>
#include <string.h>

#include "shortage_steps.h"

typedef struct fresh {
  kvo_object object;
  int level;
} fresh;

static int get_level(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((fresh *)self)->level;
}

static void set_level(kvo_object *self, const kvo_method *_cmd, int level) {
  (void)_cmd;
  ((fresh *)self)->level = level;
}

static bool says_yes(const kvo_class *cls) {
  (void)cls;
  return true;
}

static const char *fresh_name(const world *world, const char *prefix, const char *suffix) {
  static char name[64];
  snprintf(name, sizeof name, "%s%s%s", prefix, world->serial, suffix);
  return name;
}

// Repeats the step that failed, and goes on.
static kvo_status add_part(world *world) {
  kvo_class *cls = world->made;
  kvo_error *error = &world->error;
  switch (world->step) {
  case 0:
    world->made =
        kvo_class_create(fresh_name(world, "CScarceFresh", ""), NULL, sizeof(fresh), error);
    return world->made ? KVO_OK : error->status;
  case 1:
    return kvo_class_add_method(cls, fresh_name(world, "level", ""), (kvo_imp)get_level,
        KVO_GETTER(int), NULL, error);
  case 2:
    return kvo_class_add_method(cls, fresh_name(world, "setLevel", ":"), (kvo_imp)set_level,
        KVO_SETTER(int), NULL, error);
  case 3:
    return kvo_class_add_ivar(cls, fresh_name(world, "_depth", ""), offsetof(fresh, level),
        (kvo_layout)KVO_TYPE(int), error);
  case 4:
    return kvo_class_add_class_method(cls,
        fresh_name(world, "automaticallyNotifiesObserversOfLevel", ""), (kvo_imp)says_yes, error);
  case 5: return kvo_class_register(cls, error);
  }
  return KVO_OK;
}

enum { PARTS = 6 };

static kvo_status make_class(world *world) {
  for (; world->step < PARTS; world->step++) {
    kvo_status status = add_part(world);
    if (status) return status;
  }
  return KVO_OK;
}

static void use_class(world *world) {
  kvo_object *object = kvo_object_create(world->made);
  kvo_handle *handle;
  const kvo_value value = kvo_value_int(4);
  char key[64];
  strcpy(key, fresh_name(world, "level", ""));
  must(kvo_add_callback(object, key, KVO_NEW, log_notified, world, NULL, &handle, NULL));
  must(kvo_set_value_for_key(object, key, &value, NULL));
  must(kvo_set_value_for_key(object, fresh_name(world, "depth", ""), &value, NULL));
  kvo_handle_release(handle);
  kvo_object_release(object);
}

SCENARIO_TABLE(shortage_classes,
    SCENARIO("class", ACT_REPORTS, nothing, make_class, use_class, NULL));
