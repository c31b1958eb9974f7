// A program is a sequence of steps: begin a pair or an access, end an open one, set a property, or store into it
// during an open change. An observer knows the value that its last call carried. This is compared whenever no
// change is open.
//
// Programs avoid what notifies no observer at all: stores in a change that begins where the observer's path does not
// lead yet (D7), or inside the setter of a key derived from it (D6), and that ends where the path leads. So no path
// moves to an object with such a change, none begins at an object that a path is about to reach, and none begins
// while `sum` is being set.
#include "fixture_nested_changes.h"

#include <stdlib.h>

#include "require.h"

typedef struct knot {
  kvo_object object;
  struct knot *KVO_NULLABLE next; // only used for the first object
  long value, other;
} knot;

enum { VALUE, OTHER, NEXT, SUM, KEYS };
static const char *const keys[KEYS] = {"value", "other", "next", "sum"};

typedef enum { PAIR, JOINED_PAIR, ACCESS, SETTING } manner;

typedef struct opened {
  int knot, key;
  manner manner;
  bool is_at_end; // of the path, when it began
  kvo_frame *KVO_NULLABLE frame;
} opened;

typedef struct moving_reads {
  const char *path;
  long (*read)(void);
  bool is_distinct;
  long known;
} moving_reads;

enum { KNOTS = 3, MOST_OPEN = 6, SIGHTS = 12, DEEPEST = 2 };

static _Thread_local struct {
  uint64_t random;
  knot *knots[KNOTS], *end; // where the observed path leads
  opened open[MOST_OPEN + 2 * DEEPEST + 2];
  int open_count, depth;
  moving_reads sights[SIGHTS];
  int moving_reads_count;
} tangle;

// MARK: The class

static long sum_of(const knot *knot) {
  return knot->value + knot->other + (knot->next ? knot->next->value : 0);
}

static bool is_under_way(int index, int key, manner manner) {
  for (int i = 0; i < tangle.open_count; i++) {
    const opened *open = &tangle.open[i];
    if (open->knot == index && open->key == key && open->manner == manner) return true;
  }
  return false;
}

static long knot_sum_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return sum_of((knot *)self);
}

static knot *knot_next_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((knot *)self)->next;
}

static void knot_setNext_imp(kvo_object *self, const kvo_method *_cmd, knot *next) {
  (void)_cmd;
  ((knot *)self)->next = next;
  if (!is_under_way(0, NEXT, ACCESS)) tangle.end = next;
}

static void knot_setSum_imp(kvo_object *self, const kvo_method *_cmd, long sum);

#define KNOT_PROPERTIES(PROPERTY)                 \
  PROPERTY(knot, knot *, next, Next, CUSTOM, "@") \
  PROPERTY(knot, long, value, Value, ASSIGN)      \
  PROPERTY(knot, long, other, Other, ASSIGN)      \
  PROPERTY(knot, long, sum, Sum, CUSTOM)

static void add_dependencies(kvo_class *cls) {
  static const char *const paths[] = {"value", "other", "next.value"};
  for (int i = 0; i < 3; i++)
    if (kvo_class_add_dependency(cls, "sum", paths[i], NULL)) abort();
}

