#include "shortage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"
#include "shortage_wards.h"

// The data of a run

void world_log(world *world, const char *format, ...) {
  size_t used = strlen(world->log);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(world->log + used, sizeof world->log - used, format, arguments);
  va_end(arguments);
}

kvo_object *world_object(world *world, int node) { return (kvo_object *)world->nodes[node]; }

// Wards come after the nodes.
static size_t index_of(const world *world, const kvo_object *object) {
  size_t i = 0, ward = 0;
  while (i < SHORTAGE_NODES && (kvo_object *)world->nodes[i] != object) i++;
  if (i < SHORTAGE_NODES) return i;
  while (ward < WARDS && (!world->wards[ward] || &world->wards[ward]->header != object)) ward++;
  return i + ward;
}

// Objects by number, because addresses differ between runs.
static void log_value(world *world, const char *label, const kvo_value *value) {
  char text[96];
  if (!value) return;
  kvo_object *object = kvo_value_get_object(value);
  kvo_value_describe(value, text, sizeof text);
  if (kvo_value_is_collection(value, NULL))
    world_log(world, " %s %zu elements", label, kvo_value_count(value));
  else if (object) world_log(world, " %s node %zu", label, index_of(world, object));
  else world_log(world, " %s %s", label, text);
}

void world_log_change(world *world, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  world_log(world, "%zu.%s %d%s", index_of(world, object), key_path, kvo_change_get_kind(change),
      kvo_change_is_prior(change) ? " prior" : "");
  log_value(world, "old", kvo_change_get_old(change));
  log_value(world, "new", kvo_change_get_new(change));
  world_log(world, "\n");
}

static void log_change(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  world_log_change(context, object, key_path, change);
}

static void log_watched(void *context, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *registered) {
  (void)level, (void)registered;
  log_change(context, object, key_path, change);
}

static void count_end(void *context) { ((world *)context)->ended++; }

kvo_status world_observe_object(world *world, kvo_object *object, const char *key_path,
    kvo_options options) {
  kvo_handle **handle = &world->handles[world->handle_count];
  kvo_status status = kvo_add_callback(object, key_path, options, log_change, world, count_end,
      handle, &world->error);
  if (!status) world->handle_count++, world->begun++;
  if (status && *handle) world_log(world, "a handle in spite of an error\n");
  return status;
}

kvo_status world_observe(world *world, int node, const char *key_path, kvo_options options) {
  return world_observe_object(world, world_object(world, node), key_path, options);
}

void world_release_handles(world *world) {
  while (world->handle_count) kvo_handle_release(world->handles[--world->handle_count]);
}

// Its class

static const char *scarce_shout(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((scarce *)self)->name;
}

static double scarce_total(kvo_object *self, const kvo_method *_cmd) {
  const graph_node *node = (graph_node *)self;
  (void)_cmd;
  return graph_node_value(node) + (node->next ? graph_node_value(node->next) : 0);
}

static scarce_span scarce_get_span(kvo_object *self, const kvo_method *_cmd) {
  scarce_span span;
  (void)_cmd;
  memcpy(&span, ((scarce *)self)->place, sizeof span);
  return span;
}

static void scarce_set_span(kvo_object *self, const kvo_method *_cmd, scarce_span span) {
  (void)_cmd;
  memcpy(((scarce *)self)->place, &span, sizeof span);
}

static const char *scarce_get_name(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((scarce *)self)->name;
}

static void scarce_set_name(kvo_object *self, const kvo_method *_cmd, const char *name) {
  if (!kvo_store_copied_string(&((scarce *)self)->name, name)) kvo_report_unset(self, _cmd);
}

static void affects_shout(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "name");
}

static void affects_total(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "value");
  kvo_key_paths_add(paths, "next.value");
}

static kvo_status validate_name(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    kvo_error *error) {
  (void)self, (void)_cmd, (void)error;
  return kvo_value_is_nil(value) ? KVO_VALIDATION_FAILED : KVO_OK;
}

