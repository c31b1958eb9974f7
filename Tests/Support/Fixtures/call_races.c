#include "fixture_call_races.h"

#include <kvo_binding.h>
#include <kvo_diagnostics.h>
#include <kvo_mutable.h>
#include <kvo_observing.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "fixture_graph.h"
#include "fixture_memory.h"
#include "fixture_shelf.h"
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

// MARK: An end during a call

typedef struct scene {
  gauge *object;
  gate gate;
  kvo_handle *handle; // of the registration that ends
  int ended, calls;
  bool waits; // or is right in a child
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

bool call_race_end_waits_for_call(void) {
  scene scene = {.object = make_gauge()};
  kvo_handle *waiting = observe(scene.object, gate_callback, &scene.gate, NULL);
  scene.handle = observe(scene.object, ignore, &scene, note_end);
  fixture_run_threads(2, end_beside_call, &scene);
  bool is_notified = scene.ended == 1;
  kvo_handle_release(waiting);
  kvo_object_release(&scene.object->tracked.object);
  return scene.waits && is_notified;
}

// MARK: An end that a child inherits

static bool tell_in_child(void *context) {
  scene *scene = context;
  gauge *own = make_gauge();
  kvo_handle_release(observe(own, ignore, NULL, NULL));
  kvo_object_release(&own->tracked.object);
  return scene->ended == 1;
}

static void fork_beside_call(void *context, int thread) {
  scene *scene = context;
  if (thread == 0) {
    gauge_setFirst(scene->object, 1);
    return;
  }
  fixture_await(&scene->gate.begun, 1);
  kvo_handle_release(scene->handle);
  scene->waits = !fixture_fork(tell_in_child, scene);
  fixture_raise(&scene->gate.let_go);
}

bool call_race_child_reports_what_waited(void) {
  scene scene = {.object = make_gauge()};
  kvo_handle *waiting = observe(scene.object, gate_callback, &scene.gate, NULL);
  scene.handle = observe(scene.object, ignore, &scene, note_end);
  fixture_run_threads(2, fork_beside_call, &scene);
  kvo_handle_release(waiting);
  kvo_object_release(&scene.object->tracked.object);
  return scene.waits && scene.ended == 1;
}

// MARK: An end by the owner

typedef struct owned {
  call_race_call call;
  graph_node *root, *leaf;
  gate gate;
  kvo_handle *handle;
  int ended;
} owned;

static void note_owned_end(void *context) {
  __atomic_add_fetch(&((owned *)context)->ended, 1, __ATOMIC_SEQ_CST);
}

static void pass_gate(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  gate *gate = &((owned *)context)->gate;
  if (!__atomic_load_n(&gate->begun, __ATOMIC_SEQ_CST))
    gate_callback(gate, object, key_path, change);
}

static void watch(owned *owned, const char *key_path, kvo_options options) {
  if (kvo_add_callback(&owned->root->watcher.tracked.object, key_path, options, pass_gate, owned,
          note_owned_end, &owned->handle, NULL))
    abort();
}

static const char *watched_path(call_race_call call) {
  if (call == CALL_RACE_OF_PATH) return "next.value";
  return call == CALL_RACE_OF_DERIVED_KEY ? "extra" : "value";
}

static void *call_it(void *context) {
  owned *owned = context;
  if (owned->call == CALL_RACE_OF_INITIAL) watch(owned, "value", KVO_INITIAL);
  else if (owned->call == CALL_RACE_OF_CHANGE) graph_node_setValue(owned->root, 1);
  else graph_node_setValue(owned->leaf, 1);
  return NULL;
}

static kvo_class *owned_node_class;

static void make_owned_node_class(void) {
  kvo_class *cls = kvo_class_create("COwnedNode", graph_node_class(), sizeof(graph_node), NULL);
  if (!cls || kvo_class_add_dependency(cls, "extra", "next.value", NULL) ||
      kvo_class_register(cls, NULL))
    abort();
  owned_node_class = cls;
}

static graph_node *make_node(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_owned_node_class);
  kvo_object *made = kvo_object_create(owned_node_class);
  if (!made) abort();
  return (graph_node *)made;
}

