// Mutable proxies: making them, and reading what the key holds (B9).
//
// They read as lazy collections do where the class has the accessors, else they read the key, every
// time: so they show what is there after the property was replaced.
#include "kvo_mutable.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_proxy.h"
#include "kvo_coding.h"
#include "threads/kvo_thread.h"

#include <string.h>

// MARK: Reading

static bool has_accessors(kvo_collection *collection) {
  const kvo_collection_accessors *accessors = kvo_proxy_accessors(kvo_proxy_of(collection));
  return accessors && accessors->kind;
}

static kvo_status read_key(kvo_collection *collection, kvo_value *value, kvo_error *error) {
  kvo_proxy *proxy = kvo_proxy_of(collection);
  return kvo_value_for_key(proxy->owner, proxy->key, value, error);
}

static size_t count(kvo_collection *collection) {
  if (has_accessors(collection)) return kvo_lazy_methods.count(collection);
  kvo_value value;
  read_key(collection, &value, NULL);
  size_t count = kvo_value_count(&value);
  kvo_value_destroy(&value);
  return count;
}

static kvo_status get_from(const kvo_value *value, const kvo_proxy *proxy, size_t index,
    kvo_value *element, kvo_error *error) {
  const char *name = kvo_class_name(kvo_class_of(proxy->owner));
  size_t limit = kvo_value_count(value);
  if (index == KVO_LAST_ELEMENT) index = limit - 1;
  if (index >= limit) return kvo_fail_index(error, name, proxy->key, index, limit);
  kvo_value found;
  kvo_status status = kvo_value_element(value, index, &found);
  if (status)
    return kvo_fail(error, status, name, proxy->key, "Element %zu of \"%s\" of %s can't be read.",
        index, proxy->key, name);
  *element = found;
  return KVO_OK;
}

static kvo_status get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  if (has_accessors(collection)) return kvo_lazy_methods.get(collection, index, element, error);
  kvo_value value;
  kvo_status status = read_key(collection, &value, error);
  if (!status) status = get_from(&value, kvo_proxy_of(collection), index, element, error);
  kvo_value_destroy(&value);
  return status;
}

static size_t index_in(const kvo_value *value, const kvo_value *element) {
  kvo_collection *found = kvo_collection_of_value(value);
  if (found) return kvo_collection_index_of(found, element);
  kvo_elements all = {0};
  kvo_value_elements(value, NULL, &all, NULL);
  return kvo_elements_seek(&all, element);
}

static size_t index_of(kvo_collection *collection, const kvo_value *element) {
  if (has_accessors(collection)) return kvo_lazy_methods.index_of(collection, element);
  kvo_value value;
  read_key(collection, &value, NULL);
  size_t index = index_in(&value, element);
  kvo_value_destroy(&value);
  return index;
}

static bool contains(kvo_collection *collection, const kvo_value *element) {
  if (has_accessors(collection)) return kvo_lazy_methods.contains(collection, element);
  return index_of(collection, element) != KVO_NOT_FOUND;
}

static kvo_status pick(kvo_collection *collection, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  if (has_accessors(collection)) return kvo_lazy_methods.pick(collection, indexes, elements, error);
  kvo_value value;
  kvo_status status = read_key(collection, &value, error);
  // Nil and what is no collection have no elements.
  if (!status && kvo_value_is_collection(&value, NULL))
    status = kvo_value_elements(&value, indexes, elements, error);
  kvo_value_destroy(&value);
  return status;
}

const kvo_collection_methods kvo_mutable_methods = {count, get, index_of, contains, pick};

// MARK: Making

static kvo_status refuse_owner(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
      "A collection has no key \"%s\" of its own to be mutated: mutate its elements' keys.", key);
}

