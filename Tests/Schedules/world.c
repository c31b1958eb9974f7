// The nodes' class, with setters and getters that the scheduler sees.
#include "world.h"

#include "interpose.h"
#include "kvo_binding.h"

node *nodes[NODES];

const char *const path_names[PATHS] = {"value", "other", "next", "items", "stamp", "sum",
    "next.value", "next.next.value", "next.sum", "next.other", "near", "far", "items.@count",
    "stamped", "tracked"};

int node_index(const node *node) {
  for (int i = 0; i < NODES && node; i++)
    if (nodes[i] == node) return i;
  return NOWHERE;
}

// MARK: Storage

static int get(const int *place) { return __atomic_load_n(place, __ATOMIC_ACQUIRE); }
static node *get_next(const node *node) { return __atomic_load_n(&node->next, __ATOMIC_ACQUIRE); }

static int *place_of(node *node, node_key key) {
  switch (key) {
  case KEY_VALUE: return &node->value;
  case KEY_OTHER: return &node->other;
  case KEY_STAMP: return &node->stamp;
  default: return &node->items;
  }
}

static void set(kvo_object *self, node_key key, int value) {
  node *stored = (node *)self;
  __atomic_store_n(place_of(stored, key), value, __ATOMIC_RELEASE);
  node_is_stored(node_index(stored), key, value);
}

static void set_next(kvo_object *self, node *next) {
  node *stored = (node *)self;
  __atomic_store_n(&stored->next, next, __ATOMIC_RELEASE);
  node_is_stored(node_index(stored), KEY_NEXT, node_index(next));
}

void store_link(int number, int to) {
  set_next(&nodes[number]->object, to == NOWHERE ? NULL : nodes[to]);
}

void store_key(int number, node_key key, int value) { set(&nodes[number]->object, key, value); }

static void add_item(kvo_object *self) {
  node *stored = (node *)self;
  __atomic_fetch_add(&stored->items, 1, __ATOMIC_SEQ_CST);
  node_is_stored(node_index(stored), KEY_ITEMS, 1);
}

void insert_item(int number) { add_item(&nodes[number]->object); }

// The value that the calling thread sees, read without a point.
static int seen(const int *place) {
  int value = *(const volatile int *)place;
  buffers_load(place, &value, sizeof value);
  return value;
}

static node *seen_next(const node *node) {
  struct node *next = *(struct node *const volatile *)&node->next;
  buffers_load(&node->next, &next, sizeof next);
  return next;
}

// MARK: Paths

typedef enum {
  TOWARDS_VALUE = 1 << KEY_VALUE,
  TOWARDS_OTHER = 1 << KEY_OTHER,
  TOWARDS_NEXT = 1 << KEY_NEXT,
  TOWARDS_ITEMS = 1 << KEY_ITEMS,
  TOWARDS_STAMP = 1 << KEY_STAMP
} leaf_keys;

// The number of links, then the keys of the node that they lead to.
typedef struct {
  int links;
  leaf_keys keys;
} shape;

static const shape shapes[PATHS] = {
    [PATH_VALUE] = {0, TOWARDS_VALUE},
    [PATH_OTHER] = {0, TOWARDS_OTHER},
    [PATH_NEXT] = {0, TOWARDS_NEXT},
    [PATH_ITEMS] = {0, TOWARDS_ITEMS},
    [PATH_STAMP] = {0, TOWARDS_STAMP},
    [PATH_SUM] = {0, TOWARDS_VALUE | TOWARDS_OTHER},
    [PATH_NEXT_VALUE] = {1, TOWARDS_VALUE},
    [PATH_NEXT_NEXT_VALUE] = {2, TOWARDS_VALUE},
    [PATH_NEXT_SUM] = {1, TOWARDS_VALUE | TOWARDS_OTHER},
    [PATH_NEXT_OTHER] = {1, TOWARDS_OTHER},
    [PATH_NEAR] = {1, TOWARDS_VALUE},
    [PATH_FAR] = {2, TOWARDS_VALUE},
    [PATH_COUNT] = {0, TOWARDS_ITEMS},
    [PATH_STAMPED] = {0, TOWARDS_VALUE | TOWARDS_STAMP},
    [PATH_TRACKED] = {1, TOWARDS_VALUE},
};

bool is_followed_by_links(int path) { return path != PATH_TRACKED; }
int links_on(int path) { return shapes[path].links; }
uint8_t last_keys(int path) { return (uint8_t)shapes[path].keys; }

