// Key paths, made of words or as text, are read, set and observed on a small graph that changes. Each leads where the
// model says and errors give reasons. An observation notifies of changes, ends once, and leaves nothing behind.
#include "fuzz.h"
#include "graph_model.h"

#include <stdlib.h>
#include <string.h>

enum { NODES = 3, WORDS = 5, ROOM = 128, KNOWN = 128 };

static const char *const words[] = {"value", "extra", "quiet", "manual", "next", "other", "wares",
    "items", "tags", "total", "nextTotal", "both", "ringA", "circle", "grand", "sum", "loud",
    "hush", "far", "heir", "self", "none", "@count", "@sum", "@avg", "@min", "@max",
    "@unionOfObjects", "@distinctUnionOfObjects", "@unionOfArrays", "@distinctUnionOfArrays",
    "@unionOfSets", "@distinctUnionOfSets", "@none", "@", ""};

typedef struct run {
  fuzz_input input;
  char path[ROOM];
  graph_node *nodes[NODES]; ///< linked forwards only, so that they die
  kvo_options options;
  model_value before; ///< the path's value before the open change
  bool is_notified;   ///< whether the observer was called for it
  bool is_observed;
  size_t misuses; ///< reports before the observation
  int ended;
} run;

// Words with dots between them, or a few letters that make new words.
static void read_path(run *run) {
  size_t count = fuzz_below(&run->input, WORDS + 1), length = 0;
  if (!count) {
    size_t size = fuzz_below(&run->input, 8);
    for (; length < size; length++) run->path[length] = "aA.@_ \xff%"[fuzz_below(&run->input, 8)];
  }
  for (size_t i = 0; i < count; i++) {
    const char *word = words[fuzz_below(&run->input, sizeof words / sizeof *words)];
    if (i) run->path[length++] = '.';
    memcpy(run->path + length, word, strlen(word));
    length += strlen(word);
  }
  run->path[length] = 0;
}

static kvo_collection *collection_from(run *run, size_t first) {
  kvo_value elements[NODES];
  for (size_t i = first; i < NODES; i++)
    elements[i - first] = kvo_value_object((kvo_object *)run->nodes[i]);
  kvo_collection *made = kvo_collection_create(KVO_ARRAY, elements, NODES - first, NULL);
  for (size_t i = first; i < NODES; i++) kvo_value_destroy(&elements[i - first]);
  return made;
}

static void make_graph(run *run) {
  for (size_t i = 0; i < NODES; i++) {
    run->nodes[i] = (graph_node *)kvo_object_create(graph_node_class());
    FUZZ_REQUIRE(run->nodes[i]);
    run->nodes[i]->value = (double)i + 1;
  }
  graph_node_store_next(run->nodes[0], run->nodes[1]);
  graph_node_store_next(run->nodes[1], run->nodes[2]);
  graph_node_store_items(run->nodes[0], run->nodes + 1, NODES - 1);
  graph_node_store_tags(run->nodes[1], run->nodes + 2, 1);
  kvo_collection *wares = collection_from(run, 1);
  graph_node_store_wares(run->nodes[0], wares);
  kvo_object_release((kvo_object *)wares);
}

static void use(const kvo_value *value) {
  char text[32];
  if (value) kvo_value_describe(value, text, sizeof text);
}

static model_value read_model(const run *run) { return model_read(run->nodes[0], run->path); }

static bool is_short(const run *run) { return fuzz_misuses != run->misuses; }

// An unreadable value is delivered as nil.
static bool fits(const model_value *expected, const kvo_value *notified) {
  return expected->kind == MODEL_ERROR ? kvo_value_is_nil(notified)
                                       : model_matches(expected, notified);
}

// A setting has the path's values before and after.
static void check_setting(const run *run, const kvo_change *change) {
  const kvo_value *old = kvo_change_get_old(change), *new = kvo_change_get_new(change);
  model_value after = read_model(run);
  FUZZ_REQUIRE(!old || (run->options & KVO_OLD && fits(&run->before, old)));
  FUZZ_REQUIRE(!new || (run->options & KVO_NEW && fits(&after, new)));
  FUZZ_REQUIRE(!new || !kvo_change_is_prior(change));
}

static void changed(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  run *run = context;
  FUZZ_REQUIRE(!run->ended);
  FUZZ_REQUIRE(object == &run->nodes[0]->watcher.tracked.object);
  FUZZ_REQUIRE(!strcmp(key_path, run->path));
  use(kvo_change_get_old(change));
  use(kvo_change_get_new(change));
  if (kvo_change_get_kind(change) == KVO_SETTING) check_setting(run, change);
  FUZZ_REQUIRE(!kvo_change_is_prior(change) || run->options & KVO_PRIOR);
  run->is_notified = run->is_notified || !kvo_change_is_prior(change);
}

static void ended(void *context) { ((run *)context)->ended++; }

static void read_value(run *run) {
  kvo_value value;
  kvo_error error = {0};
  kvo_status status =
      kvo_value_for_key_path((kvo_object *)run->nodes[0], run->path, &value, &error);
  model_value expected = read_model(run);
  bool is_broken = model_is_broken(run->nodes[0], run->path);
  if (status) {
    fuzz_check_error(status, &error);
    FUZZ_REQUIRE(kvo_value_is_nil(&value));
    FUZZ_REQUIRE(status == KVO_NO_MEMORY || expected.kind >= MODEL_ERROR);
    FUZZ_REQUIRE(status == KVO_NO_MEMORY || status == KVO_INVALID_KEY_PATH || !is_broken);
  } else {
    use(&value);
    FUZZ_REQUIRE(!is_broken);
    FUZZ_REQUIRE(model_matches(&expected, &value));
  }
  kvo_value_destroy(&value);
}

