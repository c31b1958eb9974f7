/// Work whose cost is counted: removing many registrations, work after many finished changes and threads, and the
/// work of the files beside this one. Scripts/counts.py runs it under callgrind, which counts instructions between
/// `begin` and `end`.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CKVORuntime.h"
#include "counting.h"
#include "keyed_class.h"
#include "support.h"

// MARK: The observed class

/// One of many objects: observed, observing, and linked to others.
typedef struct member {
  kvo_object object;
  double value;
  struct member *next;
  double sum;   ///< derived from the two values
  double total; ///< derived from its value and the next one's total
} member;

#define MEMBER_PROPERTIES(PROPERTY)              \
  PROPERTY(member, double, value, Value, ASSIGN) \
  PROPERTY(member, member *, next, Next, RETAIN) \
  PROPERTY(member, double, sum, Sum, READONLY)   \
  PROPERTY(member, double, total, Total, READONLY)
KVO_CLASS_INTERFACE(member, MEMBER_PROPERTIES)

static uint64_t notified;

static void observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)self, (void)_cmd, (void)key_path, (void)object, (void)change, (void)context;
  notified++;
}

static void member_setup(kvo_class *cls) {
  kvo_error error;
  kvo_status status = kvo_class_add_method(cls,
      "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)observe, KVO_HOOK, NULL, &error);
  bench_require_ok(status, &error);
  bench_require_ok(kvo_class_add_dependency(cls, "sum", "value", &error), &error);
  bench_require_ok(kvo_class_add_dependency(cls, "sum", "next.value", &error), &error);
  bench_require_ok(kvo_class_add_dependency(cls, "total", "value", &error), &error);
  bench_require_ok(kvo_class_add_dependency(cls, "total", "next.total", &error), &error);
}

KVO_CLASS_IMPLEMENTATION(member, "Member", kvo_root_class, MEMBER_PROPERTIES, member_setup)

static member **make_members(size_t count) {
  member **members = bench_allocate(count, sizeof *members);
  for (size_t i = 0; i < count; i++) {
    members[i] = (member *)kvo_object_create(member_class());
    bench_require(members[i] != NULL, "no memory for a member");
  }
  return members;
}

static void release_members(member **members, size_t count) {
  for (size_t i = 0; i < count; i++) kvo_object_release(&members[i]->object);
  free(members);
}

// MARK: Removing

/// The numbers below `count` in a fixed random order.
static size_t *shuffled(size_t count) {
  size_t *numbers = bench_allocate(count, sizeof *numbers);
  uint64_t random = 1;
  for (size_t i = 0; i < count; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    size_t other = (size_t)(random >> 33) % (i + 1);
    numbers[i] = numbers[other];
    numbers[other] = i;
  }
  return numbers;
}

/// Callbacks for keys each of which is derived from the next, removed in random order. The distance to the next
/// observed key grows logarithmically.
static void remove_dependents(size_t count) {
  member **members = make_members(count);
  uint64_t deliveries = 0;
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  for (size_t i = 0; i + 1 < count; i++) member_setNext(members[i], members[i + 1]);
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&members[i]->object, "total", 0, &deliveries);
  size_t *order = shuffled(count);
  begin();
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[order[i]]);
  end("removing callbacks of a chain of derived keys, at random", count, count);
  free(order);
  free(handles);
  for (size_t i = 0; i + 1 < count; i++) member_setNext(members[i], NULL);
  release_members(members, count);
}

/// The order of removal, relative to the order of adding.
typedef enum order { OLDEST_FIRST, NEWEST_FIRST } order;
static const char *const order_names[] = {"oldest first", "newest first"};

static size_t place(order order, size_t i, size_t count) {
  return order == OLDEST_FIRST ? i : count - 1 - i;
}

static void end_in_order(const char *what, order order, size_t count) {
  char name[96];
  snprintf(name, sizeof name, "removing %s, %s", what, order_names[order]);
  end(name, count, count);
}

/// Callbacks for a key path of the first of two linked objects.
static void remove_callbacks(const char *what, const char *key_path, order order, size_t count) {
  member **members = make_members(2);
  member_setNext(members[0], members[1]);
  uint64_t deliveries = 0;
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&members[0]->object, key_path, 0, &deliveries);
  begin();
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[place(order, i, count)]);
  end_in_order(what, order, count);
  free(handles);
  release_members(members, 2);
}

