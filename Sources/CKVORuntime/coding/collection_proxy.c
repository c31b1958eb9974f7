// Lazy collections: proxies for a key that a class offers by collection accessors. They only store the owner and the
// key. So an accessor that is added to the class later, or replaced, is used at the next read.
#include "base/kvo_forward.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_proxy.h"
#include "threads/kvo_thread.h"

static void destroy_proxy(kvo_object *self, const kvo_method *method) {
  (void)method;
  kvo_store_retained_object(&((kvo_proxy *)(void *)self)->owner, NULL);
}

kvo_collection *kvo_proxy_create(kvo_object *owner, const char *key, kvo_collection_kind kind,
    const kvo_collection_methods *methods, kvo_error *error) {
  static const kvo_class *cls;
  kvo_collection *made = kvo_collection_make(kvo_collection_define(&cls, "KVOCollectionProxy",
                                                 sizeof(kvo_proxy), destroy_proxy),
      methods, kind, error);
  if (!made) return NULL;
  kvo_proxy_of(made)->owner = kvo_object_retain(owner);
  kvo_proxy_of(made)->key = key;
  return made;
}

kvo_collection *kvo_lazy_collection_create(kvo_object *owner, const char *key,
    kvo_collection_kind kind) {
  return kvo_proxy_create(owner, key, kind, &kvo_lazy_methods, NULL);
}

const kvo_collection_accessors *kvo_proxy_accessors(const kvo_proxy *proxy) {
  const kvo_class *cls = kvo_class_of(proxy->owner);
  const kvo_accessors *accessors = kvo_class_known_accessors(cls, proxy->key);
  if (!accessors) accessors = kvo_class_accessors(cls, proxy->key, NULL);
  // If there is no memory to search for newer accessors, the previous ones are used.
  if (!accessors) accessors = kvo_key_set_get(&cls->accessors, proxy->key);
  return accessors ? accessors->collection : NULL;
}

static kvo_object *owner_of(kvo_collection *collection) { return kvo_proxy_of(collection)->owner; }

static const kvo_collection_accessors *proxy_accessors_of(kvo_collection *collection) {
  return kvo_proxy_accessors(kvo_proxy_of(collection));
}

static size_t proxy_count(kvo_collection *collection) {
  return kvo_collection_accessors_count(proxy_accessors_of(collection), owner_of(collection));
}

static kvo_status fail_index(kvo_collection *collection, size_t index, size_t count,
    kvo_error *error) {
  const kvo_proxy *proxy = kvo_proxy_of(collection);
  return kvo_fail_index(error, kvo_class_name(kvo_class_of(proxy->owner)), proxy->key, index,
      count);
}

// One read of several elements. Those that were read are destroyed if an accessor throws.
typedef struct {
  kvo_collection *collection;
  const kvo_index_set *KVO_NULLABLE indexes; ///< NULL for all
  kvo_elements *elements;
  kvo_error *error;
  kvo_status status;
} reading;

static void end_reading(void *opaque) { kvo_elements_destroy(((reading *)opaque)->elements); }

static void proxy_read_all(void *opaque) {
  reading *reading = opaque;
  reading->status = kvo_collection_accessors_all(proxy_accessors_of(reading->collection),
      owner_of(reading->collection), reading->elements, reading->error);
}

static kvo_status all_elements(kvo_collection *collection, kvo_elements *elements,
    kvo_error *error) {
  reading reading = {collection, NULL, elements, error, KVO_OK};
  kvo_unwinding(proxy_read_all, end_reading, &reading);
  return reading.status;
}

// A member's index is its place in the enumeration.
static kvo_status get_member(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  kvo_elements all = {0};
  kvo_status status = all_elements(collection, &all, error);
  if (index == KVO_LAST_ELEMENT) index = all.count - 1;
  if (!status && index >= all.count) status = fail_index(collection, index, all.count, error);
  if (!status) {
    *element = all.values[index];
    all.values[index] = KVO_VALUE_NIL;
  }
  kvo_elements_destroy(&all);
  return status;
}