// A key that has no accessors may still be one that `valueForUndefinedKey:` answers.
static kvo_status check_key(kvo_object *object, const char *key, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  if (cls->is_collection) return refuse_owner(cls, key, error);
  if (kvo_class_accessors(cls, key, NULL)) return KVO_OK;
  kvo_value value;
  kvo_status status = kvo_value_for_key(object, key, &value, error);
  kvo_value_destroy(&value);
  return status;
}

typedef struct {
  kvo_object *object;
  const char *key;
  kvo_collection_kind kind;
  kvo_collection **proxy;
  kvo_error *error;
  kvo_status status;
} request;

static kvo_status make_held(const request *request) {
  kvo_object *object = request->object;
  kvo_status status = check_key(object, request->key, request->error);
  if (status) return status;
  kvo_error cause;
  const char *interned = kvo_key_keep(request->key, kvo_class_name(kvo_class_of(object)), &cause);
  if (!interned) return kvo_fail_with(request->error, &cause);
  *request->proxy =
      kvo_proxy_create(object, interned, request->kind, &kvo_mutable_methods, request->error);
  return *request->proxy ? KVO_OK : KVO_NO_MEMORY;
}

static void carry_out(void *opaque) {
  request *request = opaque;
  request->status = make_held(request);
}

static kvo_status make(kvo_object *object, const char *key, kvo_collection_kind kind,
    kvo_collection **proxy, kvo_error *error) {
  request request = {object, key, kind, proxy, error, KVO_OK};
  *proxy = NULL;
  kvo_holding(object, carry_out, &request);
  return request.status;
}

kvo_status kvo_mutable_array(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return make(object, key, KVO_ARRAY, proxy, error);
}

kvo_status kvo_mutable_set(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return make(object, key, KVO_SET, proxy, error);
}

kvo_status kvo_mutable_ordered_set(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return make(object, key, KVO_ORDERED_SET, proxy, error);
}

// MARK: By key path

static kvo_status broken(const kvo_class *cls, const char *path, kvo_error *error) {
  const char *name = kvo_class_name(cls);
  return kvo_fail(error, KVO_INVALID_KEY_PATH, name, path,
      "The key path \"%s\" of %s leads to no object whose \"%s\" could be mutated.", path, name,
      strrchr(path, '.') + 1);
}

static kvo_status make_of_value(const kvo_value *value, const kvo_class *cls, const char *path,
    kvo_collection_kind kind, kvo_collection **proxy, kvo_error *error) {
  kvo_object *owner = kvo_value_get_object(value);
  if (!owner || kvo_class_of(owner)->is_collection) return broken(cls, path, error);
  return make(owner, strrchr(path, '.') + 1, kind, proxy, error);
}

static kvo_status make_by_path(kvo_object *object, const char *path, kvo_collection_kind kind,
    kvo_collection **proxy, kvo_error *error) {
  const char *dot = strrchr(path, '.');
  if (!dot) return make(object, path, kind, proxy, error);
  *proxy = NULL;
  char *before = kvo_alloc_string(path);
  if (!before) return kvo_fail_collection_memory(error);
  before[dot - path] = 0;
  const kvo_class *cls = kvo_class_of(object); // a getter may drop the object
  kvo_value value;
  kvo_status status = kvo_value_for_key_path(object, before, &value, error);
  kvo_free(before);
  if (!status) status = make_of_value(&value, cls, path, kind, proxy, error);
  kvo_value_destroy(&value);
  return status;
}

kvo_status kvo_mutable_array_key_path(kvo_object *object, const char *key_path,
    kvo_collection **proxy, kvo_error *error) {
  return make_by_path(object, key_path, KVO_ARRAY, proxy, error);
}

kvo_status kvo_mutable_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection **proxy, kvo_error *error) {
  return make_by_path(object, key_path, KVO_SET, proxy, error);
}

kvo_status kvo_mutable_ordered_set_key_path(kvo_object *object, const char *key_path,
    kvo_collection **proxy, kvo_error *error) {
  return make_by_path(object, key_path, KVO_ORDERED_SET, proxy, error);
}