// This thread registers first.
static kvo_handle *begin_owning(owned *owned) {
  kvo_handle *first = NULL;
  const char *key = owned->call == CALL_RACE_OF_DERIVED_KEY ? "extra" : "quiet";
  graph_node_setNext(owned->root, owned->leaf);
  if (kvo_add_callback(&owned->root->watcher.tracked.object, key, 0, ignore, NULL, NULL, &first,
          NULL))
    abort();
  if (owned->call != CALL_RACE_OF_INITIAL) watch(owned, watched_path(owned->call), 0);
  return first;
}

bool call_race_owner_waits_for_call(call_race_call call) {
  owned owned = {.call = call, .root = make_node(), .leaf = make_node()};
  kvo_handle *first = begin_owning(&owned);
  pthread_t caller;
  if (pthread_create(&caller, NULL, call_it, &owned)) abort();
  fixture_await(&owned.gate.begun, 1);
  graph_node_setNext(owned.root,
      NULL); // so that nothing ends at the leaf, which the caller has read
  kvo_handle_release(owned.handle);
  bool waits = !__atomic_load_n(&owned.ended, __ATOMIC_SEQ_CST);
  fixture_raise(&owned.gate.let_go);
  fixture_join(caller);
  kvo_handle_release(first);
  kvo_object_release(&owned.root->watcher.tracked.object);
  kvo_object_release(&owned.leaf->watcher.tracked.object);
  return waits && owned.ended == 1;
}

// MARK: Ends in a call of a carried change

enum { CARRIED = 3 };

typedef struct carriage {
  kvo_object *object;
  kvo_frame *frame;
  kvo_handle *handles[CARRIED];
  bool is_called;
  call_race_ends ends;
} carriage;

static void note_carried_end(void *context) {
  carriage *carriage = context;
  if (carriage->is_called) carriage->ends.early++;
  else carriage->ends.late++;
}

static void end_carried(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  carriage *carriage = context;
  carriage->ends.calls++;
  carriage->is_called = true;
  for (int i = 0; i < CARRIED; i++) {
    kvo_handle_release(carriage->handles[i]);
    carriage->handles[i] = NULL;
  }
  carriage->is_called = false;
}

static kvo_handle *add_first(kvo_object *object, kvo_callback callback, void *context,
    void (*ended)(void *context)) {
  kvo_handle *handle;
  if (kvo_add_callback(object, "first", 0, callback, context, ended, &handle, NULL)) abort();
  return handle;
}

static void *begin_carried(void *context) {
  carriage *carriage = context;
  kvo_handle *handle = add_first(carriage->object, ignore, NULL, NULL);
  carriage->frame = kvo_stored_property_will_change_key(carriage->object, kvo_key_intern("first"));
  kvo_handle_release(handle);
  return NULL;
}

static void *own_carried(void *context) {
  carriage *carriage = context;
  for (int i = 0; i < CARRIED; i++)
    carriage->handles[i] = add_first(carriage->object, end_carried, carriage, note_carried_end);
  return NULL;
}

// This thread reuses the last one's record, and thus its identity.
static void *finish_carried(void *context) {
  carriage *carriage = context;
  gauge *other = make_gauge();
  kvo_handle_release(observe(other, ignore, NULL, NULL));
  kvo_object_release(&other->tracked.object);
  kvo_stored_property_did_change(carriage->frame);
  return NULL;
}

static void run_alone(void *(*body)(void *context), void *context) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, context)) abort();
  fixture_join(thread);
}

call_race_ends call_race_end_in_carried_call(void) {
  carriage carriage = {.object = &make_gauge()->tracked.object};
  run_alone(begin_carried, &carriage);
  run_alone(own_carried, &carriage);
  run_alone(finish_carried, &carriage);
  kvo_object_release(carriage.object);
  return carriage.ends;
}

// MARK: An edit of a key whose change another thread closes

typedef struct edited {
  kvo_frame *frame; // atomic: passed to the other thread before the edit
  bool is_edited;   // atomic, but relaxed: the edit and the close share no lock but the runtime's
  kvo_change_kind kind;
  int old_count, new_count;
} edited;

