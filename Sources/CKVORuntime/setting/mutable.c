// Mutable proxies: making them, and reading the elements of the key (B9).
//
// If the class has collection accessors, a proxy reads as a lazy collection does. Otherwise it reads the key each
// time. So it shows the current elements even after the property was replaced.
#include "kvo_mutable.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_proxy.h"
#include "kvo_coding.h"
#include "threads/kvo_thread.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

// MARK: Reading

static bool has_accessors(kvo_collection *collection) {
  const kvo_collection_accessors *accessors = kvo_proxy_accessors(kvo_proxy_of(collection));
  return accessors && accessors->kind;
}

static bool is_same_proxy(const kvo_proxy *proxy, kvo_collection *collection) {
  if (!collection || collection->methods != &kvo_mutable_methods) return false;
  const kvo_proxy *other = kvo_proxy_of(collection);
  return other->owner == proxy->owner && other->key == proxy->key;
}

// A setter may have stored a proxy of its own key, which would read itself without end.
static kvo_status mutable_read_key(kvo_collection *collection, kvo_value *value, kvo_error *error) {
  kvo_proxy *proxy = kvo_proxy_of(collection);
  kvo_status status = kvo_value_for_key(proxy->owner, proxy->key, value, error);
  if (status || !is_same_proxy(proxy, kvo_collection_of_value(value))) return status;
  kvo_value_destroy(value);
  *value = KVO_VALUE_NIL;
  const char *name = kvo_class_name(kvo_class_of(proxy->owner));
  return kvo_fail(error, KVO_INVALID_ARGUMENT, name, proxy->key,
      "\"%s\" of %s holds its own mutable proxy, which has no elements: set a snapshot of it.",
      proxy->key, name);
}

// One use of the key's value. The value may be a collection that calls the program's code, so it is destroyed even if
// that throws.
typedef struct {
  kvo_collection *collection;
  const kvo_value *KVO_NULLABLE element;
  const kvo_index_set *KVO_NULLABLE indexes;
  kvo_elements *KVO_NULLABLE elements;
  kvo_value value, *KVO_NULLABLE found;
  size_t index; ///< an index or a count
  kvo_error *KVO_NULLABLE error;
  kvo_status status;
} collection_read;

static void mutable_end_read(void *opaque) {
  kvo_value_destroy(&((collection_read *)opaque)->value);
}

static void read_and(collection_read *collection_read, void (*body)(void *collection_read)) {
  collection_read->status = mutable_read_key(collection_read->collection, &collection_read->value,
      collection_read->error);
  kvo_finally(body, mutable_end_read, collection_read);
}

static void take_count(void *opaque) {
  collection_read *collection_read = opaque;
  collection_read->index = kvo_value_count(&collection_read->value);
}

static size_t mutable_count(kvo_collection *collection) {
  if (has_accessors(collection)) return kvo_lazy_methods.count(collection);
  collection_read collection_read = {.collection = collection};
  read_and(&collection_read, take_count);
  return collection_read.index;
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

static void mutable_take_element(void *opaque) {
  collection_read *collection_read = opaque;
  const kvo_proxy *proxy = kvo_proxy_of(collection_read->collection);
  if (!collection_read->status)
    collection_read->status = get_from(&collection_read->value, proxy, collection_read->index,
        collection_read->found, collection_read->error);
}

static kvo_status mutable_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  if (has_accessors(collection)) return kvo_lazy_methods.get(collection, index, element, error);
  collection_read collection_read = {
      .collection = collection, .index = index, .found = element, .error = error};
  read_and(&collection_read, mutable_take_element);
  return collection_read.status;
}

static size_t index_in(const kvo_value *value, const kvo_value *element) {
  kvo_collection *found = kvo_collection_of_value(value);
  if (found) return kvo_collection_index_of(found, element);
  kvo_elements all = {0};
  kvo_value_elements(value, NULL, &all, NULL);
  return kvo_elements_seek(&all, element);
}

static void take_index(void *opaque) {
  collection_read *collection_read = opaque;
  collection_read->index = index_in(&collection_read->value, collection_read->element);
}

static size_t mutable_index_of(kvo_collection *collection, const kvo_value *element) {
  if (has_accessors(collection)) return kvo_lazy_methods.index_of(collection, element);
  collection_read collection_read = {.collection = collection, .element = element};
  read_and(&collection_read, take_index);
  return collection_read.index;
}

static bool mutable_contains(kvo_collection *collection, const kvo_value *element) {
  if (has_accessors(collection)) return kvo_lazy_methods.contains(collection, element);
  return mutable_index_of(collection, element) != KVO_NOT_FOUND;
}

