// Key-value coding by key path, and the keys of collections (B5, B7).
//
// A walk reads one component after the other, each by key-value coding of the object reached so far. An operator
// applies the rest of the path to each element (collection_operators.c). Nil ends a walk with nil. A value is
// retained while its keys are read, because an accessor may release the last other reference to it.
#include "coding/kvo_get_key_path.h"

#include "base/kvo_fail.h"
#include "coding/kvo_accessor_search.h"
#include "kvo_binding.h"
#include "kvo_class.h"
#include "kvo_coding.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

// MARK: Keys of any value

kvo_status kvo_fail_no_keys(const kvo_value *value, const char *key, kvo_error *error) {
  kvo_fail(error, KVO_INVALID_KEY_PATH, NULL, key,
      "A value of type %s has no keys, and so no \"%s\".", kvo_type_name(value->type), key);
  kvo_fail_component(error, "", key);
  return KVO_INVALID_KEY_PATH;
}

static bool has_keys(const kvo_value *value) {
  return kvo_value_is_nil(value) || kvo_value_get_object(value) ||
         kvo_value_is_collection(value, NULL) || kvo_value_has_keys(value);
}

// `self` is the one key that every value has.
static kvo_status copy_self(const kvo_value *value, kvo_value *result, kvo_error *error) {
  kvo_status status = kvo_value_copy(result, value);
  return status ? kvo_fail_collection_memory(error) : KVO_OK;
}

static kvo_status get_path_read_key(const kvo_value *value, const char *key, kvo_value *result,
    kvo_error *error) {
  *result = KVO_VALUE_NIL;
  if (kvo_value_is_nil(value)) return KVO_OK;
  kvo_object *object = kvo_value_get_object(value);
  if (object) return kvo_value_for_key(object, key, result, error);
  if (kvo_value_is_collection(value, NULL)) return kvo_value_map(value, key, result, error);
  if (!kvo_value_has_keys(value) && !strcmp(key, "self")) return copy_self(value, result, error);
  if (!kvo_value_has_keys(value)) return kvo_fail_no_keys(value, key, error);
  const kvo_type_operations *operations = value->type->operations;
  return operations->value_for_key(value->type, kvo_value_bytes(value), key, result, error);
}

kvo_status kvo_value_value_for_key(const kvo_value *start, const char *key, kvo_value *value,
    kvo_error *error) {
  return get_path_read_key(start, key, value, error);
}

// MARK: Keys of a collection

kvo_status kvo_fail_nesting(const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_INVALID_KEY_PATH, NULL, key,
      "\"%s\" leads into collections that are nested more than %d deep.", key, KVO_NESTING_LIMIT);
}

// The elements and the values read from them, which are destroyed even if the program's code throws.
typedef struct mapping {
  const kvo_value *collection;
  const char *key;
  kvo_elements elements, mapped;
  kvo_error *error;
  kvo_status status;
  bool entered;
} mapping;

static void end_mapping(void *opaque) {
  mapping *mapping = opaque;
  kvo_nesting_leave(mapping->entered);
  kvo_elements_destroy(&mapping->elements);
  kvo_elements_destroy(&mapping->mapped);
}

static kvo_status read_each(mapping *mapping) {
  const kvo_elements *elements = &mapping->elements;
  for (size_t i = 0; i < elements->count; i++) {
    kvo_value member;
    kvo_status status =
        get_path_read_key(&elements->values[i], mapping->key, &member, mapping->error);
    if (status) return status;
    if (kvo_elements_take(&mapping->mapped, member))
      return kvo_fail_collection_memory(mapping->error);
  }
  return KVO_OK;
}

static void map_elements(void *opaque) {
  mapping *mapping = opaque;
  mapping->entered = kvo_nesting_enter();
  mapping->status = mapping->entered ? kvo_value_elements(mapping->collection, NULL,
                                           &mapping->elements, mapping->error)
                                     : kvo_fail_nesting(mapping->key, mapping->error);
  if (!mapping->status) mapping->status = read_each(mapping);
}

kvo_status kvo_value_map(const kvo_value *collection, const char *key, kvo_value *value,
    kvo_error *error) {
  mapping mapping = {.collection = collection, .key = key, .error = error};
  kvo_collection_kind kind = KVO_ARRAY;
  *value = KVO_VALUE_NIL;
  kvo_value_is_collection(collection, &kind);
  kvo_unwinding(map_elements, end_mapping, &mapping);
  kvo_status status = mapping.status;
  if (!status && kvo_value_from_elements(value, kind, &mapping.mapped))
    status = kvo_fail_collection_memory(error);
  end_mapping(&mapping);
  return status;
}

// MARK: Walking

static const char *root_name(const kvo_class *cls) { return cls ? kvo_class_name(cls) : "a value"; }