/// A callback at each of many objects, whose key paths all lead to one object.
static void remove_from_roots(const char *what, const char *key_path, order order, size_t count) {
  member **members = make_members(count + 1);
  uint64_t deliveries = 0;
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  for (size_t i = 0; i < count; i++) member_setNext(members[i], members[count]);
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&members[i]->object, key_path, 0, &deliveries);
  begin();
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[place(order, i, count)]);
  end_in_order(what, order, count);
  free(handles);
  release_members(members, count + 1);
}

static void add_observer(member *object, member *observer, void *context) {
  kvo_error error;
  bench_require_ok(kvo_add_observer(&object->object, &observer->object, "value", 0, context,
                       &error),
      &error);
}

static void remove_observer(member *object, member *observer, void *context) {
  kvo_error error;
  bench_require_ok(kvo_remove_observer_with_context(&object->object, &observer->object, "value",
                       context, &error),
      &error);
}

/// Many observers of one object.
static void remove_observers(order order, size_t count) {
  member **members = make_members(count + 1);
  for (size_t i = 0; i < count; i++) add_observer(members[count], members[i], NULL);
  begin();
  for (size_t i = 0; i < count; i++)
    remove_observer(members[count], members[place(order, i, count)], NULL);
  end_in_order("observers of one object", order, count);
  release_members(members, count + 1);
}

/// One observer of many objects.
static void remove_from_objects(order order, size_t count) {
  member **members = make_members(count + 1);
  for (size_t i = 0; i < count; i++) add_observer(members[i], members[count], NULL);
  begin();
  for (size_t i = 0; i < count; i++)
    remove_observer(members[place(order, i, count)], members[count], NULL);
  end_in_order("an observer from many objects", order, count);
  release_members(members, count + 1);
}

/// One observer of one object, with a context for each registration.
static void remove_contexts(order order, size_t count) {
  member **members = make_members(2);
  char *contexts = bench_allocate(count, 1);
  for (size_t i = 0; i < count; i++) add_observer(members[0], members[1], &contexts[i]);
  begin();
  for (size_t i = 0; i < count; i++)
    remove_observer(members[0], members[1], &contexts[place(order, i, count)]);
  end_in_order("contexts of one observer", order, count);
  free(contexts);
  release_members(members, 2);
}

static void remove_all(order order, size_t count) {
  remove_callbacks("callbacks of one key", "value", order, count);
  remove_callbacks("callbacks of one key path", "next.value", order, count);
  remove_callbacks("callbacks of a derived key", "sum", order, count);
  remove_from_roots("key paths that meet in one object", "next.value", order, count);
  remove_from_roots("derived keys that meet in one object", "sum", order, count);
  remove_observers(order, count);
  remove_from_objects(order, count);
  remove_contexts(order, count);
}

// MARK: Manual changes

/// Opens pairs for many keys of an object, and closes them in the given order.
static void change_by_hand(const char *class_name, const char *what, order order, size_t count) {
  const bench_keyed_class *keyed = bench_keyed_class_make(class_name, count);
  kvo_object *object = bench_keyed_object_create(keyed);
  for (int turn = 0; turn < 2; turn++) { // allocations of the first turn don't count
    if (turn) begin();
    for (size_t i = 0; i < count; i++) kvo_will_change(object, keyed->keys[i].name);
    for (size_t i = 0; i < count; i++)
      kvo_did_change(object, keyed->keys[place(order, i, count)].name);
  }
  end(what, count, count);
  kvo_object_release(object);
}

// MARK: Classes

static int answer(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 1;
}

/// A chain of classes, each the superclass of the next, each with a method of its own.
static void make_hierarchy(const char *prefix, size_t count) {
  const kvo_class *superclass = kvo_root_class();
  size_t before = memory();
  for (size_t i = 0; i < count; i++) {
    char name[64], selector[64];
    kvo_error error;
    snprintf(name, sizeof name, "%s%zu", prefix, i);
    snprintf(selector, sizeof selector, "%s%zu", "answer", i);
    kvo_class *cls = kvo_class_create(name, superclass, sizeof(kvo_object), &error);
    bench_require(cls != NULL, "no class");
    bench_require_ok(kvo_class_add_method(cls, selector, (kvo_imp)answer, KVO_GETTER(int), NULL,
                         &error),
        &error);
    bench_require_ok(kvo_class_register(cls, &error), &error);
    superclass = cls;
  }
  tell_memory("a subclass that adds a method", count, count, memory() - before);
}

// MARK: After finished work

enum { ENDS = 100, CHANGES = 1000, OPEN = 3 };