// Nil, and a value that is not a collection, have no elements.
static void take_some(void *opaque) {
  collection_read *collection_read = opaque;
  if (!collection_read->status && kvo_value_is_collection(&collection_read->value, NULL))
    collection_read->status = kvo_value_elements(&collection_read->value, collection_read->indexes,
        collection_read->elements, collection_read->error);
}

static kvo_status mutable_pick(kvo_collection *collection, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  if (has_accessors(collection)) return kvo_lazy_methods.pick(collection, indexes, elements, error);
  collection_read collection_read = {
      .collection = collection, .indexes = indexes, .elements = elements, .error = error};
  read_and(&collection_read, take_some);
  return collection_read.status;
}

const kvo_collection_methods kvo_mutable_methods = {
    mutable_count, mutable_get, mutable_index_of, mutable_contains, mutable_pick};

// MARK: Making

static kvo_status refuse_owner(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
      "A collection has no key \"%s\" of its own to be mutated: mutate its elements' keys.", key);
}

// A key without accessors may still be one that `valueForUndefinedKey:` answers.
static kvo_status mutable_check_key(kvo_object *object, const char *key, kvo_error *error) {
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
  kvo_status status = mutable_check_key(object, request->key, request->error);
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

static kvo_status mutable_make(kvo_object *object, const char *key, kvo_collection_kind kind,
    kvo_collection **proxy, kvo_error *error) {
  request request = {object, key, kind, proxy, error, KVO_OK};
  *proxy = NULL;
  kvo_with_object_retained(object, carry_out, &request);
  return request.status;
}

kvo_status kvo_mutable_array(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return mutable_make(object, key, KVO_ARRAY, proxy, error);
}

kvo_status kvo_mutable_set(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return mutable_make(object, key, KVO_SET, proxy, error);
}

kvo_status kvo_mutable_ordered_set(kvo_object *object, const char *key, kvo_collection **proxy,
    kvo_error *error) {
  return mutable_make(object, key, KVO_ORDERED_SET, proxy, error);
}

// MARK: By key path

static kvo_status mutable_broken(const kvo_class *cls, const char *path, kvo_error *error) {
  const char *name = kvo_class_name(cls);
  return kvo_fail(error, KVO_INVALID_KEY_PATH, name, path,
      "The key path \"%s\" of %s leads to no object whose \"%s\" could be mutated.", path, name,
      strrchr(path, '.') + 1);
}

// The path without its last key, and the value it leads to, which is destroyed even if a getter throws.
typedef struct {
  kvo_object *object;
  const kvo_class *cls;
  const char *path;
  char *before;
  kvo_collection_kind kind;
  kvo_value value;
  kvo_collection **proxy;
  kvo_error *error;
  kvo_status status;
} owner_read;

static void make_at_end(owner_read *owner_read) {
  const char *key = strrchr(owner_read->path, '.') + 1;
  kvo_object *owner = kvo_value_get_object(&owner_read->value);
  if (!owner || kvo_class_of(owner)->is_collection)
    owner_read->status = mutable_broken(owner_read->cls, owner_read->path, owner_read->error);
  else
    owner_read->status =
        mutable_make(owner, key, owner_read->kind, owner_read->proxy, owner_read->error);
}

static void read_owner(void *opaque) {
  owner_read *owner_read = opaque;
  owner_read->status = kvo_value_for_key_path(owner_read->object, owner_read->before,
      &owner_read->value, owner_read->error);
  if (!owner_read->status) make_at_end(owner_read);
}

static void end_owner_read(void *opaque) {
  owner_read *owner_read = opaque;
  kvo_free(owner_read->before);
  kvo_value_destroy(&owner_read->value);
}

static kvo_status make_by_path(kvo_object *object, const char *path, kvo_collection_kind kind,
    kvo_collection **proxy, kvo_error *error) {
  const char *dot = strrchr(path, '.');
  if (!dot) return mutable_make(object, path, kind, proxy, error);
  *proxy = NULL;
  char *before = kvo_alloc_string(path);
  if (!before) return kvo_fail_collection_memory(error);
  before[dot - path] = 0;
  owner_read owner_read = {.object = object, .path = path, .before = before, .kind = kind};
  owner_read.cls = kvo_class_of(object); // a getter may release the object
  owner_read.proxy = proxy;
  owner_read.error = error;
  kvo_finally(read_owner, end_owner_read, &owner_read);
  return owner_read.status;
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
