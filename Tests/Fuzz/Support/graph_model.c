#include "graph_model.h"

#include <string.h>

enum { TERMS = 2 };

// The dependencies of fixture_graph. A derived number is the sum of its sources, with nil as 0; a derived link is the
// first of its sources that is not nil.
typedef struct key_description {
  const char *name;
  model_kind kind;
  const char *reads[TERMS];
  const char *affecting[TERMS];
  bool is_silent;
} key_description;

#define AFFECTED_BY_WHAT_IS_READ(...) \
  {__VA_ARGS__}, { __VA_ARGS__ }

static const key_description keys[] = {
    {.name = "value", .kind = MODEL_NUMBER},
    {.name = "extra", .kind = MODEL_NUMBER},
    {.name = "quiet", .kind = MODEL_NUMBER, .is_silent = true},
    {.name = "manual", .kind = MODEL_NUMBER, .is_silent = true},
    {.name = "next", .kind = MODEL_NODE},
    {.name = "other", .kind = MODEL_NODE},
    {.name = "wares", .kind = MODEL_ARRAY},
    {.name = "items", .kind = MODEL_ARRAY},
    {.name = "tags", .kind = MODEL_SET},
    {"total", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("value", "extra"), false},
    {"nextTotal", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("next.total"), false},
    {"both", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("next.value", "other.value"), false},
    {"ringA", MODEL_NUMBER, {"value", "extra"}, {"ringB", "value"}, false},
    {"ringB", MODEL_NUMBER, {"value", "extra"}, {"ringA", "extra"}, false},
    {"circle", MODEL_NUMBER, {"value", "next.value"}, {"value", "next.circle"}, false},
    {"grand", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("nextTotal", "total"), false},
    {"sum", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("items.@sum.value"), false},
    {"loud", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("quiet"), false},
    {"hush", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("value"), true},
    {"heir", MODEL_NODE, AFFECTED_BY_WHAT_IS_READ("next", "other"), false},
    {"far", MODEL_NUMBER, AFFECTED_BY_WHAT_IS_READ("next.next.value"), false},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const key_description *find_key(const char *name, size_t length) {
  for (size_t i = 0; i < KEYS; i++)
    if (strlen(keys[i].name) == length && !memcmp(keys[i].name, name, length)) return &keys[i];
  return NULL;
}

static const key_description *key_named(const char *name) { return find_key(name, strlen(name)); }
static size_t length_of_component(const char *path) { return strcspn(path, "."); }

// The part of the path after its first component, or "".
static const char *behind(const char *path) {
  const char *end = path + length_of_component(path);
  return *end ? end + 1 : end;
}

static bool is_named(const char *path, const char *component) {
  return length_of_component(path) == strlen(component) &&
         !strncmp(path, component, strlen(component));
}

// MARK: Values

static model_value number(double number) {
  return (model_value){.kind = MODEL_NUMBER, .number = number};
}

model_value model_of_node(graph_node *node) {
  model_value value = {.kind = node ? MODEL_NODE : MODEL_NIL};
  if (node) value.nodes[value.count++] = node;
  return value;
}

static void append(model_value *list, graph_node *node) {
  if (list->count == MODEL_ROOM) list->kind = MODEL_UNKNOWN;
  else list->nodes[list->count++] = node;
}

model_value model_of_collection(kvo_collection *collection) {
  model_value list = {.kind = MODEL_NIL};
  if (!collection) return list;
  list.kind = kvo_collection_get_kind(collection) == KVO_SET ? MODEL_SET : MODEL_ARRAY;
  for (size_t i = 0; i < kvo_collection_count(collection); i++) {
    kvo_value element;
    if (kvo_collection_get(collection, i, &element, NULL)) list.kind = MODEL_UNKNOWN;
    else append(&list, (graph_node *)kvo_value_get_object(&element));
    kvo_value_destroy(&element);
  }
  return list;
}

static model_value of_list(model_kind kind, const graph_list *nodes) {
  model_value list = {.kind = kind};
  for (size_t i = 0; i < nodes->count; i++) append(&list, nodes->nodes[i]);
  return list;
}

static bool is_collection(const model_value *value) {
  return value->kind == MODEL_ARRAY || value->kind == MODEL_SET;
}

static bool has(const model_value *list, const graph_node *node) {
  for (size_t i = 0; i < list->count; i++)
    if (list->nodes[i] == node) return true;
  return false;
}

model_value model_filter(const model_value *all, const model_value *others, bool wanted) {
  model_value chosen = {.kind = others->kind == MODEL_UNKNOWN ? MODEL_UNKNOWN : all->kind};
  for (size_t i = 0; i < all->count; i++)
    if (has(others, all->nodes[i]) == wanted) append(&chosen, all->nodes[i]);
  return chosen;
}

bool model_equal(const model_value *a, const model_value *b) {
  if (a->kind != b->kind || a->count != b->count || a->number != b->number) return false;
  for (size_t i = 0; i < a->count; i++)
    if (a->kind == MODEL_SET ? !has(b, a->nodes[i]) : a->nodes[i] != b->nodes[i]) return false;
  return true;
}

static bool matches_collection(const model_value *expected, const kvo_value *value) {
  kvo_collection_kind kind;
  if (!kvo_value_is_collection(value, &kind)) return false;
  if ((kind == KVO_SET) != (expected->kind == MODEL_SET)) return false;
  model_value found = {.kind = expected->kind};
  for (size_t i = 0; i < kvo_value_count(value); i++) {
    kvo_value element;
    if (kvo_value_element(value, i, &element)) return true;
    append(&found, (graph_node *)kvo_value_get_object(&element));
    kvo_value_destroy(&element);
  }
  return model_equal(expected, &found);
}

static bool is_integer(kvo_kind kind) { return kind == KVO_KIND_INT64 || kind == KVO_KIND_UINT64; }

bool model_matches(const model_value *expected, const kvo_value *value) {
  switch (expected->kind) {
  case MODEL_UNKNOWN: return true;
  case MODEL_ERROR: return false;
  case MODEL_NIL: return kvo_value_is_nil(value);
  case MODEL_NUMBER:
    return !kvo_value_is_nil(value) && !kvo_value_get_object(value) &&
           kvo_value_get_double(value) == expected->number &&
           (!expected->is_integer || is_integer(value->type->kind));
  case MODEL_NODE: return kvo_value_get_object(value) == (kvo_object *)expected->nodes[0];
  case MODEL_ARRAY:
  case MODEL_SET: return matches_collection(expected, value);
  }
  return false;
}

// MARK: Reading

static model_value read_stored(const graph_node *node, const char *key) {
  if (is_named(key, "value")) return number(node->value);
  if (is_named(key, "extra")) return number(node->extra);
  if (is_named(key, "quiet")) return number(node->quiet);
  if (is_named(key, "manual")) return number(node->manual);
  if (is_named(key, "next")) return model_of_node(node->next);
  if (is_named(key, "other")) return model_of_node(node->other);
  if (is_named(key, "wares")) return model_of_collection(node->wares);
  return is_named(key, "items") ? of_list(MODEL_ARRAY, &node->items)
                                : of_list(MODEL_SET, &node->tags);
}

static model_value read_dependent_key(graph_node *node, const key_description *key) {
  model_value sum = number(0);
  for (size_t i = 0; i < TERMS && key->reads[i]; i++) {
    model_value term = model_read(node, key->reads[i]);
    if (key->kind == MODEL_NUMBER) sum.number += term.number;
    else if (term.kind != MODEL_NIL) return term;
  }
  return key->kind == MODEL_NUMBER ? sum : model_of_node(NULL);
}

static const model_value unknown = {.kind = MODEL_UNKNOWN}, error = {.kind = MODEL_ERROR};

static model_value read_key(graph_node *node, const char *path) {
  const key_description *key = find_key(path, length_of_component(path));
  if (is_named(path, "self")) return model_of_node(node);
  if (!key) return error;
  return key->reads[0] ? read_dependent_key(node, key) : read_stored(node, path);
}

// A key read on a collection maps over its elements. A model value can hold only one number.
static model_value map(const model_value *list, const char *path) {
  const key_description *key = find_key(path, length_of_component(path));
  model_value mapped = {.kind = key && key->kind == MODEL_NODE ? list->kind : MODEL_UNKNOWN};
  for (size_t i = 0; i < list->count && mapped.kind != MODEL_UNKNOWN; i++) {
    model_value value = model_of_node(NULL);
    if (list->nodes[i]) value = read_key(list->nodes[i], path);
    if (list->kind == MODEL_ARRAY || !has(&mapped, value.nodes[0])) append(&mapped, value.nodes[0]);
  }
  return mapped;
}

// MARK: Operators

static model_value extreme(const model_value *list, bool is_least, const char *path) {
  model_value result = model_of_node(NULL);
  for (size_t i = 0; i < list->count; i++) {
    model_value value = model_read(list->nodes[i], path);
    if (value.kind == MODEL_NIL) continue;
    if (value.kind != MODEL_NUMBER) return unknown;
    if (!result.kind || (is_least ? value.number < result.number : value.number > result.number))
      result = value;
  }
  return result;
}

static model_value sum(const model_value *list, const char *path) {
  model_value result = number(0);
  result.is_integer = true;
  for (size_t i = 0; i < list->count; i++) {
    model_value value = model_read(list->nodes[i], path);
    if (value.kind != MODEL_NIL && value.kind != MODEL_NUMBER) return unknown;
    result.number += value.number;
    result.is_integer = result.is_integer && (value.is_integer || value.kind == MODEL_NIL);
  }
  return result;
}

static model_value average(const model_value *list, const char *path) {
  model_value result = sum(list, path);
  if (list->count) result.number /= (double)list->count;
  result.is_integer = false;
  return result;
}

// Nil is an error. A union over a set has no order.
static model_value unite(const model_value *list, bool is_distinct, const char *path) {
  bool is_set = list->kind == MODEL_SET;
  model_value result = {.kind = is_set && is_distinct ? MODEL_SET : MODEL_ARRAY};
  if (is_set && !is_distinct && list->count > 1) return unknown;
  for (size_t i = 0; i < list->count; i++) {
    model_value value = model_read(list->nodes[i], path);
    if (value.kind == MODEL_NIL) return error;
    if (value.kind != MODEL_NODE) return unknown;
    if (!is_distinct || !has(&result, value.nodes[0])) append(&result, value.nodes[0]);
  }
  return result;
}

static model_value combine(const model_value *list, const char *operator, const char *path) {
  if (is_named(operator, "@sum")) return sum(list, path);
  if (is_named(operator, "@avg")) return average(list, path);
  if (is_named(operator, "@min")) return extreme(list, true, path);
  if (is_named(operator, "@max")) return extreme(list, false, path);
  if (is_named(operator, "@unionOfObjects")) return unite(list, false, path);
  if (is_named(operator, "@distinctUnionOfObjects")) return unite(list, true, path);
  return unknown;
}

static model_value read_operator(const model_value *value, const char *path) {
  model_value result = unknown;
  if (value->kind == MODEL_NIL) return *value;
  if (!is_collection(value) || has(value, NULL)) return unknown;
  if (is_named(path, "@count")) {
    result = number((double)value->count);
    result.is_integer = true;
  } else if (*behind(path)) {
    result = combine(value, path, behind(path));
  }
  return result;
}

bool model_is_whole(const char *path) {
  size_t length = strlen(path);
  return length && *path != '.' && path[length - 1] != '.' && !strstr(path, "..");
}

// Whether the path has an unknown operator, or one without its key path.
static bool has_odd_operator(const char *path) {
  static const char *const known[] = {
      "@count", "@sum", "@avg", "@min", "@max", "@unionOfObjects", "@distinctUnionOfObjects"};
  for (; *path; path = behind(path)) {
    size_t i = 0, count = sizeof known / sizeof *known;
    while (i < count && !is_named(path, known[i])) i++;
    if (*path == '@' && (i == count || (i && !*behind(path)))) return true;
  }
  return false;
}

static model_value read(graph_node *node, const char *path, const char *end) {
  model_value value = model_of_node(node);
  if (!model_is_whole(path) || has_odd_operator(path)) return unknown;
  for (; path < end; path = behind(path)) {
    if (*path == '@') return read_operator(&value, path);
    if (value.kind == MODEL_NIL) return value;
    if (is_collection(&value)) value = map(&value, path);
    else if (value.kind == MODEL_NODE) value = read_key(value.nodes[0], path);
    else return value.kind == MODEL_ERROR ? error : unknown;
  }
  return value;
}

model_value model_read(graph_node *node, const char *path) {
  return read(node, path, path + strlen(path));
}

model_value model_read_owner(graph_node *node, const char *path) {
  const char *last = strrchr(path, '.');
  return read(node, path, last ? last : path);
}

bool model_is_broken(graph_node *node, const char *path) {
  model_value value = model_of_node(node);
  while (value.kind == MODEL_NODE && *path && length_of_component(path)) {
    value = read_key(value.nodes[0], path);
    path += length_of_component(path);
    if (!*path) return false;
    path++;
  }
  return value.kind == MODEL_NODE && !length_of_component(path);
}

bool model_maps(graph_node *node, const char *path) {
  model_value value = model_of_node(node);
  for (; *path && value.kind == MODEL_NODE; path = behind(path))
    value = read_key(value.nodes[0], path);
  while (is_named(path, "self")) path = behind(path);
  return is_collection(&value) && *path && *path != '@';
}

// MARK: Reachability

// The derived keys visited so far: a key that depends on itself leads nowhere.
typedef struct dependent {
  const graph_node *node;
  const key_description *key;
  const struct dependent *outer;
} dependent;

typedef struct target {
  const graph_node *node;
  const key_description *key;
  const model_place *open; // no path goes on from these
  size_t open_count;
} target;

static bool reaches(graph_node *node, const char *path, target target, const dependent *outer);

static bool depends(graph_node *node, const key_description *key, target target,
    const dependent *outer) {
  dependent here = {node, key, outer};
  for (; outer; outer = outer->outer)
    if (outer->node == node && outer->key == key) return false;
  for (size_t i = 0; i < TERMS && key->affecting[i]; i++)
    if (reaches(node, key->affecting[i], target, &here)) return true;
  return false;
}

static bool leads(const model_value *value, const char *path, target target,
    const dependent *outer) {
  if (*path == '@') path = is_named(path, "@count") ? "" : behind(path);
  if (!*path) return false;
  for (size_t i = 0; i < value->count; i++)
    if (reaches(value->nodes[i], path, target, outer)) return true;
  return false;
}

// Whether the key is an open one, or depends on one.
static bool is_open(graph_node *node, const key_description *key, target target) {
  for (size_t i = 0; i < target.open_count; i++) {
    const key_description *open = key_named(target.open[i].key);
    struct target place = {.node = target.open[i].node, .key = open};
    if ((node == place.node && key == open) || depends(node, key, place, NULL)) return true;
  }
  return false;
}

static bool reaches(graph_node *node, const char *path, target target, const dependent *outer) {
  const key_description *key = find_key(path, length_of_component(path));
  if (!key) return false;
  if (node == target.node && key == target.key) return true;
  if (depends(node, key, target, outer)) return true;
  if (!*behind(path) || is_open(node, key, target)) return false;
  model_value value = read_key(node, path);
  return leads(&value, behind(path), target, outer);
}

bool model_reaches_past(graph_node *root, const char *path, model_place place,
    const model_place *open, size_t open_count) {
  return reaches(root, path, (target){place.node, key_named(place.key), open, open_count}, NULL);
}

bool model_reaches(graph_node *root, const char *path, const graph_node *node, const char *key) {
  return model_reaches_past(root, path, (model_place){node, key}, NULL, 0);
}

// MARK: Keys

bool model_leads_on(const char *key) { return key_named(key)->kind != MODEL_NUMBER; }
bool model_is_automatic(const char *key) { return !key_named(key)->is_silent; }

bool model_is_stored_number(const char *name) {
  const key_description *key = key_named(name);
  return key && key->kind == MODEL_NUMBER && !key->reads[0];
}

static bool is_affected(const key_description *key, const char *by) {
  for (size_t i = 0; i < TERMS && key->affecting[i]; i++)
    if (!strcmp(key->affecting[i], by)) return true;
  return false;
}

// The number of dependencies between one key and another.
static int level(const char *key, const char *affected, int depth) {
  int least = MODEL_UNRANKED;
  if (!strcmp(key, affected)) return depth;
  for (size_t i = 0; i < KEYS && depth < 4; i++) {
    if (!is_affected(&keys[i], key)) continue;
    int found = level(keys[i].name, affected, depth + 1);
    if (found < least) least = found;
  }
  return least;
}

int model_rank(const char *key, const char *affected) {
  int depth = key_named(affected) ? level(key, affected, 0) : MODEL_UNRANKED, before = 0;
  if (depth == MODEL_UNRANKED) return MODEL_UNRANKED;
  for (size_t i = 0; i < KEYS; i++) before += strcmp(keys[i].name, affected) < 0;
  return depth * KEYS + before;
}
