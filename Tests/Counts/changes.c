/// The cost of a change, on each of its paths.
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "keyed_class.h"
#include "kvo_coding.h"
#include "kvo_collection.h"
#include "kvo_diagnostics.h"
#include "node.h"
#include "support.h"

enum { TIMES = 1000 };

// MARK: One key

static void set_value(void *state) {
  for (size_t i = 0; i < TIMES; i++) node_setValue(state, (double)i);
}

static void set_other(void *state) {
  for (size_t i = 0; i < TIMES; i++) node_setOther(state, (double)i);
}

static void set_a(void *state) {
  for (size_t i = 0; i < TIMES; i++) node_setA(state, (double)i);
}

static void set_d(void *state) {
  for (size_t i = 0; i < TIMES; i++) node_setD(state, (double)i);
}

static void set_place(void *state) {
  for (size_t i = 0; i < TIMES; i++) node_setPlace(state, (node_spot){(double)i, 0});
}

static void set_by_key(void *state) {
  kvo_error error;
  for (size_t i = 0; i < TIMES; i++) {
    const kvo_value value = kvo_value_double((double)i);
    bench_require_ok(kvo_set_value_for_key(state, "value", &value, &error), &error);
  }
}

static void get_by_key(void *state) {
  kvo_error error;
  for (size_t i = 0; i < TIMES; i++) {
    kvo_value value;
    bench_require_ok(kvo_value_for_key(state, "value", &value, &error), &error);
  }
}

static void change_by_hand(void *state) {
  for (size_t i = 0; i < TIMES; i++) {
    kvo_will_change(state, "value");
    kvo_did_change(state, "value");
  }
}

static void open_bracket(kvo_object *object, kvo_frame *frame) {
  if (frame) kvo_scoped_change_end(frame);
  else bench_require(!kvo_is_observed(object, "value"), "an observed key's bracket was not opened");
}

static void bracket_by_id(void *state) {
  const char *key = kvo_key_intern("value");
  uintptr_t id = kvo_binding_key_id(kvo_class_of(state), key);
  for (size_t i = 0; i < TIMES; i++) open_bracket(state, kvo_scoped_change_begin(state, key, id));
}

static void bracket_by_name(void *state) {
  for (size_t i = 0; i < TIMES; i++)
    open_bracket(state, kvo_scoped_change_begin_named(state, "value"));
}

static void change_uniformly(void *state) {
  const char *key = kvo_key_intern("value");
  for (size_t i = 0; i < TIMES; i++) {
    kvo_frame *frame = kvo_stored_property_will_change_key(state, key);
    if (frame) kvo_stored_property_did_change(frame);
  }
}

static void change_once(void *state) { node_setValue(state, 1); }

static void change_ten_times(void *state) {
  for (size_t i = 0; i < 10; i++) node_setValue(state, (double)i);
}

static void batch_of_one(void *state) {
  for (size_t i = 0; i < TIMES; i++) kvo_coalesce(state, change_once, state);
}

static void batch_of_ten(void *state) {
  for (size_t i = 0; i < TIMES; i++) kvo_coalesce(state, change_ten_times, state);
}

/// Counts `work` on an object with one observed key. Each unit of work must notify `notified` times.
static void count_observed(const char *what, const kvo_class *cls, const char *key,
    kvo_options options, void (*work)(void *), size_t notified) {
  node *self = node_make(cls);
  uint64_t deliveries = 0;
  kvo_handle *handle = bench_observe(&self->object, key, options, &deliveries);
  count_work(what, 1, TIMES, work, self);
  bench_require(deliveries == 2 * TIMES * notified || options & KVO_DISTINCT,
      "%s: notified %llu times", what, (unsigned long long)deliveries);
  kvo_handle_release(handle);
  kvo_object_release(&self->object);
}

static void count_way(const char *way, bool closures) {
  static const struct {
    const char *asking;
    kvo_options options;
  } all[] = {{"", 0}, {", new", KVO_NEW}, {", old and new", KVO_OLD | KVO_NEW},
      {", prior", KVO_OLD | KVO_NEW | KVO_PRIOR}, {", distinct", KVO_OLD | KVO_NEW | KVO_DISTINCT}};
  char name[96];
  snprintf(name, sizeof name, "Node%s", way);
  const kvo_class *cls = node_subclass(name);
  kvo_set_closures_forced(closures);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    snprintf(name, sizeof name, "set, %s%s", way, all[i].asking);
    count_observed(name, cls, "value", all[i].options, set_value,
        all[i].options & KVO_PRIOR ? 2 : 1);
  }
  kvo_set_closures_forced(false);
}

