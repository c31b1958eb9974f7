// Walks a key path before it is registered, so that no path is registered that can't be followed. Every key along the
// current path must exist, collections need an operator, and the path can't continue after a value that is not an
// object (C6), unless it is in a dictionary, which may contain an object later (B14).
//
// Every value read here is read again when its node is in place (node_resolution.c), because a setter may run in
// between. Placing the nodes first and refusing afterwards would need only one reading. But then another thread's
// change might call an observer whose registration fails, and whose caller may free the observer's context.
//
// Reading calls the program's code, which may throw, so the values that the walk holds are destroyed in either case.
#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "coding/kvo_get_key_path.h"
#include "graph/kvo_graph.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

// A C pointer leads to an object only if its encoding says so.
static const char *path_walk_advice(const kvo_type *type) {
  bool is_plain = type && type->kind == KVO_KIND_POINTER;
  return is_plain
             ? ": a property of object type that is declared with CUSTOM, ASSIGN or READONLY needs the encoding \"@\""
             : "";
}

// The type is NULL if only the value is known.
static kvo_status path_walk_refuse(const kvo_class *cls, const kvo_key_path *path, uint32_t depth,
    const char *cause, const kvo_type *type, kvo_error *error) {
  kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, path->text,
      "\"%s\" of %s goes on through \"%s\", which is not %s%s.", path->text, cls->name,
      path->components[depth].key, cause, cls->is_bound ? "" : path_walk_advice(type));
  const kvo_component *next = &path->components[depth + 1];
  kvo_fail_component(error, kvo_operator_is_collective(next->op) ? "@" : "", next->key);
  return KVO_INVALID_KEY_PATH;
}

// Whether a value of the type can ever be an object or a collection: a value that is nil now may be one later. The
// type is NULL if a hook answers.
static bool may_lead_on(const kvo_type *type) {
  if (!type || type->kind == KVO_KIND_OBJECT) return true;
  const kvo_type_operations *operations = type->operations;
  return operations && (operations->object || operations->collection || operations->value_for_key);
}

typedef struct {
  const kvo_value *collection;
  const kvo_key_path *path;
  uint32_t depth;
  kvo_elements elements;
  kvo_error *error;
  kvo_status status;
} element_walk;

static kvo_status walk_elements(const kvo_value *collection, const kvo_key_path *path,
    uint32_t depth, kvo_error *error);

static void walk_each(void *opaque) {
  element_walk *walk = opaque;
  // Elements that can't be read are handled later.
  kvo_value_elements(walk->collection, NULL, &walk->elements, NULL);
  for (size_t i = 0; i < walk->elements.count && !walk->status; i++) {
    kvo_value *element = &walk->elements.values[i];
    kvo_path_position place = {walk->depth, false};
    kvo_value_follow_keys(walk->path, element, &place);
    kvo_object *object = kvo_value_get_object(element);
    if (kvo_value_is_collection(element, NULL))
      walk->status = walk_elements(element, walk->path, place.next, walk->error);
    else if (object) walk->status = kvo_key_path_walk(object, walk->path, place.next, walk->error);
  }
}

static void end_element_walk(void *opaque) {
  kvo_elements_destroy(&((element_walk *)opaque)->elements);
}

static kvo_status walk_elements(const kvo_value *collection, const kvo_key_path *path,
    uint32_t depth, kvo_error *error) {
  element_walk walk = {.collection = collection, .path = path, .depth = depth, .error = error};
  kvo_finally(walk_each, end_element_walk, &walk);
  return walk.status;
}

// Continues from `*value`, the value of a component: walks into a collection, refuses what can't be followed, and
// stores in `*target` the object to continue with, if any.
static kvo_status walk_on(const kvo_class *cls, kvo_value *value, const kvo_key_path *path,
    uint32_t depth, kvo_path_position *place, kvo_object **target, kvo_error *error) {
  bool is_collection, was_keyed = kvo_value_has_keys(value);
  kvo_value_follow_keys(path, value, place);
  uint32_t next = place->next;
  bool has_operator = place->operates;
  *target = kvo_value_target(value, &is_collection);
  if (is_collection) {
    if (next == path->count) return KVO_OK;
    return has_operator ? walk_elements(value, path, next, error)
                        : kvo_key_path_refuse_collection(path, next, cls, error);
  }
  bool ends_in_dictionary = was_keyed && (has_operator || next == path->count);
  if (ends_in_dictionary) *target = NULL;
  if (!*target && (was_keyed || kvo_value_is_nil(value))) return KVO_OK;
  if (has_operator) return path_walk_refuse(cls, path, depth, "a collection", NULL, error);
  return *target ? KVO_OK : path_walk_refuse(cls, path, depth, "an object", NULL, error);
}

// Checks and reads the component `*at`, and moves `*at` to the next one. `*target` is the object to continue with, if
// any; it lives as long as the value does.
static kvo_status path_walk_step(kvo_object *object, const kvo_key_path *path, uint32_t *at,
    kvo_value *value, kvo_object **target, kvo_error *error) {
  uint32_t depth = *at;
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *accessors =
      kvo_observable_accessors(object, path->components[depth].key, error);
  *value = KVO_VALUE_NIL;
  if (!accessors) return error->status;
  kvo_path_position place = kvo_path_position_after(&path->components[depth]);
  bool has_operator = place.operates;
  bool leads_on = has_operator || place.next < path->count;
  *at = place.next;
  if (!leads_on) return KVO_OK;
  const kvo_type *type = accessors->overrides_get_value ? NULL : accessors->type;
  if (!may_lead_on(type))
    return path_walk_refuse(cls, path, depth, has_operator ? "a collection" : "an object", type,
        error);
  // Not read into `*value`, which is destroyed if the getter throws.
  kvo_value read;
  kvo_accessors_read_link(accessors, object, &read);
  *value = read;
  kvo_value_unwrap(value);
  kvo_status status = walk_on(cls, value, path, depth, &place, target, error);
  *at = place.next;
  return status;
}

typedef struct {
  kvo_object *KVO_NULLABLE object;
  const kvo_key_path *path;
  uint32_t depth;
  kvo_value held, value; // the one that keeps the object, and the one being read
  kvo_error *error;
  kvo_status status;
} path_walk;

static void path_walk_run(void *opaque) {
  path_walk *walk = opaque;
  while (walk->object && walk->depth < walk->path->count && !walk->status) {
    kvo_object *target = NULL;
    walk->status =
        path_walk_step(walk->object, walk->path, &walk->depth, &walk->value, &target, walk->error);
    kvo_value_destroy(&walk->held);
    walk->held = walk->value;
    walk->value = KVO_VALUE_NIL;
    walk->object = target;
  }
}

static void end_path_walk(void *opaque) {
  path_walk *walk = opaque;
  kvo_value_destroy(&walk->value);
  kvo_value_destroy(&walk->held);
}

kvo_status kvo_key_path_walk(kvo_object *object, const kvo_key_path *path, uint32_t depth,
    kvo_error *error) {
  kvo_error cause = {0};
  uint64_t shortages = kvo_shortages;
  const char *name = kvo_class_name(kvo_class_of(object));
  path_walk walk = {.object = object, .path = path, .depth = depth, .error = &cause};
  kvo_finally(path_walk_run, end_path_walk, &walk);
  kvo_status status = walk.status;
  if (!status && kvo_shortages != shortages)
    status = kvo_fail_no_memory(&cause, "observe", name, path->text);
  if (status && error) *error = cause;
  return status;
}