KVO_CLASS_INTERFACE(knot, KNOT_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(knot, "CKnot", kvo_root_class, KNOT_PROPERTIES, add_dependencies)

static void knot_setSum_imp(kvo_object *self, const kvo_method *_cmd, long sum) {
  (void)_cmd;
  knot *me = (knot *)self;
  knot_setValue(me, sum - (sum_of(me) - me->value));
}

// MARK: What is observed

static long read_value(void) { return tangle.knots[0]->value; }
static long read_other(void) { return tangle.knots[0]->other; }
static long read_sum(void) { return sum_of(tangle.knots[0]); }
static long read_next_value(void) { return tangle.knots[0]->next->value; }
static long read_next_sum(void) { return sum_of(tangle.knots[0]->next); }

static uint32_t draw(uint32_t bound) {
  tangle.random += 0x9E3779B97F4A7C15u;
  uint64_t mixed = (tangle.random ^ (tangle.random >> 30)) * 0xBF58476D1CE4E5B9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
  return (uint32_t)((mixed ^ (mixed >> 31)) >> 32) % bound;
}

static void step(void);

static void see(void *context, kvo_object *object, const char *key_path, const kvo_change *change) {
  (void)object, (void)key_path;
  moving_reads *seen = context;
  seen->known = (long)kvo_value_get_int(kvo_change_get_new(change));
  if (tangle.depth == DEEPEST || draw(4)) return;
  tangle.depth++;
  step();
  tangle.depth--;
}

static moving_reads *add_sight(const char *path, long (*read)(void), bool is_distinct) {
  moving_reads *added = &tangle.sights[tangle.moving_reads_count++];
  *added = (moving_reads){path, read, is_distinct, read()};
  return added;
}

static void observe(const char *path, long (*read)(void), bool is_distinct) {
  kvo_options options = KVO_NEW | (is_distinct ? KVO_DISTINCT : 0) | (draw(2) ? KVO_OLD : 0);
  moving_reads *added = add_sight(path, read, is_distinct);
  if (kvo_add_callback(&tangle.knots[0]->object, path, options, see, added, NULL, NULL, NULL))
    abort();
}

static void observe_token(kvo_handle **handle) {
  static const char *const both[] = {"value", "sum"};
  moving_reads *added = add_sight("value", read_value, true);
  add_sight("sum", read_sum, true);
  if (kvo_add_callback_for_keys(&tangle.knots[0]->object, both, 2, KVO_NEW | KVO_DISTINCT, see,
          added, sizeof *added, NULL, handle, NULL))
    abort();
}

static void observe_all(nested_changes_way way, kvo_handle **handle) {
  bool is_among = way == NESTED_CHANGES_AMONG || draw(2);
  if (way == NESTED_CHANGES_ALONE) {
    observe("other", read_other, true);
    return;
  }
  if (is_among) observe("value", read_value, false);
  if (way == NESTED_CHANGES_TOKENS) observe_token(handle);
  else observe("value", read_value, true);
  if (way == NESTED_CHANGES_AMONG) observe("other", read_other, true);
  if (way != NESTED_CHANGES_PATHS) return;
  if (draw(2)) observe("sum", read_sum, true);
  if (is_among) observe("next.value", read_next_value, false);
  observe("next.value", read_next_value, true);
  if (draw(2)) observe("next.sum", read_next_sum, true);
}

// MARK: Steps

static bool is_at_end(int index) { return index == 0 || tangle.knots[index] == tangle.end; }

static bool may_begin(int index) {
  bool is_about_to_be = tangle.knots[0]->next == tangle.knots[index] && !is_at_end(index);
  for (int i = 0; i < KNOTS; i++)
    if (is_under_way(i, SUM, ACCESS) || is_under_way(i, SUM, SETTING)) return false;
  return tangle.open_count < MOST_OPEN && !is_about_to_be;
}

static void add_open(int index, int key, manner manner, kvo_frame *frame) {
  tangle.open[tangle.open_count++] = (opened){index, key, manner, is_at_end(index), frame};
}

static void remove_open(int place) {
  tangle.open_count--;
  for (int i = place; i < tangle.open_count; i++) tangle.open[i] = tangle.open[i + 1];
}

static void begin_pair(int index, int key) {
  bool joins = is_under_way(index, key, ACCESS) || is_under_way(index, key, SETTING);
  add_open(index, key, joins ? JOINED_PAIR : PAIR, NULL);
  kvo_will_change(&tangle.knots[index]->object, keys[key]);
}

static void begin_access(int index, int key) {
  kvo_frame *frame =
      kvo_stored_property_will_change_key(tangle.knots[index], kvo_key_intern(keys[key]));
  if (frame) add_open(index, key, ACCESS, frame);
}

// If several pairs for one key are open, the last opened ends first.
static int find_to_end(int place) {
  const opened found = tangle.open[place];
  if (found.frame) return place;
  for (int i = tangle.open_count - 1; i > place; i--)
    if (!tangle.open[i].frame && tangle.open[i].manner != SETTING &&
        tangle.open[i].knot == found.knot && tangle.open[i].key == found.key)
      return i;
  return place;
}

static void end(int place) {
  if (tangle.open[place].manner == SETTING) return;
  place = find_to_end(place);
  const opened ended = tangle.open[place];
  remove_open(place);
  if (ended.key == NEXT && ended.manner != JOINED_PAIR) tangle.end = tangle.knots[0]->next;
  if (ended.frame) kvo_stored_property_did_change(ended.frame);
  else kvo_did_change(&tangle.knots[ended.knot]->object, keys[ended.key]);
}

static knot *draw_next(void) {
  int index = 1 + (int)draw(KNOTS - 1);
  for (int i = 0; i < tangle.open_count; i++)
    if (tangle.open[i].knot == index && !tangle.open[i].is_at_end) return tangle.knots[0]->next;
  return tangle.knots[index];
}

static void set(int index, int key) {
  knot *knot = tangle.knots[index];
  int place = tangle.open_count;
  add_open(index, key, SETTING, NULL);
  switch (key) {
  case VALUE: knot_setValue(knot, draw(2)); break;
  case OTHER: knot_setOther(knot, draw(2)); break;
  case NEXT: knot_setNext(knot, draw_next()); break;
  default: knot_setSum(knot, draw(3));
  }
  // Others below it may have ended, and others above it begun.
  while (place >= tangle.open_count || tangle.open[place].manner != SETTING) place--;
  remove_open(place);
}

static void store(int index, int key) {
  if (!is_under_way(index, key, PAIR) && !is_under_way(index, key, ACCESS)) return;
  knot *knot = tangle.knots[index];
  if (key == VALUE) knot->value = draw(2);
  if (key == OTHER) knot->other = draw(2);
  if (key == NEXT) knot->next = draw_next();
}

static void step(void) {
  int index = draw(2) ? (int)draw(KNOTS) : 0, key = draw(2) ? (int)draw(KEYS) : OTHER;
  if (key == NEXT) index = 0;
  switch (draw(8)) {
  case 0:
    if (may_begin(index)) begin_pair(index, key);
    break;
  case 1:
    if (may_begin(index)) begin_access(index, key);
    break;
  case 2:
    if (tangle.open_count) end((int)draw((uint32_t)tangle.open_count));
    break;
  case 3: set(index, key); break;
  default: store(index, key);
  }
}

// MARK: The end

static const char *find_untold(void) {
  for (int i = 0; i < tangle.moving_reads_count; i++) {
    const moving_reads *moving_reads = &tangle.sights[i];
    if (moving_reads->is_distinct && moving_reads->known != moving_reads->read())
      return moving_reads->path;
  }
  return NULL;
}

static const char *run(int steps) {
  const char *untold = NULL;
  while (steps-- && !untold) {
    step();
    if (!tangle.open_count) untold = find_untold();
  }
  while (tangle.open_count) end((int)draw((uint32_t)tangle.open_count));
  return untold ? untold : find_untold();
}

const char *nested_changes_find_missed(nested_changes_way way, uint64_t seed, int steps) {
  kvo_handle *handle = NULL;
  tangle.random = seed;
  tangle.moving_reads_count = tangle.depth = 0;
  for (int i = 0; i < KNOTS; i++) tangle.knots[i] = (knot *)kvo_object_create(knot_class());
  tangle.end = tangle.knots[0]->next = tangle.knots[1];
  observe_all(way, &handle);
  const char *untold = run(steps);
  kvo_handle_release(handle);
  for (int i = 0; i < KNOTS; i++) kvo_object_release(&tangle.knots[i]->object);
  return untold;
}