static void set_number(run *run) {
  kvo_value number = kvo_value_double(fuzz_byte(&run->input));
  kvo_error error = {0};
  kvo_object *object = (kvo_object *)run->nodes[0];
  kvo_status status = kvo_set_value_for_key_path(object, run->path, &number, &error);
  if (status) fuzz_check_error(status, &error);
  error = (kvo_error){0};
  status = kvo_validate_value(object, run->path, &number, &error);
  if (status) fuzz_check_error(status, &error);
  kvo_value_destroy(&number);
}

// Reads the elements of a proxy for the path's end.
static void read_proxy(run *run) {
  kvo_collection *proxy;
  kvo_error error = {0};
  kvo_object *object = (kvo_object *)run->nodes[0];
  kvo_status status = kvo_mutable_array_key_path(object, run->path, &proxy, &error);
  if (status) return fuzz_check_error(status, &error);
  kvo_collection *snapshot = kvo_collection_snapshot(proxy, NULL);
  kvo_object_release((kvo_object *)snapshot);
  kvo_object_release((kvo_object *)proxy);
}

// Keys derived from keys with silent setters do not notify.
static bool is_silent(const char *path) { return strstr(path, "quiet") || strstr(path, "loud"); }

static void begin(run *run) {
  run->before = read_model(run);
  run->is_notified = false;
}

// The path's observer must have been called if the path's value has changed.
static void end_change(const run *run) {
  model_value after = read_model(run);
  if (!run->is_observed || is_short(run) || is_silent(run->path)) return;
  if (run->before.kind >= MODEL_ERROR || after.kind >= MODEL_ERROR) return;
  FUZZ_REQUIRE(run->is_notified || model_equal(&run->before, &after));
}

static void change_items(run *run, graph_node *node, graph_node *later) {
  if (fuzz_below(&run->input, 2)) graph_node_insertItem(node, later, node->items.count);
  else if (node->items.count) graph_node_removeItem(node, 0);
}

static void change_tags(run *run, graph_node *node, graph_node *later) {
  if (fuzz_below(&run->input, 2)) graph_node_addTag(node, later);
  else graph_node_removeTag(node, later);
}

static void set_wares(run *run, graph_node *node, size_t first) {
  kvo_collection *wares = fuzz_below(&run->input, 2) ? collection_from(run, first) : NULL;
  graph_node_setWares(node, wares);
  kvo_object_release((kvo_object *)wares);
}

static void change(run *run) {
  size_t i = fuzz_below(&run->input, NODES - 1);
  size_t j = i + 1 + fuzz_below(&run->input, NODES - 1 - i);
  graph_node *node = run->nodes[i], *later = run->nodes[j];
  begin(run);
  switch (fuzz_below(&run->input, 10)) {
  case 0: graph_node_setValue(later, fuzz_byte(&run->input)); break;
  case 1: graph_node_setNext(node, fuzz_below(&run->input, 2) ? later : NULL); break;
  case 2: graph_node_setOther(node, fuzz_below(&run->input, 2) ? later : NULL); break;
  case 3: change_items(run, node, later); break;
  case 4: set_wares(run, node, j); break;
  case 5: graph_node_setManual(later, fuzz_byte(&run->input)); break;
  case 6: set_number(run); break;
  case 7: read_value(run); break;
  case 8: read_proxy(run); break;
  case 9: change_tags(run, node, later); break;
  }
  end_change(run);
}

// Ends the observation by its handle, or by the death of its root.
static void end(run *run, kvo_handle *handle) {
  bool by_death = fuzz_below(&run->input, 2);
  if (by_death) {
    kvo_object_release((kvo_object *)run->nodes[0]);
    FUZZ_REQUIRE(!handle || !kvo_handle_is_valid(handle));
  }
  kvo_handle_release(handle);
  FUZZ_REQUIRE(run->ended == (handle ? 1 : 0));
  for (size_t i = by_death; i < NODES; i++) {
    kvo_object *node = (kvo_object *)run->nodes[i];
    FUZZ_REQUIRE(kvo_isa(node) == graph_node_class());
  }
  for (size_t i = by_death; i < NODES; i++) kvo_object_release((kvo_object *)run->nodes[i]);
}

static kvo_handle *observe(run *run) {
  kvo_handle *handle = NULL;
  kvo_error error = {0};
  begin(run);
  kvo_status status = kvo_add_callback((kvo_object *)run->nodes[0], run->path, run->options,
      changed, run, ended, &handle, &error);
  fuzz_restore_memory();
  if (status) fuzz_check_error(status, &error);
  FUZZ_REQUIRE(!status == (handle != NULL));
  FUZZ_REQUIRE(status || model_is_whole(run->path));
  FUZZ_REQUIRE(status || !model_maps(run->nodes[0], run->path));
  FUZZ_REQUIRE(status || run->is_notified == !!(run->options & KVO_INITIAL));
  run->is_observed = !status;
  return handle;
}

static void run_all(fuzz_input input, bool may_limit) {
  run run = {.input = input, .misuses = fuzz_misuses};
  run.options = (kvo_options)fuzz_below(&run.input, 32);
  size_t allocations = fuzz_below(&run.input, KNOWN);
  make_graph(&run);
  read_path(&run);
  if (may_limit && allocations) fuzz_limit_memory((uint8_t)(allocations - 1));
  read_value(&run);
  kvo_handle *handle = observe(&run);
  while (run.input.left) change(&run);
  end(&run, handle);
}

// If the second byte says so, the input runs twice, with memory out only in the second run. Permanent caches are
// filled then, whatever inputs came before.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  bool is_known = size > 1 && data[1] >= KNOWN;
  if (is_known) run_all((fuzz_input){data, size}, false);
  run_all((fuzz_input){data, size}, true);
  return 0;
}