static void count_sets(void) {
  node *self = node_make(node_class());
  count_work("set, unobserved object", 1, TIMES, set_value, self);
  count_work("set by key, unobserved object", 1, TIMES, set_by_key, self);
  count_work("get by key", 1, TIMES, get_by_key, self);
  kvo_object_release(&self->object);
  count_observed("set, another key of the object observed", node_class(), "value", 0, set_other, 0);
  count_way("typed", false);
  count_way("by closure", true);
  count_observed("set of a struct", node_class(), "place", 0, set_place, 1);
  count_observed("set of a struct, old and new", node_class(), "place", KVO_OLD | KVO_NEW,
      set_place, 1);
  count_observed("set by key", node_class(), "value", 0, set_by_key, 1);
  kvo_set_fast_path_disabled(true);
  count_observed("set, the long way", node_class(), "value", 0, set_value, 1);
  kvo_set_fast_path_disabled(false);
}

static void count_batches(void) {
  count_observed("batch of one change", node_class(), "value", 0, batch_of_one, 1);
  count_observed("batch of one change, old and new", node_class(), "value", KVO_OLD | KVO_NEW,
      batch_of_one, 1);
  count_observed("batch of ten changes of a key", node_class(), "value", 0, batch_of_ten, 1);
  count_observed("batch, unobserved key", node_class(), "a", 0, batch_of_one, 0);
}

/// An object of many observed keys.
typedef struct crowd {
  const bench_keyed_class *keyed;
  kvo_object *object;
  double value;
} crowd;

static void set_each_key(void *state) {
  crowd *crowd = state;
  crowd->value++;
  for (size_t i = 0; i < crowd->keyed->count; i++)
    bench_keyed_object_set(crowd->object, crowd->keyed->keys[i].setter, crowd->value);
}

static void set_each_key_in_batch(void *state) {
  kvo_coalesce(((crowd *)state)->object, set_each_key, state);
}

/// Counts setting each of the keys once, one by one and in a batch.
static void count_keys_in_batch(size_t count, const char *asking, kvo_options options) {
  char name[64];
  snprintf(name, sizeof name, "Keys%zu", count);
  const bench_keyed_class *keyed = bench_keyed_class_make(name, count);
  crowd crowd = {keyed, bench_keyed_object_create(keyed), 0};
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(crowd.object, keyed->keys[i].name, options, &deliveries);
  snprintf(name, sizeof name, "set each of many keys%s", asking);
  count_work(name, count, count, set_each_key, &crowd);
  snprintf(name, sizeof name, "set each of many keys in a batch%s", asking);
  count_work(name, count, count, set_each_key_in_batch, &crowd);
  bench_require(deliveries == 4 * count, "%zu keys notified %llu times", count,
      (unsigned long long)deliveries);
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
  kvo_object_release(crowd.object);
}

static void count_by_hand(void) {
  count_observed("pair by hand", node_class(), "value", 0, change_by_hand, 1);
  count_observed("pair by hand, old and new", node_class(), "value", KVO_OLD | KVO_NEW,
      change_by_hand, 1);
  count_observed("pair by hand, another key of the object observed", node_class(), "a", 0,
      change_by_hand, 0);
  count_observed("bracket by id", node_class(), "value", 0, bracket_by_id, 1);
  count_observed("bracket by id, old and new", node_class(), "value", KVO_OLD | KVO_NEW,
      bracket_by_id, 1);
  count_observed("bracket by name", node_class(), "value", 0, bracket_by_name, 1);
  count_observed("bracket by id, another key of the object observed", node_class(), "a", 0,
      bracket_by_id, 0);
  count_observed("bracket, by key", node_class(), "value", 0, change_uniformly, 1);
}

// MARK: Among other registrations

static void set_keys(void *state) {
  kvo_object *object = ((void **)state)[0];
  const bench_keyed_class *keyed = ((void **)state)[1];
  for (size_t i = 0; i < TIMES; i++)
    bench_keyed_object_set(object, keyed->keys[i * 7 % keyed->count].setter, (double)i);
}

/// Keys of one object, with a token for each, or one for all.
static void count_among_keys(size_t count, bool as_group) {
  char name[32];
  snprintf(name, sizeof name, "Keys%zu", count);
  const bench_keyed_class *keyed = bench_keyed_class_make(name, count);
  kvo_object *object = bench_keyed_object_create(keyed);
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  if (as_group) handles[0] = observe_keys(object, keyed, &deliveries);
  else
    for (size_t i = 0; i < count; i++)
      handles[i] = bench_observe(object, keyed->keys[i].name, 0, &deliveries);
  void *state[] = {object, (void *)(uintptr_t)keyed};
  count_work(as_group ? "set, one handle for many keys" : "set, many observed keys", count, TIMES,
      set_keys, state);
  bench_require(deliveries == 2 * TIMES, "a set did not notify");
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
  kvo_object_release(object);
}