bool is_affected(int root, int path, const links *links, int changed, node_key key) {
  int at = root;
  for (int i = 0; i < shapes[path].links && at != NOWHERE; i++) {
    if (at == changed && key == KEY_NEXT) return true;
    at = links->next[at];
  }
  if (at == NOWHERE) return false;
  if (at == changed && shapes[path].keys & 1 << key) return true;
  if (path != PATH_TRACKED) return false;
  if (links->is_odd[at]) return at == changed && key == KEY_OTHER;
  if (at == changed && key == KEY_NEXT) return true;
  return links->next[at] != NOWHERE && links->next[at] == changed && key == KEY_VALUE;
}

static int leaf(const node *node, leaf_keys keys) {
  int sum = 0;
  if (keys & TOWARDS_VALUE) sum += seen(&node->value);
  if (keys & TOWARDS_OTHER) sum += seen(&node->other);
  if (keys & TOWARDS_ITEMS) sum += seen(&node->items);
  if (keys & TOWARDS_STAMP) sum += seen(&node->stamp);
  if (keys & TOWARDS_NEXT) sum += node_index(seen_next(node));
  return sum;
}

int read_path(int root, int path) {
  const node *at = nodes[root];
  for (int i = 0; i < shapes[path].links && at; i++) at = seen_next(at);
  if (!at) return NOTHING;
  if (path == PATH_STAMPED) return seen(&at->value);
  int sum = leaf(at, shapes[path].keys);
  if (path != PATH_TRACKED) return sum;
  if (sum % 2) return ODD + seen(&at->other);
  const node *last = seen_next(at);
  return last ? EVEN + seen(&last->value) : EVEN;
}

links current_links(void) {
  links now;
  for (int i = 0; i < NODES; i++) {
    now.next[i] = nodes[i] ? node_index(seen_next(nodes[i])) : NOWHERE;
    now.is_odd[i] = nodes[i] && seen(&nodes[i]->value) % 2;
  }
  return now;
}

// MARK: The class

// Reads a stored property for a getter.
static int read_number(kvo_object *self, node_key key) {
  node *read = (node *)self;
  node_is_read(node_index(read), key);
  return get(place_of(read, key));
}

static node *read_next(kvo_object *self) {
  node *read = (node *)self;
  node_is_read(node_index(read), KEY_NEXT);
  return get_next(read);
}

static node *node_next_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return read_next(self);
}
static void node_setNext_imp(kvo_object *self, const kvo_method *_cmd, node *next) {
  (void)_cmd;
  set_next(self, next);
}
static int node_value_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return read_number(self, KEY_VALUE);
}
static void node_setValue_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  set(self, KEY_VALUE, value);
}
static int node_other_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return read_number(self, KEY_OTHER);
}
static void node_setOther_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  set(self, KEY_OTHER, value);
}

static int node_stamp_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return get(&((node *)self)->stamp);
}
static void node_setStamp_imp(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  set(self, KEY_STAMP, value);
}

static int stamped_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  node *read = (node *)self;
  int value = read_number(self, KEY_VALUE);
  if (get(&read->stamp) != STAMPS + value) node_is_stamped(node_index(read));
  return value;
}
static int sum_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return read_number(self, KEY_VALUE) + read_number(self, KEY_OTHER);
}
static int near_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  node *next = read_next(self);
  return next ? read_number(&next->object, KEY_VALUE) : NOTHING;
}
static int far_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  node *next = read_next(self);
  if (next) next = read_next(&next->object);
  return next ? read_number(&next->object, KEY_VALUE) : NOTHING;
}

