#include "fixture_late_store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fixture_threads.h"

enum { CACHE_LINE = 64, LINES = 1 << 19, COLD_WRITES = 4 };

typedef struct late_store {
  kvo_object object;
  long value; // atomic
} late_store;

#define PROPERTIES(PROPERTY) PROPERTY(late_store, long, value, Value, CUSTOM)
KVO_CLASS_INTERFACE(late_store, PROPERTIES)
KVO_CLASS_IMPLEMENTATION(late_store, "CLateStore", kvo_root_class, PROPERTIES, NULL)

// Simulates other writes of a setter, to a log for example: to lines in no cache. A store waits in the processor
// until the earlier ones are done.
static volatile char *elsewhere;
static unsigned place = 1;

static void write_elsewhere(void) {
  for (int i = 0; i < COLD_WRITES; i++) {
    place = place * 1664525U + 1013904223U;
    elsewhere[(size_t)(place >> 13) * CACHE_LINE] = 1;
  }
}

static long late_store_value_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return __atomic_load_n(&((late_store *)self)->value, __ATOMIC_ACQUIRE);
}

static void late_store_setValue_imp(kvo_object *self, const kvo_method *_cmd, long value) {
  (void)_cmd;
  write_elsewhere();
  __atomic_store_n(&((late_store *)self)->value, value, __ATOMIC_RELEASE);
}

// One thread registers, the other sets.
typedef struct {
  late_store *object;
  int rounds, missed;
  atomic_bool has_ended;
  atomic_long sets;
} scene;

static void note_nothing(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static kvo_handle *observe(late_store *object, kvo_options options, kvo_callback callback,
    void *context) {
  kvo_handle *handle;
  if (kvo_add_callback(&object->object, "value", options, callback, context, NULL, &handle, NULL))
    abort();
  return handle;
}

typedef struct {
  pthread_t registering;
  atomic_long initial, first; // a change may be delivered before the initial value
} notified;

static void note_value(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path;
  notified *notified = context;
  long value = (long)kvo_value_get_int(kvo_change_get_new(change));
  if (pthread_equal(notified->registering, pthread_self())) atomic_store(&notified->initial, value);
  else if (!atomic_load(&notified->first)) atomic_store(&notified->first, value);
}

// Once the setter has begun another set, it makes no more calls for a registration that has ended.
static void await_sets(scene *scene) {
  long sets = atomic_load(&scene->sets);
  FIXTURE_WAIT_UNTIL(atomic_load(&scene->sets) >= sets + 2);
}

static void register_once(scene *scene) {
  notified notified = {.registering = pthread_self()};
  kvo_handle *handle = observe(scene->object, KVO_INITIAL | KVO_NEW, note_value, &notified);
  FIXTURE_WAIT_UNTIL(atomic_load(&notified.first));
  if (atomic_load(&notified.first) > atomic_load(&notified.initial) + 1) scene->missed++;
  kvo_handle_release(handle);
  await_sets(scene);
}

static void meet(void *context, int thread) {
  scene *scene = context;
  for (int i = 0; thread == 0 && i < scene->rounds; i++) register_once(scene);
  if (thread == 0) atomic_store(&scene->has_ended, true);
  for (long value = 1; !atomic_load(&scene->has_ended); value++) {
    late_store_setValue(scene->object, value);
    atomic_fetch_add(&scene->sets, 1);
  }
}

int late_store_missed_values(int rounds) {
  kvo_object *object = kvo_object_create(late_store_class());
  elsewhere = calloc(LINES, CACHE_LINE);
  if (!object || !elsewhere) abort();
  scene scene = {.object = (late_store *)object, .rounds = rounds};
  kvo_handle *steady = observe(scene.object, 0, note_nothing, NULL);
  fixture_run_threads(2, meet, &scene);
  kvo_handle_release(steady);
  kvo_object_release(object);
  free((void *)elsewhere);
  return scene.missed;
}
