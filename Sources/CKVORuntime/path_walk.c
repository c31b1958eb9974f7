// Looking along a key path before it is registered, so that nothing is registered that can't be
// followed: every key on the way as it is now must be there, collections need an operator, and what
// is no object leads nowhere.
#include "kvo_collection_internal.h"
#include "kvo_fail.h"
#include "kvo_graph.h"

static kvo_status walk_elements(const kvo_value *collection, const kvo_key_path *path,
    uint32_t depth, kvo_error *error) {
  kvo_status status = KVO_OK;
  size_t count = kvo_value_count(collection);
  for (size_t i = 0; i < count && !status; i++) {
    kvo_value element;
    if (kvo_value_element(collection, i, &element) != KVO_OK) return KVO_OK;
    kvo_object *object = kvo_value_get_object(&element);
    if (object && !kvo_class_is_collection(kvo_class_of(object)))
      status = kvo_key_path_walk(object, path, depth, error);
    kvo_value_destroy(&element);
  }
  return status;
}

static kvo_status refuse(const kvo_class *cls, const kvo_key_path *path, uint32_t depth,
    const char *cause, kvo_error *error) {
  return kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, path->text,
      "\"%s\" of %s goes on through \"%s\", which is no %s.", path->text, cls->name,
      path->components[depth].key, cause);
}

// Whether a value of the type may ever be an object or a collection: what is nil today may be found
// tomorrow. The type is NULL where a hook answers.
static bool may_lead_on(const kvo_type *type) {
  if (!type || type->kind == KVO_KIND_OBJECT) return true;
  return type->operations && (type->operations->object || type->operations->collection);
}

static kvo_status walk_on(const kvo_class *cls, const kvo_value *value, const kvo_key_path *path,
    uint32_t depth, kvo_error *error) {
  uint32_t next = kvo_key_path_next_key(path, depth);
  bool collective = kvo_operator_is_collective(path->components[depth + 1].op);
  if (kvo_value_is_collection(value, NULL)) {
    if (!collective) return kvo_key_path_refuse_collection(path, depth, cls, error);
    return next < path->count ? walk_elements(value, path, next, error) : KVO_OK;
  }
  if (kvo_value_is_nil(value) || (!collective && next == path->count)) return KVO_OK;
  if (collective) return refuse(cls, path, depth, "collection", error);
  kvo_object *object = kvo_value_get_object(value);
  return object ? kvo_key_path_walk(object, path, next, error)
                : refuse(cls, path, depth, "object", error);
}

kvo_status kvo_key_path_walk(kvo_object *object, const kvo_key_path *path, uint32_t depth,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  kvo_error cause = {0};
  const kvo_accessors *accessors =
      kvo_observable_accessors(object, path->components[depth].key, &cause);
  if (!accessors) {
    if (error) *error = cause;
    return cause.status;
  }
  if (depth + 1 == path->count) return KVO_OK;
  bool collective = kvo_operator_is_collective(path->components[depth + 1].op);
  bool leads_on = collective || kvo_key_path_next_key(path, depth) < path->count;
  if (leads_on && !may_lead_on(accessors->type))
    return refuse(cls, path, depth, collective ? "collection" : "object", error);
  kvo_value value = KVO_VALUE_NIL;
  kvo_accessors_read(accessors, object, &value);
  kvo_status status = walk_on(cls, &value, path, depth, error);
  kvo_value_destroy(&value);
  return status;
}