// Only the number of items is stored: each item is its index.
static size_t countOfItems_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return (size_t)get(&((node *)self)->items);
}
static int objectInItems_imp(kvo_object *self, const kvo_method *_cmd, size_t index) {
  (void)self, (void)_cmd;
  return (int)index;
}
static void insertItem_imp(kvo_object *self, const kvo_method *_cmd, int item, size_t index) {
  (void)_cmd, (void)item, (void)index;
  add_item(self);
}
// Two threads may both have found the last item. The second one removes nothing.
static void removeItem_imp(kvo_object *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd, (void)index;
  node *stored = (node *)self;
  int count = get(&stored->items);
  while (count > 0 && !__atomic_compare_exchange_n(&stored->items, &count, count - 1, false,
                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {}
  if (count > 0) node_is_stored(node_index(stored), KEY_ITEMS, -1);
}

static void observe_imp(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)_cmd;
  node_observes(self, object, key_path, change, context);
}

// MARK: The tracked key

typedef struct {
  kvo_reads *reads;
  const char *next, *value, *other;
} reader;

static void will_read(const reader *reader, node *node, const char *key) {
  if (reader->reads) kvo_reads_add(reader->reads, &node->object, key);
}

static int read_tracked(node *root, const reader *reader) {
  will_read(reader, root, reader->next);
  node *next = get_next(root);
  if (!next) return NOTHING;
  will_read(reader, next, reader->value);
  if (get(&next->value) % 2) {
    will_read(reader, next, reader->other);
    return ODD + get(&next->other);
  }
  will_read(reader, next, reader->next);
  node *last = get_next(next);
  if (!last) return EVEN;
  will_read(reader, last, reader->value);
  return EVEN + get(&last->value);
}

static reader reader_with(kvo_reads *reads) {
  return (reader){reads, kvo_key_intern("next"), kvo_key_intern("value"), kvo_key_intern("other")};
}

static kvo_status get_tracked(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)binding, (void)error;
  reader reader = reader_with(NULL);
  *value = kvo_value_int(read_tracked((node *)object, &reader));
  return KVO_OK;
}

static void track(kvo_object *object, const void *binding, kvo_reads *reads) {
  (void)binding;
  reader reader = reader_with(reads);
  int value = read_tracked((node *)object, &reader);
  kvo_value *answer = kvo_reads_result(reads);
  if (answer) *answer = kvo_value_int(value);
}

static void derive(kvo_class *cls, const char *key, kvo_imp imp, const char *path,
    const char *other_path) {
  kvo_class_add_method(cls, key, imp, KVO_GETTER(int), NULL, NULL);
  kvo_class_add_dependency(cls, key, path, NULL);
  if (other_path) kvo_class_add_dependency(cls, key, other_path, NULL);
}

static void setup(kvo_class *cls) {
  derive(cls, "sum", (kvo_imp)sum_imp, "value", "other");
  derive(cls, "stamped", (kvo_imp)stamped_imp, "value", "stamp");
  derive(cls, "near", (kvo_imp)near_imp, "next.value", NULL);
  derive(cls, "far", (kvo_imp)far_imp, "next.next.value", NULL);
  kvo_class_add_method(cls, "countOfItems", (kvo_imp)countOfItems_imp, KVO_GETTER(size_t), NULL,
      NULL);
  kvo_class_add_method(cls, "objectInItemsAtIndex:", (kvo_imp)objectInItems_imp,
      KVO_ENCODED("i@:Q"), NULL, NULL);
  kvo_class_add_method(cls, "insertObject:inItemsAtIndex:", (kvo_imp)insertItem_imp,
      KVO_ENCODED("v@:iQ"), NULL, NULL);
  kvo_class_add_method(cls, "removeObjectFromItemsAtIndex:", (kvo_imp)removeItem_imp,
      KVO_ENCODED("v@:Q"), NULL, NULL);
  kvo_class_add_method(cls, "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)observe_imp,
      KVO_HOOK, NULL, NULL);
  kvo_value number = kvo_value_int(0);
  const kvo_property_description tracked = {
      .key = "tracked", .type = number.type, .get = get_tracked, .track = track};
  kvo_class_add_property(cls, &tracked, NULL);
}

KVO_CLASS_IMPLEMENTATION(node, "Node", kvo_root_class, NODE_PROPERTIES, setup)

// MARK: The world

int first_value(int node, node_key key) {
  switch (key) {
  case KEY_VALUE: return 2 * node;
  case KEY_OTHER: return 10 * node;
  case KEY_STAMP: return STAMPS + 2 * node;
  default: return 2;
  }
}

void make_world(const int8_t next[NODES]) {
  for (int i = 0; i < NODES; i++) {
    nodes[i] = (node *)kvo_object_create(node_class());
    for (int key = 0; key < KEYS; key++)
      if (key != KEY_NEXT) *place_of(nodes[i], (node_key)key) = first_value(i, (node_key)key);
  }
  for (int i = 0; i < NODES; i++) nodes[i]->next = next[i] == NOWHERE ? NULL : nodes[next[i]];
}
