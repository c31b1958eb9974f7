/// The cost of registering and removing.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "keyed_class.h"
#include "node.h"
#include "support.h"

enum { TIMES = 1000 };

static uint64_t deliveries;

// MARK: One at a time

typedef struct turn {
  node *object, *observer;
  const char *key_path;
  kvo_options options;
} turn;

static void ignore_end(void *context) { (void)context; }

static void ignore(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static void register_callback(void *state) {
  const turn *turn = state;
  kvo_error error;
  for (size_t i = 0; i < TIMES; i++) {
    kvo_handle *handle = NULL;
    kvo_status status = kvo_add_callback(&turn->object->object, turn->key_path, turn->options,
        ignore, NULL, ignore_end, &handle, &error);
    bench_require_ok(status, &error);
    kvo_handle_release(handle);
  }
}

static void register_observer(void *state) {
  const turn *turn = state;
  kvo_object *observed = &turn->object->object, *observer = &turn->observer->object;
  kvo_error error;
  for (size_t i = 0; i < TIMES; i++) {
    bench_require_ok(kvo_add_observer(observed, observer, turn->key_path, 0, state, &error),
        &error);
    bench_require_ok(kvo_remove_observer_with_context(observed, observer, turn->key_path, state,
                         &error),
        &error);
  }
}

static void count_turn(const char *what, size_t size, turn turn) {
  count_work(what, size, TIMES, turn.observer ? register_observer : register_callback, &turn);
}

static void count_one(void) {
  node *self = node_make(node_class()), *observer = node_make(node_class());
  count_turn("register and remove, an object's only one", 1, (turn){self, NULL, "value", 0});
  count_turn("register and remove, an object's only one, initial", 1,
      (turn){self, NULL, "value", KVO_INITIAL | KVO_NEW});
  count_turn("register and remove, an observer object", 1, (turn){self, observer, "value", 0});
  count_turn("register and remove, a derived key", 1, (turn){self, NULL, "total", 0});
  kvo_handle *other = bench_observe(&self->object, "other", 0, &deliveries);
  count_turn("register and remove, another key of the object observed", 1,
      (turn){self, NULL, "value", 0});
  kvo_handle_release(other);
  other = bench_observe(&self->object, "value", 0, &deliveries);
  count_turn("register and remove, the key observed", 1, (turn){self, NULL, "value", 0});
  kvo_handle_release(other);
  kvo_object_release(&observer->object);
  kvo_object_release(&self->object);
}

static void count_path(size_t depth) {
  node *line = nodes_make_line(depth);
  char path[128] = "";
  for (size_t i = 1; i < depth; i++) strcat(path, "next.");
  strcat(path, "value");
  turn turn = {line, NULL, path, 0};
  count_work("register and remove, a path, a key of it", depth, TIMES * depth, register_callback,
      &turn);
  kvo_object_release(&line->object);
}

// MARK: Beside another thread

typedef struct idler {
  node *own;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool is_there, may_go;
} idler;

static void wait_for(idler *idler, const bool *flag) {
  while (!*flag) pthread_cond_wait(&idler->changed, &idler->mutex);
}

static void say(idler *idler, bool *flag) {
  *flag = true;
  pthread_cond_broadcast(&idler->changed);
}

/// Sets what is observed, so that the runtime has a record of this thread, then idles.
static void *idle(void *state) {
  idler *idler = state;
  node_setValue(idler->own, 1);
  pthread_mutex_lock(&idler->mutex);
  say(idler, &idler->is_there);
  wait_for(idler, &idler->may_go);
  pthread_mutex_unlock(&idler->mutex);
  return NULL;
}

static void count_beside_a_thread(void) {
  idler idler = {.own = node_make(node_class()),
      .mutex = PTHREAD_MUTEX_INITIALIZER,
      .changed = PTHREAD_COND_INITIALIZER};
  node *self = node_make(node_class());
  kvo_handle *handle = bench_observe(&idler.own->object, "value", 0, &deliveries);
  pthread_t thread;
  bench_require(!pthread_create(&thread, NULL, idle, &idler), "no thread");
  pthread_mutex_lock(&idler.mutex);
  wait_for(&idler, &idler.is_there);
  pthread_mutex_unlock(&idler.mutex);
  count_turn("register and remove, beside a thread", 1, (turn){self, NULL, "value", 0});
  pthread_mutex_lock(&idler.mutex);
  say(&idler, &idler.may_go);
  pthread_mutex_unlock(&idler.mutex);
  pthread_join(thread, NULL);
  kvo_handle_release(handle);
  kvo_object_release(&self->object);
  kvo_object_release(&idler.own->object);
}

// MARK: Many

typedef struct many {
  kvo_object *object; ///< NULL: made here
  node **nodes;
  const bench_keyed_class *keyed; ///< NULL: `value`
  size_t count;
  kvo_handle **handles;
} many;

static void register_many(const many *many) {
  for (size_t i = 0; i < many->count; i++)
    many->handles[i] = bench_observe(many->object ? many->object : &many->nodes[i]->object,
        many->keyed ? many->keyed->keys[i].name : "value", 0, &deliveries);
}

static void remove_many(const many *many) {
  for (size_t i = 0; i < many->count; i++) kvo_handle_release(many->handles[i]);
}

/// Registers all, then removes all. The first time does not count.
static void count_many(const char *registered, const char *removed, many many) {
  many.handles = bench_allocate(many.count, sizeof *many.handles);
  for (int turn = 0; turn < 2; turn++) {
    if (turn) begin();
    register_many(&many);
    if (turn) end(registered, many.count, many.count);
    if (turn) begin();
    remove_many(&many);
    if (turn) end(removed, many.count, many.count);
  }
  free(many.handles);
}

static void count_first(const bench_keyed_class *keyed) {
  kvo_object *object = bench_keyed_object_create(keyed);
  many many = {
      object, NULL, keyed, keyed->count, bench_allocate(keyed->count, sizeof *many.handles)};
  begin();
  register_many(&many);
  end("register a key that its class has not had observed", keyed->count, keyed->count);
  remove_many(&many);
  free(many.handles);
  kvo_object_release(object);
}

static void register_together(void *state) {
  const many *many = state;
  kvo_handle_release(observe_keys(many->object, many->keyed, &deliveries));
}

static void count_keys(size_t count) {
  char name[32];
  snprintf(name, sizeof name, "Keys%zu", count);
  const bench_keyed_class *keyed = bench_keyed_class_make(name, count);
  count_first(keyed);
  kvo_object *object = bench_keyed_object_create(keyed);
  many many = {object, NULL, keyed, count, NULL};
  count_many("register each of many keys", "remove each of many keys", many);
  count_work("register and remove one handle for many keys, a key", count, count, register_together,
      &many);
  kvo_object_release(object);
}

static void count_observers(size_t count) {
  node *self = node_make(node_class());
  count_many("register many observers of a key", "remove many observers of a key",
      (many){&self->object, NULL, NULL, count, NULL});
  kvo_object_release(&self->object);
}

static void count_objects(size_t count) {
  node **nodes = nodes_make(count);
  count_many("register with many objects", "remove from many objects",
      (many){NULL, nodes, NULL, count, NULL});
  nodes_release(nodes, count);
}

void count_registrations(void) {
  count_one();
  count_beside_a_thread();
  for (size_t depth = 2; depth <= 8; depth++) count_path(depth);
  for (size_t count = 1; count <= 10000; count *= 10) {
    count_keys(count);
    count_observers(count);
    count_objects(count);
  }
}