static void scarce_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_copied_string(&((scarce *)self)->name, NULL);
}

#define SPAN_ENCODING "{span={location=dd}{location=dd}}"

static const kvo_class *base_class(void) {
  static kvo_class *cls;
  kvo_error error = {0};
  if (cls) return cls;
  cls = kvo_class_create("CScarce", graph_node_class(), sizeof(scarce), &error);
  require_ok(error.status, &error);
  require_method(cls, "name", (kvo_imp)scarce_get_name, KVO_GETTER(const char *));
  require_method(cls, "setName:", (kvo_imp)scarce_set_name, KVO_SETTER(const char *));
  require_method(cls, "span", (kvo_imp)scarce_get_span, KVO_GETTER_OF(scarce_span, SPAN_ENCODING));
  require_method(cls, "setSpan:", (kvo_imp)scarce_set_span,
      KVO_SETTER_OF(scarce_span, SPAN_ENCODING));
  require_method(cls, "shout", (kvo_imp)scarce_shout, KVO_GETTER(const char *));
  require_method(cls, "total", (kvo_imp)scarce_total, KVO_GETTER(double));
  require_class_method(cls, "keyPathsForValuesAffectingShout", (kvo_imp)affects_shout);
  require_class_method(cls, "keyPathsForValuesAffectingTotal", (kvo_imp)affects_total);
  require_hook(cls, "validateName:error:", (kvo_imp)validate_name);
  require_hook(cls, "dealloc", (kvo_imp)scarce_dealloc);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static int64_t runs;

static void make_world(world *world) {
  char name[32];
  kvo_error error = {0};
  *world = (struct world){0};
  snprintf(world->serial, sizeof world->serial, "%lld", (long long)++runs);
  snprintf(name, sizeof name, "CScarce%s", world->serial);
  world->cls = kvo_class_create(name, base_class(), sizeof(scarce), &error);
  require_ok(error.status, &error);
  require_ok(kvo_class_register(world->cls, &error), &error);
  for (int i = 0; i < SHORTAGE_NODES; i++) {
    watcher *made = (watcher *)kvo_object_create(world->cls);
    made->tracked.deaths = &world->deaths;
    made->sink = log_watched;
    made->sink_context = world;
    world->nodes[i] = (scarce *)made;
    ((graph_node *)made)->value = i;
    kvo_store_copied_string(&((scarce *)made)->name, (const char[]){'a' + (char)i, 0});
  }
  graph_node **nodes = (graph_node **)world->nodes;
  graph_node_setNext(nodes[0], nodes[1]);
  graph_node_setNext(nodes[1], nodes[2]);
  graph_node_store_items(nodes[0], nodes + 1, 2);
  graph_node_store_tags(nodes[0], nodes + 1, 2);
}

static void end_world(world *world) {
  world_release_handles(world);
  for (size_t i = 0; i < sizeof world->values / sizeof *world->values; i++)
    kvo_value_destroy(&world->values[i]);
  kvo_index_set_destroy(world->indexes);
  kvo_object_release((kvo_object *)world->collection);
  kvo_object_release((kvo_object *)world->proxy);
  for (int i = 0; i < SHORTAGE_NODES; i++)
    if (world->nodes[i]) kvo_object_release(world_object(world, i));
  world_end_wards(world);
  kvo_object_release((kvo_object *)world->shelf);
}

// The visible state

typedef struct {
  char text[8192];
} state;

static void add_registration(void *context, const kvo_registration_info *info) {
  state *state = context;
  size_t used = strlen(state->text);
  snprintf(state->text + used, sizeof state->text - used, "%s options %d callback %d context %p\n",
      info->key_path, info->options, info->is_callback, info->context);
}

static void add_node(world *world, int i, state *state) {
  const graph_node *node = (graph_node *)world->nodes[i];
  if (!node) return;
  kvo_visit_registrations(world_object(world, i), add_registration, state);
  size_t used = strlen(state->text);
  snprintf(state->text + used, sizeof state->text - used,
      "node %d: %s, value %g, name %s, next %zu, wares %p, %zu items, %zu tags, span %g\n", i,
      kvo_class_name(kvo_isa(world_object(world, i))), node->value, ((scarce *)node)->name,
      index_of(world, (kvo_object *)node->next), (void *)node->wares, node->items.count,
      node->tags.count, ((scarce *)node)->place[1].longitude);
}

static void add_ward(world *world, int i, state *state) {
  const ward *ward = world->wards[i];
  if (!ward) return;
  kvo_visit_registrations(&ward->header, add_registration, state);
  size_t used = strlen(state->text);
  snprintf(state->text + used, sizeof state->text - used,
      "ward %d: observed %d, level %g, name %s, next %zu, %zu in list, %zu in bag\n", i,
      kvo_binding_is_observed(&ward->header), ward->level, ward->name, index_of(world, ward->next),
      kvo_collection_count(ward->list), kvo_collection_count(ward->bag));
}

static void add_shelf(const shelf *shelf, state *state) {
  if (shelf) kvo_visit_registrations(&shelf->object, add_registration, state);
  for (size_t i = 0; shelf && i < shelf->count; i++) {
    size_t used = strlen(state->text);
    snprintf(state->text + used, sizeof state->text - used, "%d ", shelf->items[i]);
  }
}

static void search_from(world *world, state *state) {
  state->text[0] = 0;
  for (int i = 0; i < SHORTAGE_NODES; i++) add_node(world, i, state);
  for (int i = 0; i < WARDS; i++) add_ward(world, i, state);
  add_shelf(world->shelf, state);
}

// Running

static int misuses;
static char last_misuse[512];

int misuse_count(void) { return misuses; }

static void take_misuse(const char *message) {
  misuses++;
  snprintf(last_misuse, sizeof last_misuse, "%s", message);
}

// The log of the run with all memory.
typedef struct {
  char acted[8192], went_on[8192];
} expectation;

typedef struct {
  const scenario *scenario;
  const expectation *expected;
  int64_t at;
  int64_t failing; // so many allocations, one after the other
  int wrong;
  world world;
  state before, after;
} run;

static void complain(run *run, const char *what, const char *detail) {
  if (!run->wrong++)
    fprintf(stderr, "%s, %lld failing from allocation %lld on: %s%s\n", run->scenario->name,
        (long long)run->failing, (long long)run->at, what, detail);
}

static void check_error(run *run, kvo_status status) {
  const kvo_error *error = &run->world.error;
  if (status != KVO_NO_MEMORY) complain(run, "another error: ", kvo_status_name(status));
  if (error->status != status) complain(run, "the error has another status", "");
  if (!strcasestr(error->message, "memory")) complain(run, "no cause: ", error->message);
  const char *key = run->scenario->key;
  if (!key) return;
  if (!strstr(error->message, "CScarce")) complain(run, "no class: ", error->message);
  if (!strstr(error->message, key)) complain(run, "no key: ", error->message);
}

static void retry(run *run, kvo_status status) {
  check_error(run, status);
  search_from(&run->world, &run->after);
  if (strcmp(run->before.text, run->after.text))
    complain(run, "changed in spite of an error: ", run->after.text);
  if (run->world.log[0]) complain(run, "notified in spite of an error: ", run->world.log);
  run->world.log[0] = 0;
  status = run->scenario->act(&run->world);
  if (status) complain(run, "not again: ", run->world.error.message);
}

static void check_act(run *run, kvo_status status) {
  act_kind kind = run->scenario->kind;
  if (status && kind != ACT_MUST) retry(run, status);
  else if (status) complain(run, "an error: ", kvo_status_name(status));
  bool same = !strcmp(run->world.log, run->expected->acted);
  bool tells = kind == ACT_TELLS || kind == ACT_TELLS_OFTEN, excused = tells && misuses;
  if (strstr(run->world.log, "nil") && !strstr(run->expected->acted, "nil"))
    complain(run, "notified of what is not so: ", run->world.log);
  if (!same && !excused) complain(run, "acted otherwise: ", run->world.log);
  if (misuses > 1 && kind != ACT_TELLS_OFTEN)
    complain(run, "reported more than once: ", last_misuse);
  if (misuses && !tells) complain(run, "a report: ", last_misuse);
  if (misuses && (!strstr(last_misuse, "CScarce") || !strcasestr(last_misuse, "memory")))
    complain(run, "a report that says too little: ", last_misuse);
}

static void go_on(run *run) {
  run->world.log[0] = 0;
  misuses = 0;
  run->scenario->go_on(&run->world);
  if (strcmp(run->world.log, run->expected->went_on))
    complain(run, "went on otherwise: ", run->world.log);
  if (misuses) complain(run, "a report: ", last_misuse);
}

static void begin(world *world, const scenario *scenario) {
  make_world(world);
  if (scenario->set_up) scenario->set_up(world);
  world->log[0] = 0;
  misuses = 0;
}

static void end(run *run) {
  end_world(&run->world);
  if (run->world.ended != run->world.begun) complain(run, "registrations did not end", "");
  if (run->world.deaths.count != SHORTAGE_NODES) complain(run, "a node is left", "");
  if (run->world.ward_deaths.count % WARDS) complain(run, "a ward is left", "");
}

static void expect(const scenario *scenario, expectation *expected) {
  run run = {.scenario = scenario, .at = -1};
  begin(&run.world, scenario);
  if (scenario->act(&run.world)) complain(&run, "fails: ", run.world.error.message);
  strcpy(expected->acted, run.world.log);
  run.world.log[0] = 0;
  scenario->go_on(&run.world);
  strcpy(expected->went_on, run.world.log);
  if (misuses) complain(&run, "a report: ", last_misuse);
  end(&run);
}

// False once no allocation failed any more.
static bool try(run *run, fixture_shortage *result) {
  begin(&run->world, run->scenario);
  search_from(&run->world, &run->before);
  fixture_fail_allocations(run->at, run->failing);
  kvo_status status = run->scenario->act(&run->world);
  bool ran_out = fixture_memory_ran_out();
  fixture_limit_memory(-1);
  check_act(run, status);
  go_on(run);
  end(run);
  result->failures += ran_out;
  result->wrong += run->wrong > 0;
  return ran_out;
}

static void try_all(const scenario *scenario, int64_t failing, fixture_shortage *result) {
  expectation *expected = calloc(1, sizeof *expected);
  run *tried = calloc(1, sizeof *tried);
  if (!expected || !tried) abort();
  expect(scenario, expected);
  for (int64_t at = 0;; at++) {
    *tried = (run){.scenario = scenario, .expected = expected, .at = at, .failing = failing};
    if (!try(tried, result)) break;
  }
  free(tried);
  free(expected);
}

static const scenario_table *find_table(const char *group) {
  static const scenario_table *const tables[] = {&shortage_classes, &shortage_registration,
      &shortage_changes, &shortage_coding, &shortage_mutation, &shortage_removal,
      &shortage_diagnostics, &shortage_threads, &shortage_nesting, &shortage_bindings,
      &shortage_tracking, &shortage_proxies, &shortage_forks, &shortage_shelves};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (!strcmp(tables[i]->rows->group, group)) return tables[i];
  abort();
}

// A second failure may hit what handles the first one, and so on.
enum { MOST_FAILING = 4 };

fixture_shortage fixture_run_short_of_memory(const char *group) {
  const scenario_table *table = find_table(group);
  fixture_shortage result = {.scenarios = (int)table->count};
  kvo_set_misuse_handler(take_misuse);
  for (size_t i = 0; i < table->count; i++) {
    for (int64_t failing = 1; failing <= MOST_FAILING; failing++)
      try_all(&table->rows[i], failing, &result);
    try_all(&table->rows[i], INT64_MAX, &result);
  }
  if (table->finish) table->finish();
  kvo_set_misuse_handler(NULL);
  return result;
}