// A value without keys does not know the path that led to it, so the path is added to the error here.
kvo_status kvo_fail_along(const kvo_key_path *path, const kvo_class *cls, kvo_status status,
    kvo_error *error) {
  if (status != KVO_INVALID_KEY_PATH || !error || *error->class_name) return status;
  kvo_error cause = *error;
  kvo_fail(error, status, root_name(cls), path->text, "The key path \"%s\" of %s leads nowhere: %s",
      path->text, root_name(cls), cause.message);
  kvo_fail_component(error, "", cause.component);
  return status;
}

static kvo_status not_a_collection(const kvo_walk *walk, const kvo_value *value, uint32_t index) {
  const char *name = walk->path->components[index].key;
  kvo_object *object = kvo_value_get_object(value);
  kvo_fail(walk->error, KVO_INVALID_OPERATOR, root_name(walk->cls), walk->path->text,
      "The operator \"@%s\" in the key path \"%s\" of %s needs a collection, but comes to %s%s.",
      name, walk->path->text, root_name(walk->cls), object ? "an object of " : "a value of type ",
      object ? kvo_class_name(kvo_class_of(object)) : kvo_type_name(value->type));
  kvo_fail_component(walk->error, "@", name);
  return KVO_INVALID_OPERATOR;
}

typedef struct {
  const kvo_walk *walk;
  kvo_value values;
  uint32_t index;
  kvo_value *result;
  kvo_status status;
} operation;

static void operate_on_all(void *opaque) {
  operation *all = opaque;
  all->status = kvo_walk_operate(all->walk, &all->values, all->index, all->result);
}

static void end_operation(void *opaque) { kvo_value_destroy(&((operation *)opaque)->values); }

// Replaces a value by the next one.
static void get_path_replace(kvo_value *value, kvo_value next) {
  kvo_value_destroy(value);
  *value = next;
  kvo_value_unwrap(value);
}

void kvo_value_follow_keys(const kvo_key_path *path, kvo_value *value, kvo_path_position *place) {
  while (kvo_value_has_keys(value)) {
    const kvo_type *type = value->type;
    kvo_value next;
    if (place->operates) {
      if (!type->operations->values) return;
      type->operations->values(type, kvo_value_bytes(value), &next);
      return get_path_replace(value, next);
    }
    if (place->next == path->count) return;
    const kvo_component *component = &path->components[place->next];
    type->operations->value_for_key(type, kvo_value_bytes(value), component->key, &next, NULL);
    get_path_replace(value, next);
    *place = kvo_path_position_after(component);
  }
}

static kvo_status operate_on_values(const kvo_walk *walk, const kvo_value *value, uint32_t index,
    kvo_value *result) {
  operation all = {.walk = walk, .index = index, .result = result};
  value->type->operations->values(value->type, kvo_value_bytes(value), &all.values);
  if (!kvo_value_is_nil(&all.values)) kvo_unwinding(operate_on_all, end_operation, &all);
  end_operation(&all);
  return all.status;
}

static kvo_status get_path_operate(const kvo_walk *walk, const kvo_value *value, uint32_t index,
    kvo_value *result) {
  *result = KVO_VALUE_NIL;
  if (kvo_value_is_nil(value)) return KVO_OK;
  if (kvo_value_is_collection(value, NULL)) return kvo_walk_operate(walk, value, index, result);
  const kvo_type_operations *operations = value->type->operations;
  return operations && operations->values ? operate_on_values(walk, value, index, result)
                                          : not_a_collection(walk, value, index);
}

// A walk in progress. It destroys its current value even if the program's code throws.
typedef struct step {
  const kvo_walk *walk;
  uint32_t from;
  kvo_value current;
  kvo_status status;
} step;

static void end_step(void *opaque) { kvo_value_destroy(&((step *)opaque)->current); }

static void take_steps(void *opaque) {
  step *step = opaque;
  const kvo_walk *walk = step->walk;
  bool has_ended = false;
  for (uint32_t i = step->from; !step->status && !has_ended && i < walk->end; i++) {
    const kvo_component *component = &walk->path->components[i];
    if (component->op == KVO_OP_SELF) continue;
    has_ended = kvo_operator_is_collective(component->op);
    kvo_value next;
    step->status = has_ended
                       ? get_path_operate(walk, &step->current, i, &next)
                       : get_path_read_key(&step->current, component->key, &next, walk->error);
    kvo_value_destroy(&step->current);
    step->current = next;
  }
}

// Follows the walk from a value, which it consumes.
static kvo_status get_path_follow(const kvo_walk *walk, kvo_value current, uint32_t from,
    kvo_value *result) {
  step step = {.walk = walk, .from = from, .current = current};
  if (from < walk->end) kvo_unwinding(take_steps, end_step, &step);
  *result = step.current;
  return kvo_fail_along(walk->path, walk->cls, step.status, walk->error);
}