static kvo_status proxy_get(kvo_collection *collection, size_t index, kvo_value *element,
    kvo_error *error) {
  const kvo_collection_accessors *accessors = proxy_accessors_of(collection);
  if (accessors->kind == KVO_SET) return get_member(collection, index, element, error);
  size_t limit = kvo_collection_accessors_count(accessors, owner_of(collection));
  if (index == KVO_LAST_ELEMENT) index = limit - 1;
  if (index >= limit) return fail_index(collection, index, limit, error);
  return kvo_collection_accessors_get(accessors, owner_of(collection), index, element, error);
}

static size_t proxy_scan(kvo_collection *collection, const kvo_value *element) {
  kvo_elements all = {0};
  all_elements(collection, &all, NULL);
  return kvo_elements_seek(&all, element);
}

static size_t proxy_index_of(kvo_collection *collection, const kvo_value *element) {
  const kvo_collection_accessors *accessors = proxy_accessors_of(collection);
  if (!accessors->read.index) return proxy_scan(collection, element);
  return kvo_collection_accessors_index(accessors, owner_of(collection), element);
}

static bool proxy_contains(kvo_collection *collection, const kvo_value *element) {
  const kvo_collection_accessors *accessors = proxy_accessors_of(collection);
  if (!accessors->read.member && !accessors->read.index)
    return proxy_scan(collection, element) != KVO_NOT_FOUND;
  return kvo_collection_accessors_has(accessors, owner_of(collection), element);
}

// A new set of the indexes below a limit; NULL if out of memory.
static kvo_index_set *proxy_clipped(const kvo_index_set *indexes, size_t limit) {
  kvo_index_set *below = kvo_index_set_create();
  bool done = below != NULL;
  for (size_t i = 0; done && i < kvo_index_set_range_count(indexes); i++) {
    kvo_range range = kvo_index_set_range(indexes, i);
    size_t room = range.location < limit ? limit - range.location : 0;
    done =
        kvo_index_set_add_range(below, range.location, range.length < room ? range.length : room);
  }
  if (done) return below;
  kvo_index_set_destroy(below);
  return NULL;
}

static kvo_status pick_members(kvo_collection *collection, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  kvo_elements all = {0};
  kvo_status status = all_elements(collection, &all, error);
  for (size_t i = 0; !status && i < all.count; i++)
    if (kvo_index_set_contains(indexes, i) && kvo_elements_add(elements, &all.values[i]))
      status = kvo_fail_collection_memory(error);
  kvo_elements_destroy(&all);
  return status;
}

static void read_some(void *opaque) {
  reading *reading = opaque;
  reading->status = kvo_collection_accessors_pick(proxy_accessors_of(reading->collection),
      owner_of(reading->collection), reading->indexes, reading->elements, reading->error);
}

static void end_reading_of_some(void *opaque) {
  reading *reading = opaque;
  kvo_index_set_destroy((kvo_index_set *)(uintptr_t)reading->indexes);
  kvo_elements_destroy(reading->elements);
}

static kvo_status pick_below(kvo_collection *collection, const kvo_index_set *indexes, size_t limit,
    kvo_elements *elements, kvo_error *error) {
  kvo_index_set *below = proxy_clipped(indexes, limit);
  if (!below) return kvo_fail_collection_memory(error);
  reading reading = {collection, below, elements, error, KVO_OK};
  kvo_unwinding(read_some, end_reading_of_some, &reading);
  kvo_index_set_destroy(below);
  return reading.status;
}

static kvo_status proxy_pick(kvo_collection *collection, const kvo_index_set *indexes,
    kvo_elements *elements, kvo_error *error) {
  const kvo_collection_accessors *accessors = proxy_accessors_of(collection);
  if (!indexes) return all_elements(collection, elements, error);
  if (accessors->kind == KVO_SET) return pick_members(collection, indexes, elements, error);
  size_t limit = kvo_collection_accessors_count(accessors, owner_of(collection));
  return pick_below(collection, indexes, limit, elements, error);
}

const kvo_collection_methods kvo_lazy_methods = {
    proxy_count, proxy_get, proxy_index_of, proxy_contains, proxy_pick};

bool kvo_collection_property(const kvo_collection *collection, const char **class_name,
    const char **key) {
  if (kvo_collection_is_stored(collection)) return false;
  const kvo_proxy *proxy = (const kvo_proxy *)(const void *)collection;
  *class_name = kvo_class_of(proxy->owner)->name;
  *key = proxy->key;
  return true;
}