static void set_once(void *state) { node_setValue(state, 1); }

static void count_among_observers(size_t count, kvo_options options) {
  node *self = node_make(node_class());
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&self->object, "value", options, &deliveries);
  count_work(options ? "set, many observers, old and new, an observer"
                     : "set, many observers, an observer",
      count, count, set_once, self);
  bench_require(deliveries == 2 * count, "an observer was not notified");
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
  kvo_object_release(&self->object);
}

typedef struct many_nodes {
  node **nodes;
  size_t count;
} many_nodes;

static void set_nodes(void *state) {
  const many_nodes *many = state;
  for (size_t i = 0; i < TIMES; i++) node_setValue(many->nodes[i * 7 % many->count], (double)i);
}

static void count_among_objects(size_t count) {
  node **nodes = nodes_make(count);
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&nodes[i]->object, "value", 0, &deliveries);
  many_nodes many = {nodes, count};
  count_work("set, many observed objects", count, TIMES, set_nodes, &many);
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
  nodes_release(nodes, count);
}

// MARK: Paths and derived keys

static void write_path(char path[128], size_t depth) {
  *path = 0;
  for (size_t i = 1; i < depth; i++) strcat(path, "next.");
  strcat(path, "value");
}

static node *node_at(node *self, size_t place) {
  for (; place; place--) self = self->next;
  return self;
}

/// Sets a link to another object and back.
static void set_link(void *state) {
  node *self = ((void **)state)[0], **rests = (node **)((void **)state)[1];
  for (size_t i = 0; i < TIMES; i++) node_setNext(self, rests[i % 2]);
}

/// Counts a set of the last key of a path with `depth` keys, then a set of the link in its middle.
static void count_path(size_t depth) {
  node *line = nodes_make_line(depth), *rests[] = {NULL, NULL};
  char path[128];
  uint64_t deliveries = 0;
  write_path(path, depth);
  kvo_handle *handle = bench_observe(&line->object, path, 0, &deliveries);
  count_work("set at the end of a path", depth, TIMES, set_value, node_at(line, depth - 1));
  size_t behind = depth / 2;
  node *middle = node_at(line, depth - 1 - behind);
  rests[0] = nodes_make_line(behind), rests[1] = nodes_make_line(behind);
  count_work("set of a link of a path, a link behind it", behind, TIMES * behind, set_link,
      (void *[]){middle, rests});
  bench_require(deliveries == 4 * TIMES, "the path's observer was notified %llu times",
      (unsigned long long)deliveries);
  kvo_handle_release(handle);
  for (size_t i = 0; i < 2; i++) kvo_object_release(&rests[i]->object);
  kvo_object_release(&line->object);
}

/// One recipient; one key derived from five; five keys derived from one.
static void count_dependents(void) {
  static const char *const derived[] = {"s", "t", "u", "v", "w"};
  count_observed("set of what one key is derived from", node_class(), "twice", 0, set_other, 1);
  count_observed("set of what one key is derived from, old and new", node_class(), "twice",
      KVO_OLD | KVO_NEW, set_other, 1);
  count_observed("set of one of five that a key is derived from", node_class(), "total", 0, set_a,
      1);
  node *self = node_make(node_class());
  kvo_handle *handles[5];
  uint64_t deliveries = 0;
  for (size_t i = 0; i < 5; i++)
    handles[i] = bench_observe(&self->object, derived[i], 0, &deliveries);
  count_work("set of what five keys are derived from", 5, TIMES, set_d, self);
  bench_require(deliveries == 10 * TIMES, "a derived key did not notify");
  for (size_t i = 0; i < 5; i++) kvo_handle_release(handles[i]);
  kvo_object_release(&self->object);
}

// MARK: Many elements

static kvo_collection *make_items(node **nodes, size_t count) {
  kvo_error error;
  kvo_value *values = bench_allocate(count, sizeof *values);
  for (size_t i = 0; i < count; i++) values[i] = kvo_value_object(&nodes[i]->object);
  kvo_collection *items = kvo_collection_create(KVO_ARRAY, values, count, &error);
  bench_require(items != NULL, "%s", error.message);
  for (size_t i = 0; i < count; i++) kvo_value_destroy(&values[i]);
  free(values);
  return items;
}

static void read_operator(kvo_object *object, const char *path) {
  kvo_value value;
  kvo_error error;
  bench_require_ok(kvo_value_for_key_path(object, path, &value, &error), &error);
  kvo_value_destroy(&value);
}

static void read_sum(void *state) { read_operator(state, "items.@sum.value"); }
static void read_max(void *state) { read_operator(state, "items.@max.value"); }
static void read_union(void *state) { read_operator(state, "items.@unionOfObjects.value"); }
static void read_distinct(void *state) {
  read_operator(state, "items.@distinctUnionOfObjects.value");
}