kvo_status kvo_walk_read(const kvo_walk *walk, const kvo_value *start, uint32_t from,
    kvo_value *value) {
  kvo_value copy;
  if (!kvo_value_copy(&copy, start)) return get_path_follow(walk, copy, from, value);
  *value = KVO_VALUE_NIL;
  return kvo_fail_no_memory(walk->error, "read", root_name(walk->cls), walk->path->text);
}

// The first key is read without retaining the object, which the caller holds. Its value is not stored in the caller's
// variable, because the caller would destroy it a second time if the getter of a later key throws.
static kvo_status read_from_object(const kvo_walk *walk, kvo_object *object, kvo_value *value) {
  const kvo_component *first = &walk->path->components[0];
  if (!walk->end || first->op != KVO_OP_NONE)
    return get_path_follow(walk, kvo_value_object(object), 0, value);
  kvo_value next;
  kvo_status status = kvo_value_for_key(object, first->key, &next, walk->error);
  if (!status) return get_path_follow(walk, next, 1, value);
  *value = KVO_VALUE_NIL;
  return status;
}

// MARK: One of many values

static bool may_read_field(const kvo_accessors *accessors) {
  bool is_scalar =
      accessors->field_kind != KVO_KIND_VOID && accessors->field_kind != KVO_KIND_BINDING;
  return is_scalar && !kvo_is_recording() && !kvo_log_flags;
}

static void reader_look_up(kvo_reader *reader, const kvo_class *cls, const char *key) {
  const kvo_accessors *found = kvo_class_accessors(cls, key, NULL);
  *reader = (kvo_reader){.cls = cls};
  if (!found || !found->getter || found->overrides_get_value) return;
  reader->accessors = found;
  if (may_read_field(found)) reader->field = found;
}

// NULL if the key has to be read by the full search, as after a change of the class.
static const kvo_accessors *known_accessors(kvo_reader *reader, const kvo_class *cls,
    const char *key) {
  if (KVO_UNLIKELY(reader->cls != cls)) reader_look_up(reader, cls, key);
  const kvo_accessors *known = reader->accessors;
  if (KVO_UNLIKELY(!known)) return NULL;
  if (kvo_field_is_current(known)) return known;
  *reader = (kvo_reader){0};
  return NULL;
}

kvo_status kvo_walk_read_each(const kvo_walk *walk, kvo_reader *reader, const kvo_value *start,
    uint32_t from, kvo_value *value) {
  const kvo_component *component = &walk->path->components[from];
  bool is_key = from + 1 == walk->end && component->op == KVO_OP_NONE;
  kvo_object *object = is_key ? kvo_value_get_object(start) : NULL;
  if (!object) return kvo_walk_read(walk, start, from, value);
  const kvo_class *cls = kvo_class_of(object);
  const kvo_accessors *accessors = known_accessors(reader, cls, component->key);
  if (KVO_UNLIKELY(!accessors)) return kvo_walk_read(walk, start, from, value);
  if (KVO_LIKELY(reader->field != NULL)) {
    kvo_field_read(value, accessors, object, 0);
    return KVO_OK;
  }
  kvo_status status = kvo_value_by_accessors(cls, accessors, object, value, walk->error);
  return kvo_fail_along(walk->path, walk->cls, status, walk->error);
}

kvo_status kvo_value_at_path(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *error) {
  kvo_walk walk = {path, path->count, kvo_class_of(object), error};
  kvo_status status = read_from_object(&walk, object, value);
  if (status != KVO_NO_MEMORY) return status;
  return kvo_fail_no_memory(error, "read", root_name(walk.cls), path->text);
}

// A path in use, which may be released afterwards.
typedef struct {
  const kvo_key_path *path;
  kvo_status (*body)(const kvo_key_path *path, void *context);
  void *context;
  kvo_status status;
} passage;

static void get_path_run_body(void *opaque) {
  passage *passage = opaque;
  passage->status = passage->body(passage->path, passage->context);
}

static void end_passage(void *opaque) { kvo_key_path_release(((passage *)opaque)->path); }

kvo_status kvo_along_path(const char *text, const kvo_class *cls,
    kvo_status (*body)(const kvo_key_path *path, void *context), void *context, kvo_error *error) {
  kvo_single_path room;
  const kvo_key_path *known = kvo_key_path_known(text, &room);
  if (KVO_LIKELY(known != NULL)) return body(known, context);
  kvo_error cause; // filled in completely on failure
  const kvo_key_path *path = kvo_key_path_read(text, cls, &cause);
  if (!path) return kvo_fail_with(error, &cause);
  if (kvo_key_path_is_permanent(path)) return body(path, context);
  passage passage = {path, body, context, KVO_OK};
  kvo_unwinding(get_path_run_body, end_passage, &passage);
  end_passage(&passage);
  return passage.status;
}

