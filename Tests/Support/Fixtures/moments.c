#include "fixture_moments.h"

#include <stdlib.h>

#include "fixture_stress.h"
#include "fixture_threads.h"

static gauge *make_gauge(void) {
  kvo_object *made = kvo_object_create(gauge_class());
  if (!made) abort();
  return (gauge *)made;
}

static kvo_handle *observe(gauge *object, kvo_callback callback, void *context,
    void (*ended)(void *context)) {
  kvo_handle *handle;
  if (kvo_add_callback(&object->tracked.object, "first", 0, callback, context, ended, &handle,
          NULL))
    abort();
  return handle;
}

static void count(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  __atomic_add_fetch((int *)context, 1, __ATOMIC_SEQ_CST);
}

// MARK: An end beside a call

typedef struct scene {
  gauge *object;
  gate gate;
  kvo_handle *handle; // of the one that ends
  int ended, calls;
  bool waits;
} scene;

static void note_end(void *context) {
  __atomic_add_fetch(&((scene *)context)->ended, 1, __ATOMIC_SEQ_CST);
}

static void ignore(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static void end_beside_call(void *context, int thread) {
  scene *scene = context;
  if (thread == 0) {
    gauge_setFirst(scene->object, 1);
    return;
  }
  fixture_await(&scene->gate.begun, 1);
  kvo_handle_release(scene->handle);
  scene->waits = !__atomic_load_n(&scene->ended, __ATOMIC_SEQ_CST);
  fixture_raise(&scene->gate.let_go);
}

bool moment_end_waits_for_call(void) {
  scene scene = {.object = make_gauge()};
  kvo_handle *waiting = observe(scene.object, gate_callback, &scene.gate, NULL);
  scene.handle = observe(scene.object, ignore, &scene, note_end);
  fixture_run_threads(2, end_beside_call, &scene);
  bool is_told = scene.ended == 1;
  kvo_handle_release(waiting);
  kvo_object_release(&scene.object->tracked.object);
  return scene.waits && is_told;
}

// MARK: A set behind an invalidation

static void set_behind(void *context, int thread) {
  scene *scene = context;
  if (thread == 0) {
    kvo_handle_invalidate(scene->handle);
    fixture_raise(&scene->gate.begun);
  } else {
    fixture_await(&scene->gate.begun, 1);
    gauge_setFirst(scene->object, 1);
    gauge_setSecond(scene->object, 1);
  }
}

int moment_calls_after_invalidation(void) {
  scene scene = {.object = make_gauge()};
  kvo_handle *steady = observe(scene.object, ignore, NULL, NULL);
  scene.handle = observe(scene.object, count, &scene.calls, NULL);
  fixture_run_threads(2, set_behind, &scene);
  kvo_handle_release(scene.handle);
  kvo_handle_release(steady);
  kvo_object_release(&scene.object->tracked.object);
  return scene.calls;
}

// MARK: A fork in a definition

typedef struct {
  kvo_object object;
  long value;
} interrupted, inner;

static bool child_is_well;

#define INNER_PROPERTIES(PROPERTY) PROPERTY(inner, long, value, Value, ASSIGN)
KVO_CLASS_INTERFACE(inner, INNER_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(inner, "CDefinedInChild", kvo_root_class, INNER_PROPERTIES, NULL)

static bool define_and_use(void *context) {
  (void)context;
  kvo_object *object = kvo_object_create(inner_class());
  int calls = 0;
  kvo_handle *handle = NULL;
  if (!object || kvo_add_callback(object, "value", 0, count, &calls, NULL, &handle, NULL))
    return false;
  inner_setValue((inner *)object, 1);
  kvo_handle_release(handle);
  kvo_object_release(object);
  return calls == 1;
}

static void fork_in_setup(kvo_class *cls) {
  (void)cls;
  child_is_well = fixture_fork(define_and_use, NULL) == 0;
}

#define INTERRUPTED_PROPERTIES(PROPERTY) PROPERTY(interrupted, long, value, Value, ASSIGN)
KVO_CLASS_INTERFACE(interrupted, INTERRUPTED_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(interrupted, "CForkedMeanwhile", kvo_root_class, INTERRUPTED_PROPERTIES,
    fork_in_setup)

bool moment_fork_in_definition(void) {
  interrupted_class();
  return child_is_well;
}