static void *deliver_once(void *object) {
  member_setValue((member *)object, 1);
  return NULL;
}

/// Runs threads at once, each of which delivers a change and ends.
static void run_threads(member *object, size_t count) {
  pthread_t *threads = bench_allocate(count, sizeof *threads);
  for (size_t i = 0; i < count; i++)
    bench_require(!pthread_create(&threads[i], NULL, deliver_once, object), "no thread");
  for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
  free(threads);
}

static void end_after_threads(const char *what, kvo_options options, size_t count) {
  member **members = make_members(1);
  uint64_t deliveries = 0;
  kvo_handle *handle = bench_observe(&members[0]->object, "value", options, &deliveries);
  run_threads(members[0], count);
  for (int turn = 0; turn < 2; turn++) { // the allocator's first reorganisation does not count
    if (turn) begin();
    for (size_t i = 0; i < ENDS; i++)
      kvo_handle_release(bench_observe(&members[0]->object, "value", options, &deliveries));
  }
  end(what, count, ENDS);
  kvo_handle_release(handle);
  release_members(members, 1);
}

/// Changes of which three are open at once; the oldest ends first.
static void overlap(member **members, kvo_frame **frames, size_t from, size_t count) {
  const char *key = kvo_key_intern("value");
  for (size_t i = from; i < from + count; i++) {
    if (frames[i % OPEN]) kvo_stored_property_did_change(frames[i % OPEN]);
    frames[i % OPEN] = kvo_stored_property_will_change_key(&members[i % OPEN]->object, key);
  }
}

/// Counts three things after `count` finished changes: another change, a set of another object, and a removal.
static void change_after_changes(size_t count) {
  member **members = make_members(OPEN + 1);
  kvo_handle *handles[OPEN + 1];
  kvo_frame *frames[OPEN] = {NULL};
  uint64_t deliveries = 0;
  for (size_t i = 0; i <= OPEN; i++)
    handles[i] = bench_observe(&members[i]->object, "value", 0, &deliveries);
  overlap(members, frames, 0, count);
  begin();
  overlap(members, frames, count, CHANGES);
  end("a change that overlaps others, after changes", count, CHANGES);
  begin();
  for (size_t i = 0; i < CHANGES; i++) member_setValue(members[OPEN], (double)i);
  end("a set beside changes that overlap, after changes", count, CHANGES);
  begin();
  for (size_t i = 0; i < ENDS; i++)
    kvo_handle_release(bench_observe(&members[OPEN]->object, "value", 0, &deliveries));
  end("adding and removing beside changes that overlap, after changes", count, ENDS);
  for (size_t i = 0; i < OPEN; i++)
    if (frames[i]) kvo_stored_property_did_change(frames[i]);
  for (size_t i = 0; i <= OPEN; i++) kvo_handle_release(handles[i]);
  release_members(members, OPEN + 1);
}

static void work_after_others(void) {
  for (size_t count = 1; count <= 1000; count *= 1000) {
    end_after_threads("adding and removing, after threads", 0, count);
    end_after_threads("adding with initial and removing, after threads", KVO_INITIAL, count);
  }
  for (size_t count = 960; count <= 28800; count *= 30) change_after_changes(count);
}

/// - largest: the largest size at which removing is counted.
static void count_instructions(size_t largest) {
  count_registrations();
  count_changes();
  change_by_hand("FewPairs", "a manual change beside others, ended in their order", OLDEST_FIRST,
      1000);
  change_by_hand("ManyPairs", "a manual change beside others, ended in their order", OLDEST_FIRST,
      20000);
  change_by_hand("FewNested", "a manual change beside others, nested", NEWEST_FIRST, 1000);
  change_by_hand("ManyNested", "a manual change beside others, nested", NEWEST_FIRST, 20000);
  work_after_others();
  // In increasing sizes: a cost that is not linear shows before the largest one.
  for (size_t count = 1000; count <= largest; count *= 10) remove_dependents(count);
  for (size_t count = 1000; count <= largest; count *= 10) {
    remove_all(OLDEST_FIRST, count);
    remove_all(NEWEST_FIRST, count);
  }
}

// The argument is `bytes`, or another largest size than 100,000.
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "bytes")) {
    count_memory();
    make_hierarchy("Shallow", 500);
    make_hierarchy("Deep", 4000);
  } else {
    count_instructions(argc > 1 ? strtoul(argv[1], NULL, 10) : 100000);
  }
  return 0;
}