static int count_of(const kvo_value *value) {
  kvo_object *elements = value ? kvo_value_get_object(value) : NULL;
  return elements ? (int)kvo_collection_count((kvo_collection *)elements) : 0;
}

static void note_edited(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path;
  edited *edited = context;
  edited->kind = kvo_change_get_kind(change);
  edited->old_count = count_of(kvo_change_get_old(change));
  edited->new_count = count_of(kvo_change_get_new(change));
}

static void *close_edited(void *context) {
  edited *edited = context;
  kvo_frame *frame;
  while (!(frame = __atomic_load_n(&edited->frame, __ATOMIC_ACQUIRE))) sched_yield();
  while (!__atomic_load_n(&edited->is_edited, __ATOMIC_RELAXED)) sched_yield();
  kvo_stored_property_did_change(frame);
  return NULL;
}

// The setter stores only one of the elements.
static void insert_two(kvo_object *object) {
  const kvo_value two[] = {kvo_value_int(1), kvo_value_int(2)};
  kvo_collection *elements = kvo_collection_create(KVO_ARRAY, two, 2, NULL), *proxy;
  kvo_index_set *indexes = kvo_index_set_create_range(0, 2);
  if (!elements || !indexes || kvo_mutable_array(object, "items", &proxy, NULL) ||
      kvo_collection_insert_many(proxy, indexes, elements, NULL))
    abort();
  kvo_index_set_destroy(indexes);
  kvo_object_release((kvo_object *)elements);
  kvo_object_release((kvo_object *)proxy);
}

bool call_race_edit_beside_close(void) {
  shelf *shelf = (struct shelf *)kvo_object_create(shelf_class(SHELF_GETTER | SHELF_SETTER));
  kvo_index_set *indexes = kvo_index_set_create_range(0, 2);
  if (!shelf || !indexes) abort();
  shelf->most = 1;
  shelf->value = kvo_collection_create(KVO_ARRAY, NULL, 0, NULL);
  edited edited = {.is_edited = false};
  kvo_handle *handle;
  pthread_t thread;
  if (kvo_add_callback(&shelf->object, "items", KVO_OLD | KVO_NEW, note_edited, &edited, NULL,
          &handle, NULL) ||
      pthread_create(&thread, NULL, close_edited, &edited))
    abort();
  const kvo_part part = {.kind = KVO_INSERTION, .indexes = indexes};
  kvo_frame *frame = kvo_stored_property_will_change_part(shelf, kvo_key_intern("items"), &part);
  __atomic_store_n(&edited.frame, frame, __ATOMIC_RELEASE);
  insert_two(&shelf->object);
  __atomic_store_n(&edited.is_edited, true, __ATOMIC_RELAXED);
  fixture_join(thread);
  kvo_handle_release(handle);
  kvo_index_set_destroy(indexes);
  kvo_object_release(&shelf->object);
  return edited.kind == KVO_SETTING && edited.old_count == 0 && edited.new_count == 1;
}

// MARK: Many observers, and no memory

enum { MANY = 40, ALLOCATIONS = 60 };
static int reports;

static void note_report(const char *message) {
  (void)message;
  reports++;
}

static bool tell_many(gauge *object, int allocation, int *calls) {
  *calls = reports = 0;
  fixture_fail_allocation(allocation);
  gauge_setFirst(object, 2 + allocation);
  fixture_limit_memory(-1);
  return *calls == MANY || reports;
}

bool call_race_many_notified_without_memory(void) {
  gauge *object = make_gauge();
  kvo_handle *handles[MANY];
  int calls = 0;
  bool all_well = true;
  for (int i = 0; i < MANY; i++)
    if (kvo_add_callback(&object->tracked.object, "first", KVO_NEW | KVO_DISTINCT, count, &calls,
            NULL, &handles[i], NULL))
      abort();
  gauge_setFirst(object, 1);
  kvo_set_misuse_handler(note_report);
  for (int i = 0; i < ALLOCATIONS; i++) all_well = tell_many(object, i, &calls) && all_well;
  kvo_set_misuse_handler(NULL);
  for (int i = 0; i < MANY; i++) kvo_handle_release(handles[i]);
  kvo_object_release(&object->tracked.object);
  return all_well;
}