static void count_operators(size_t count) {
  node **nodes = nodes_make(count), *self = node_make(node_class());
  for (size_t i = 0; i < count; i++) node_setValue(nodes[i], (double)i);
  kvo_collection *items = make_items(nodes, count);
  node_setItems(self, items);
  kvo_object_release((kvo_object *)items);
  count_work("@sum, an element", count, count, read_sum, self);
  count_work("@max, an element", count, count, read_max, self);
  count_work("@unionOfObjects, an element", count, count, read_union, self);
  count_work("@distinctUnionOfObjects, an element", count, count, read_distinct, self);
  uint64_t deliveries = 0;
  kvo_handle *handle = bench_observe(&self->object, "items.@sum.value", KVO_NEW, &deliveries);
  count_work("set of an element under an observed @sum, an element", count, count, set_once,
      nodes[count / 2]);
  bench_require(deliveries == 2, "the sum did not notify");
  kvo_handle_release(handle);
  kvo_object_release(&self->object);
  nodes_release(nodes, count);
}

typedef struct growing {
  node *self;
  kvo_collection *shorter, *longer; ///< by its last element
  kvo_index_set *last;
} growing;

static void change_last(const growing *growing, kvo_change_kind kind, kvo_collection *items) {
  kvo_will_change_indexes(&growing->self->object, kind, growing->last, "items");
  growing->self->items = items;
  kvo_did_change_indexes(&growing->self->object, kind, growing->last, "items");
}

// Exchanges two collections, so that the cost of adding an element to the program's own list is not counted.
static void add_and_remove(void *state) {
  const growing *growing = state;
  for (size_t i = 0; i < TIMES; i++) {
    change_last(growing, KVO_INSERTION, growing->longer);
    change_last(growing, KVO_REMOVAL, growing->shorter);
  }
}

static void count_growing(const char *what, const char *path, kvo_options options, size_t count) {
  node **nodes = nodes_make(count + 1), *self = node_make(node_class());
  kvo_collection *shorter = make_items(nodes, count), *longer = make_items(nodes, count + 1);
  growing growing = {self, shorter, longer, kvo_index_set_create_range(count, 1)};
  bench_require(growing.last != NULL, "no memory for an index");
  self->items = shorter;
  uint64_t deliveries = 0;
  kvo_handle *handle = bench_observe(&self->object, path, options, &deliveries);
  count_work(what, count, TIMES, add_and_remove, &growing);
  bench_require(deliveries == 4 * TIMES, "%s: notified %llu times", what,
      (unsigned long long)deliveries);
  deliveries = 0;
  node_setValue(nodes[count / 2], 1);
  bench_require(deliveries == !strstr(path, "@count"), "%s: an element is not followed", what);
  kvo_handle_release(handle);
  kvo_object_release(&self->object);
  kvo_object_release((kvo_object *)longer);
  kvo_index_set_destroy(growing.last);
  nodes_release(nodes, count + 1);
}

static void count_tracked(size_t count) {
  node **nodes = nodes_make(count), *self = node_make(node_class());
  self->tallied = nodes;
  self->tallied_count = count;
  uint64_t deliveries = 0;
  kvo_handle *handle = bench_observe(&self->object, "tally", KVO_NEW, &deliveries);
  set_once(nodes[0]); // settles
  count_work("set of what a tracked key reads, a property that it reads", count, count, set_once,
      nodes[count / 2]);
  bench_require(deliveries == 3, "the tracked key notified %llu times",
      (unsigned long long)deliveries);
  kvo_handle_release(handle);
  kvo_object_release(&self->object);
  nodes_release(nodes, count);
}

void count_changes(void) {
  count_sets();
  count_by_hand();
  count_batches();
  for (size_t count = 10; count <= 10000; count *= 10) {
    count_keys_in_batch(count, "", 0);
    count_keys_in_batch(count, ", old and new", KVO_OLD | KVO_NEW);
  }
  count_dependents();
  for (size_t count = 1; count <= 10000; count *= 10) {
    count_among_keys(count, false);
    count_among_keys(count, true);
    count_among_observers(count, 0);
    count_among_observers(count, KVO_OLD | KVO_NEW);
    count_among_objects(count);
  }
  for (size_t depth = 2; depth <= 8; depth++) count_path(depth);
  for (size_t count = 100; count <= 10000; count *= 10) {
    count_operators(count);
    count_growing("add an element under an observed @sum, and remove it", "items.@sum.value", 0,
        count);
    count_growing("add an element under an observed @count, new, and remove it", "items.@count",
        KVO_NEW, count);
    count_tracked(count);
  }
}