// The arguments of a reading along a path.
typedef struct {
  kvo_object *object;
  const kvo_class *cls;
  const kvo_value *given;
  kvo_value *value;
  kvo_error *error;
} errand;

static kvo_status read_along(const kvo_key_path *path, void *opaque) {
  const errand *errand = opaque;
  return kvo_value_at_path(errand->object, path, errand->value, errand->error);
}

kvo_status kvo_value_for_key_path(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *error) {
  errand errand = {.object = object, .value = value, .error = error};
  *value = KVO_VALUE_NIL;
  return kvo_along_path(key_path, kvo_class_of(object), read_along, &errand, error);
}

static kvo_status read_value_along(const kvo_key_path *path, void *opaque) {
  const errand *errand = opaque;
  const kvo_walk walk = {path, path->count, errand->cls, errand->error};
  return kvo_walk_read(&walk, errand->given, 0, errand->value);
}

kvo_status kvo_value_value_for_key_path(const kvo_value *start, const char *key_path,
    kvo_value *value, kvo_error *error) {
  kvo_object *object = kvo_value_get_object(start);
  const kvo_class *cls = object ? kvo_class_of(object) : NULL;
  errand errand = {.cls = cls, .given = start, .value = value, .error = error};
  *value = KVO_VALUE_NIL;
  return kvo_along_path(key_path, cls, read_value_along, &errand, error);
}

// MARK: The last component

static kvo_status refuse_operator(const kvo_walk *walk, uint32_t index) {
  const char *name = walk->path->components[index].key;
  kvo_fail(walk->error, KVO_INVALID_OPERATOR, root_name(walk->cls), walk->path->text,
      "The key path \"%s\" of %s has the operator \"@%s\": it can only be read.", walk->path->text,
      root_name(walk->cls), name);
  kvo_fail_component(walk->error, "@", name);
  return KVO_INVALID_OPERATOR;
}

static kvo_status refuse_self(const kvo_walk *walk) {
  return kvo_fail(walk->error, KVO_READ_ONLY, root_name(walk->cls), walk->path->text,
      "The key path \"%s\" of %s ends in \"self\": it can only be read.", walk->path->text,
      root_name(walk->cls));
}

kvo_status kvo_walk_to_last(kvo_object *object, const kvo_key_path *path, kvo_value *value,
    kvo_error *error) {
  kvo_walk walk = {path, path->count - 1, kvo_class_of(object), error};
  *value = KVO_VALUE_NIL;
  for (uint32_t i = 0; i < path->count; i++)
    if (kvo_operator_is_collective(path->components[i].op)) return refuse_operator(&walk, i);
  if (path->components[walk.end].op == KVO_OP_SELF) return refuse_self(&walk);
  kvo_status status = read_from_object(&walk, object, value);
  if (status || has_keys(value)) return status;
  status = kvo_fail_no_keys(value, path->components[walk.end].key, error);
  kvo_value_destroy(value);
  return kvo_fail_along(path, walk.cls, status, error);
}

typedef struct {
  kvo_value target;
  const char *key;
  kvo_status (*body)(const kvo_value *target, const char *key, void *context);
  void *context;
  kvo_status status;
} last_step;

static void take_last_step(void *opaque) {
  last_step *step = opaque;
  step->status = step->body(&step->target, step->key, step->context);
}

static void let_target_go(void *opaque) { kvo_value_destroy(&((last_step *)opaque)->target); }

kvo_status kvo_with_last_key(kvo_object *object, const kvo_key_path *path,
    kvo_status (*body)(const kvo_value *target, const char *key, void *context), void *context,
    kvo_error *error) {
  const char *key = path->components[path->count - 1].key;
  last_step step = {.key = key, .body = body, .context = context};
  kvo_status status = kvo_walk_to_last(object, path, &step.target, error);
  if (status) return status;
  kvo_unwinding(take_last_step, let_target_go, &step);
  let_target_go(&step);
  return step.status;
}

static kvo_status walk_along(const kvo_key_path *path, void *opaque) {
  const errand *errand = opaque;
  return kvo_walk_to_last(errand->object, path, errand->value, errand->error);
}

kvo_status kvo_value_with_last_key(kvo_object *object, const char *key_path, kvo_value *value,
    const char **last_key, kvo_error *error) {
  errand errand = {.object = object, .value = value, .error = error};
  const char *dot = strrchr(key_path, '.');
  *value = KVO_VALUE_NIL;
  *last_key = dot ? dot + 1 : key_path;
  return kvo_along_path(key_path, kvo_class_of(object), walk_along, &errand, error);
}
