#include "fixture_thrower.h"

#include <string.h>

#include "require.h"

static void thrower_setup(kvo_class *cls);

KVO_CLASS_IMPLEMENTATION(thrower, "CThrower", tracked_class, THROWER_PROPERTIES, thrower_setup)

static void read_calmly(thrower *self) {
  if (self->calm_reads > 0) self->calm_reads--;
  else fixture_throw(self->getter_throws);
}

static void take_last_step(const thrower *self) {
  int number = self->setter_throws;
  if (self->last_step) self->last_step(self->last_step_context);
  fixture_throw(number);
}

#define MAY_THROW(type, key, Key)                                                            \
  static type thrower_##key##_imp(kvo_object *self, const kvo_method *_cmd) {                \
    (void)_cmd;                                                                              \
    read_calmly((thrower *)self);                                                            \
    return ((thrower *)self)->key;                                                           \
  }                                                                                          \
  static void thrower_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type value) { \
    (void)_cmd;                                                                              \
    ((thrower *)self)->key = value;                                                          \
    take_last_step((thrower *)self);                                                         \
  }
MAY_THROW(double, reading, Reading)
MAY_THROW(extent, extent, Extent)
MAY_THROW(tracked *, ward, Ward)

static void thrower_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_copied_string(&((thrower *)self)->note, NULL);
  fixture_throw(((thrower *)self)->dealloc_throws);
}

static void thrower_setup(kvo_class *cls) {
  REQUIRE_IVAR(cls, thrower, note, "_note", const char *);
  require_hook(cls, "dealloc", (kvo_imp)thrower_dealloc);
}

static void throwing_watcher_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)_cmd;
  (void)key_path;
  (void)object;
  (void)context;
  trap *trap = ((throwing_watcher *)self)->trap;
  if (trap) trap_spring(trap, change);
}

static void throwing_watcher_setup(kvo_class *cls) {
  require_hook(cls,
      "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)throwing_watcher_observe);
}

KVO_CLASS_IMPLEMENTATION(throwing_watcher, "CThrowingWatcher", watcher_class,
    THROWING_WATCHER_PROPERTIES, throwing_watcher_setup)