// MARK: Several keys without memory

// The allocations of a registration for several keys before its first key.
enum { ATTEMPTS = 20000, TAKEN_BEFORE_KEYS = 2 };

typedef struct bystanders {
  gauge *object;
  kvo_handle *handles[2]; // the only observers of the keys
  int round;
} bystanders;

static void add_bystanders(bystanders *others) {
  static const char *const keys[] = {"first", "second"};
  for (int i = 0; i < 2; i++)
    if (kvo_add_callback(&others->object->tracked.object, keys[i], 0, ignore, NULL, NULL,
            &others->handles[i], NULL))
      abort();
}

static void observe_both_without_memory(bystanders *others) {
  static const char *const keys[] = {"first", "second"};
  kvo_handle *handle;
  fixture_fail_allocation(TAKEN_BEFORE_KEYS);
  kvo_status status = kvo_add_callback_for_keys(&others->object->tracked.object, keys, 2, KVO_NEW,
      ignore, NULL, 0, NULL, &handle, NULL);
  fixture_limit_memory(-1);
  if (status != KVO_NO_MEMORY || handle) abort();
}

static void come_and_go(void *context, int thread) {
  bystanders *others = context;
  for (int round = 1; round <= ATTEMPTS; round++) {
    if (thread == 0) {
      add_bystanders(others);
      fixture_raise(&others->round);
      observe_both_without_memory(others);
      fixture_await(&others->round, 2 * round);
    } else {
      fixture_await(&others->round, 2 * round - 1);
      for (int i = 0; i < 2; i++) kvo_handle_release(others->handles[i]);
      fixture_raise(&others->round);
    }
  }
}

bool call_race_several_without_memory(void) {
  bystanders others = {.object = make_gauge()};
  fixture_run_threads(2, come_and_go, &others);
  bool is_observed = kvo_is_observed(&others.object->tracked.object, "first");
  kvo_object_release(&others.object->tracked.object);
  return !is_observed;
}

// MARK: Dumps during brackets

enum { NESTED = 40, DUMPS = 2000 };

typedef struct nest {
  kvo_object *object;
  int is_over;
} nest;

static void nest_brackets(kvo_object *object, int more) {
  kvo_frame *frame = kvo_scoped_change_begin_named(object, "first");
  if (more) nest_brackets(object, more - 1);
  if (frame) kvo_scoped_change_end(frame);
}

static void *nest_on(void *context) {
  nest *nest = context;
  while (!__atomic_load_n(&nest->is_over, __ATOMIC_SEQ_CST)) nest_brackets(nest->object, NESTED);
  return NULL;
}

int call_race_dump_beside_brackets(void) {
  gauge *object = make_gauge();
  nest nest = {.object = &object->tracked.object};
  kvo_handle *handle = observe(object, ignore, NULL, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, nest_on, &nest)) abort();
  int dumps = 0;
  for (int i = 0; i < DUMPS; i++) {
    char *text = kvo_copy_debug_dump(nest.object);
    if (text) dumps++;
    free(text);
  }
  fixture_raise(&nest.is_over);
  fixture_join(thread);
  kvo_handle_release(handle);
  kvo_object_release(nest.object);
  return dumps;
}

// MARK: A set after an invalidation

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

int call_race_calls_after_invalidation(void) {
  scene scene = {.object = make_gauge()};
  kvo_handle *steady = observe(scene.object, ignore, NULL, NULL);
  scene.handle = observe(scene.object, count, &scene.calls, NULL);
  fixture_run_threads(2, set_behind, &scene);
  kvo_handle_release(scene.handle);
  kvo_handle_release(steady);
  kvo_object_release(&scene.object->tracked.object);
  return scene.calls;
}

// MARK: A fork during a definition

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

bool call_race_fork_in_definition(void) {
  interrupted_class();
  return child_is_well;
}
