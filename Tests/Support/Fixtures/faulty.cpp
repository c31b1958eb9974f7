#include "fixture_faulty.h"

#include <kvo_coding.h>
#include <kvo_collection.h>
#include <kvo_diagnostics.h>
#include <kvo_mutable.h>

#include <cstddef>
#include <cstdio>
#include <utility>

#include "require.h"

namespace {

struct faulty {
  kvo_object object;
  int value;
  faulty *next;
  kvo_collection *list;
};

struct fault {};

thread_local int calls_left; // until one throws; 0: none does
thread_local int made, deaths;

void may_throw() {
  if (calls_left && !--calls_left) throw fault{};
}

faulty *of(kvo_object *object) { return reinterpret_cast<faulty *>(object); }

kvo_object *get_next(kvo_object *self, const kvo_method *) {
  may_throw();
  faulty *next = of(self)->next;
  return next ? &next->object : nullptr;
}

void set_next(kvo_object *self, const kvo_method *, kvo_object *next) {
  kvo_store_retained_object(&of(self)->next, next);
}

kvo_collection *get_list(kvo_object *self, const kvo_method *) {
  may_throw();
  return of(self)->list;
}

void set_list(kvo_object *self, const kvo_method *, kvo_collection *list) {
  kvo_store_retained_object(&of(self)->list, list);
}

size_t count_of_items(kvo_object *, const kvo_method *) {
  may_throw();
  return 3;
}

kvo_object *item_at_index(kvo_object *self, const kvo_method *_cmd, size_t) {
  return get_next(self, _cmd);
}

int compare(kvo_object *, const kvo_method *, kvo_object *) {
  may_throw();
  return 1;
}

kvo_status validate_next(kvo_object *, const kvo_method *, kvo_value *, kvo_error *) {
  may_throw();
  return KVO_OK;
}

bool may_access_ivars(const kvo_class *) {
  may_throw();
  return true;
}

void dealloc(kvo_object *self, const kvo_method *) {
  deaths++;
  kvo_store_retained_object(&of(self)->next, nullptr);
  kvo_store_retained_object(&of(self)->list, nullptr);
  may_throw();
}

kvo_class *make_class() {
  static uint32_t count;
  char name[32];
  kvo_error error = {};
  snprintf(name, sizeof name, "CFaulty%u", __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
  kvo_class *cls = kvo_class_create(name, nullptr, sizeof(faulty), &error);
  require_ok(error.status, &error);
  require_method(cls, "next", (kvo_imp)get_next, KVO_ENCODED("@@:"));
  require_method(cls, "setNext:", (kvo_imp)set_next, KVO_ENCODED("v@:@"));
  require_method(cls, "list", (kvo_imp)get_list, KVO_ENCODED("@@:"));
  require_method(cls, "setList:", (kvo_imp)set_list, KVO_ENCODED("v@:@"));
  require_method(cls, "countOfItems", (kvo_imp)count_of_items, KVO_ENCODED("Q@:"));
  require_method(cls, "objectInItemsAtIndex:", (kvo_imp)item_at_index, KVO_ENCODED("@@:Q"));
  require_method(cls, "compare:", (kvo_imp)compare, KVO_ENCODED("i@:@"));
  require_ivar(cls, "_plain", offsetof(faulty, value), KVO_LAYOUT_OF(int, "i"));
  require_hook(cls, "validateNext:error:", (kvo_imp)validate_next);
  require_hook(cls, "dealloc", (kvo_imp)dealloc);
  require_class_method(cls, "accessInstanceVariablesDirectly", (kvo_imp)may_access_ivars);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

void notified(void *, kvo_object *, const char *, const kvo_change *) {}

/// A value that a C++ body owns, destroyed also if an exception leaves the body.
struct owned_value {
  kvo_value value = {};
  ~owned_value() { kvo_value_destroy(&value); }
  kvo_collection *collection() const {
    return reinterpret_cast<kvo_collection *>(kvo_value_get_object(&value));
  }
};

struct owned_handle {
  kvo_handle *handle = nullptr;
  ~owned_handle() { kvo_handle_release(handle); }
};

struct owned_collection {
  kvo_collection *collection = nullptr;
  ~owned_collection() { kvo_object_release(reinterpret_cast<kvo_object *>(collection)); }
};

void observe(kvo_object *object, const char *path, uint32_t options, owned_handle &handle) {
  kvo_add_callback(object, path, (kvo_options)options, notified, nullptr, nullptr, &handle.handle,
      nullptr);
}

void read(kvo_object *object, const char *key, owned_value &value) {
  kvo_value_for_key(object, key, &value.value, nullptr);
}

kvo_value value_of(kvo_collection *collection) {
  return kvo_value_object(reinterpret_cast<kvo_object *>(collection));
}

kvo_collection *array_of(const kvo_value &value) {
  const kvo_value two[] = {value, value};
  return kvo_collection_create(KVO_ARRAY, two, 2, nullptr);
}

kvo_object *make(kvo_class *cls) {
  made++;
  return kvo_object_create(cls);
}

/// Two objects: the first leads to the second by `next`.
struct pair {
  kvo_class *cls;
  kvo_object *first, *second;

  explicit pair(kvo_class *cls) : cls(cls), first(make(cls)), second(make(cls)) {
    kvo_store_retained_object(&of(first)->next, second);
  }
  ~pair() {
    kvo_object_release(first);
    kvo_object_release(second);
  }
};

// Makes a set of arrays that begin with a proxy and differ in length: enough of them to be hashed.
void make_set(const kvo_value &items) {
  constexpr size_t count = 10;
  owned_value arrays[count];
  owned_collection set;
  kvo_value values[count], elements[count] = {items};
  for (size_t i = 0; i < count; i++) {
    owned_collection array;
    array.collection = kvo_collection_create(KVO_ARRAY, elements, i + 1, nullptr);
    values[i] = arrays[i].value = value_of(array.collection);
  }
  set.collection = kvo_collection_create(KVO_SET, values, count, nullptr);
}

void use_collection(faulty_use use, const pair &objects) {
  owned_value items, others, array, other, one, result;
  owned_collection made, same;
  char text[64];
  read(objects.first, "items", items);
  read(objects.first, "items", others);
  one.value = kvo_value_object(objects.second);
  made.collection = array_of(items.value);
  same.collection = array_of(others.value);
  array.value = value_of(made.collection);
  other.value = value_of(same.collection);
  switch (use) {
  case FAULTY_SNAPSHOT: {
    owned_collection taken;
    taken.collection = kvo_collection_snapshot(items.collection(), nullptr);
    break;
  }
  case FAULTY_DESCRIBED: kvo_value_describe(&array.value, text, sizeof text); break;
  case FAULTY_EQUAL: kvo_value_equal(&array.value, &other.value); break;
  case FAULTY_SOUGHT: kvo_collection_index_of(items.collection(), &one.value); break;
  case FAULTY_MEMBERS: make_set(items.value); break;
  case FAULTY_LAST: kvo_collection_last(items.collection(), &result.value, nullptr); break;
  default:
    kvo_value_value_for_key_path(&array.value, "@unionOfArrays.self", &result.value, nullptr);
  }
}

void use_mutable(faulty_use use, const pair &objects) {
  owned_value one, items;
  owned_collection proxy;
  one.value = kvo_value_object(objects.second);
  if (use == FAULTY_PROXY_ALONG_PATH) {
    kvo_mutable_array_key_path(objects.first, "next.list", &proxy.collection, nullptr);
    return;
  }
  read(objects.first, "items", items);
  const kvo_value values[] = {items.value, items.value};
  bool is_set = use == FAULTY_SET_EDITED;
  if (is_set) of(objects.first)->list = kvo_collection_create(KVO_SET, &one.value, 1, nullptr);
  else kvo_store_retained_object(&of(objects.first)->list, items.collection());
  if (is_set) kvo_mutable_set(objects.first, "list", &proxy.collection, nullptr);
  else kvo_mutable_array(objects.first, "list", &proxy.collection, nullptr);
  if (is_set) kvo_collection_add(proxy.collection, values, nullptr);
  else kvo_collection_index_of(proxy.collection, &one.value);
  // Breaks the cycle of a proxy that shows its own owner.
  kvo_store_retained_object(&of(objects.first)->list, nullptr);
}

// Releases the last references to elements: as old values of several recipients, or in an edit of a proxy.
void let_elements_go(faulty_use use, const pair &objects) {
  owned_handle plain, counted;
  owned_collection proxy;
  kvo_value elements[3];
  for (kvo_value &element : elements) {
    kvo_object *object = make(objects.cls);
    element = kvo_value_object(object);
    kvo_object_release(object);
  }
  of(objects.first)->list = kvo_collection_create(KVO_ARRAY, elements, 3, nullptr);
  for (kvo_value &element : elements) kvo_value_destroy(&element);
  observe(objects.first, "list", KVO_OLD, plain);
  observe(objects.first, "list.@count", KVO_OLD, counted);
  if (use == FAULTY_ELEMENTS_REPLACED) {
    kvo_set_value_for_key(objects.first, "list", nullptr, nullptr);
    return;
  }
  kvo_mutable_array(objects.first, "list", &proxy.collection, nullptr);
  kvo_collection_remove_at(proxy.collection, 0, nullptr);
}

void change(faulty_use use, const pair &objects) {
  owned_handle handle;
  kvo_object *object = objects.first;
  kvo_index_set *first = nullptr;
  struct owned_indexes {
    kvo_index_set *&indexes;
    ~owned_indexes() { kvo_index_set_destroy(indexes); }
  } owned = {first};
  bool is_new = use == FAULTY_NEW || use == FAULTY_INITIAL;
  const char *path = use == FAULTY_OLD_ALONG_PATH ? "next.items" : "items";
  uint32_t options = use == FAULTY_INITIAL       ? KVO_NEW | KVO_INITIAL
                     : is_new                    ? KVO_NEW
                     : use == FAULTY_SET_CHANGED ? KVO_OLD | KVO_NEW
                                                 : KVO_OLD;
  observe(object, path, options, handle);
  if (use == FAULTY_REMOVED) {
    first = kvo_index_set_create_range(0, 1);
    kvo_will_change_indexes(object, KVO_REMOVAL, first, "items");
    kvo_did_change_indexes(object, KVO_REMOVAL, first, "items");
  } else if (use == FAULTY_SET_CHANGED) {
    owned_value one;
    one.value = kvo_value_object(objects.second);
    owned_collection members;
    members.collection = kvo_collection_create(KVO_SET, &one.value, 1, nullptr);
    kvo_will_change_set(object, KVO_MINUS, members.collection, "items");
    kvo_did_change_set(object, KVO_MINUS, members.collection, "items");
  } else {
    const char *changed = use == FAULTY_OLD_ALONG_PATH ? "next" : "items";
    kvo_will_change(object, changed);
    kvo_did_change(object, changed);
  }
}

// Observes paths with several components: while a value is read, the walk holds the values before it.
void walk(const pair &objects) {
  owned_value one;
  owned_handle along, among;
  one.value = kvo_value_object(objects.second);
  of(objects.first)->list = array_of(one.value);
  observe(objects.first, "next.next.plain", 0, along);
  observe(objects.first, "list.@max.next.plain", 0, among);
}

void compare_distinct(const pair &objects) {
  owned_value items, others;
  owned_collection list, other;
  owned_handle handle;
  read(objects.second, "items", items);
  read(objects.second, "items", others);
  list.collection = array_of(items.value);
  other.collection = array_of(others.value);
  kvo_store_retained_object(&of(objects.first)->list, list.collection);
  observe(objects.first, "list", KVO_DISTINCT, handle);
  kvo_will_change(objects.first, "list");
  kvo_store_retained_object(&of(objects.first)->list, other.collection);
  kvo_did_change(objects.first, "list");
}

// Destroys a struct that holds the last references to its objects.
void let_struct_go(const pair &objects) {
  kvo_object *held[4];
  kvo_value value;
  for (kvo_object *&object : held) object = make(objects.cls);
  kvo_value_init(&value, kvo_type_for_encoding("{four=@@@@}", nullptr), held);
  for (kvo_object *object : held) kvo_object_release(object);
  kvo_value_destroy(&value);
}

// Stores a list that holds the last reference to its element.
void store_list(const pair &objects, kvo_object *owner) {
  kvo_object *object = make(objects.cls);
  kvo_value element = kvo_value_object(object);
  kvo_collection *list = kvo_collection_create(KVO_ARRAY, &element, 1, nullptr);
  kvo_store_retained_object(&of(owner)->list, list);
  kvo_value_destroy(&element);
  kvo_object_release(reinterpret_cast<kvo_object *>(list));
  kvo_object_release(object);
}

// Lets an object die with two open manual changes, which hold the last references to old values.
void leave_open(const pair &objects) {
  int calls = std::exchange(calls_left, 0);
  kvo_object *object = make(objects.cls);
  owned_handle handle;
  observe(object, "list", KVO_OLD, handle);
  for (int i = 0; i < 2; i++) {
    store_list(objects, object);
    kvo_will_change(object, "list");
  }
  kvo_store_retained_object(&of(object)->list, nullptr);
  calls_left = calls;
  kvo_object_release(object);
}

// Two registrations. Each holds the last reference to a list, and so to the list's element. Each counts as an object
// that was made, and its end as a death.
struct distinct_pair {
  kvo_handle *handles[2] = {};

  explicit distinct_pair(const pair &objects) {
    for (kvo_handle *&handle : handles) {
      store_list(objects, objects.first);
      kvo_add_callback(
          objects.first, "list", KVO_DISTINCT, notified, nullptr, [](void *) { deaths++; }, &handle,
          nullptr);
      made++;
    }
    kvo_store_retained_object(&of(objects.first)->list, nullptr);
  }
  ~distinct_pair() {
    calls_left = 0;
    release();
  }
  void release() {
    for (kvo_handle *&handle : handles) kvo_handle_release(std::exchange(handle, nullptr));
  }
};

void release_when_notified(void *context, kvo_object *, const char *, const kvo_change *change) {
  if (!kvo_change_is_prior(change)) static_cast<distinct_pair *>(context)->release();
}

void end_distinct(faulty_use use, const pair &objects) {
  int calls = std::exchange(calls_left, 0);
  owned_handle other;
  distinct_pair distinct(objects);
  if (use == FAULTY_DISTINCT_REMOVED_WITH_PATH) observe(objects.first, "next.plain", 0, other);
  if (use == FAULTY_DISTINCT_RELEASED_WITHIN)
    kvo_add_callback(objects.first, "next", KVO_PRIOR, release_when_notified, &distinct, nullptr,
        &other.handle, nullptr);
  calls_left = calls;
  if (use == FAULTY_DISTINCT_RELEASED) distinct.release();
  else if (use == FAULTY_DISTINCT_RELEASED_WITHIN)
    kvo_set_value_for_key(objects.first, "next", nullptr, nullptr);
  else kvo_remove_all_observers(objects.first);
}

// Changes links, one of which leads to a proxy, and one to proxies in an array. Nothing throws before the changes.
void follow(const pair &objects) {
  owned_value items;
  owned_collection list;
  owned_handle handle, other;
  int calls = calls_left;
  calls_left = 0;
  read(objects.first, "items", items);
  list.collection = array_of(items.value);
  kvo_store_retained_object(&of(objects.first)->list, list.collection);
  observe(objects.first, "items.@max.next.plain", 0, handle);
  observe(objects.first, "list.@max.next.plain", 0, other);
  calls_left = calls;
  static const char *const keys[] = {"items", "list"};
  for (const char *key : keys) {
    kvo_will_change(objects.first, key);
    kvo_did_change(objects.first, key);
  }
}

void use_keys(faulty_use use, const pair &objects) {
  const char *const read_keys[] = {"next", "next"}, *const set_keys[] = {"next", "plain"};
  kvo_value values[2] = {kvo_value_object(objects.second), kvo_value_int(1)};
  owned_value first, second;
  first.value = values[0];
  switch (use) {
  case FAULTY_VALIDATED: kvo_validate_value(objects.first, "next", &first.value, nullptr); break;
  case FAULTY_SET_TOGETHER:
    kvo_set_values_for_keys(objects.first, set_keys, 2, values, nullptr);
    break;
  default: {
    kvo_value read[2];
    if (kvo_values_for_keys(objects.first, read_keys, 2, read, nullptr)) return;
    kvo_value_destroy(&read[0]);
    kvo_value_destroy(&read[1]);
  }
  }
}

void visit(const pair &objects) {
  owned_handle handle, other;
  observe(objects.first, "next", 0, handle);
  observe(objects.first, "next", 0, other);
  kvo_visit_registrations(
      objects.first, [](void *, const kvo_registration_info *) { may_throw(); }, nullptr);
}

void find_maximum(const pair &objects) {
  owned_value one, result;
  one.value = kvo_value_object(objects.second);
  of(objects.first)->list = array_of(one.value);
  kvo_value_for_key_path(objects.first, "list.@max.self", &result.value, nullptr);
}

void depend(const pair &objects) {
  owned_handle handle;
  observe(objects.first, "items", 0, handle);
  kvo_class_add_dependency(objects.cls, "items", "next.list", nullptr);
}

void use_for(faulty_use use, const pair &objects) {
  switch (use) {
  case FAULTY_WALKED: walk(objects); break;
  case FAULTY_PROXY_ALONG_PATH:
  case FAULTY_SEARCHED:
  case FAULTY_SET_EDITED: use_mutable(use, objects); break;
  case FAULTY_ELEMENT_REMOVED:
  case FAULTY_ELEMENTS_REPLACED: let_elements_go(use, objects); break;
  case FAULTY_MAXIMUM: find_maximum(objects); break;
  case FAULTY_VALIDATED:
  case FAULTY_READ_TOGETHER:
  case FAULTY_SET_TOGETHER: use_keys(use, objects); break;
  case FAULTY_VISITED: visit(objects); break;
  case FAULTY_OLD:
  case FAULTY_NEW:
  case FAULTY_INITIAL:
  case FAULTY_OLD_ALONG_PATH:
  case FAULTY_REMOVED:
  case FAULTY_SET_CHANGED: change(use, objects); break;
  case FAULTY_DISTINCT: compare_distinct(objects); break;
  case FAULTY_STRUCT: let_struct_go(objects); break;
  case FAULTY_LEFT_OPEN: leave_open(objects); break;
  case FAULTY_DISTINCT_RELEASED:
  case FAULTY_DISTINCT_REMOVED:
  case FAULTY_DISTINCT_REMOVED_WITH_PATH:
  case FAULTY_DISTINCT_RELEASED_WITHIN: end_distinct(use, objects); break;
  case FAULTY_FOLLOWED: follow(objects); break;
  case FAULTY_DEPENDENCY: depend(objects); break;
  default: use_collection(use, objects);
  }
}

// Whether a method threw.
bool try_with(faulty_use use, kvo_class *cls, int calls) {
  pair objects(cls);
  calls_left = calls;
  bool threw = false;
  try {
    use_for(use, objects);
  } catch (const fault &) {
    threw = true;
  }
  calls_left = 0;
  kvo_store_retained_object(&of(objects.first)->list, nullptr);
  return threw;
}

} // namespace

int faulty_run(faulty_use use, bool anew, int *throws) {
  static kvo_class *const shared = make_class();
  made = deaths = *throws = 0;
  while (try_with(use, anew ? make_class() : shared, *throws + 1)) ++*throws;
  return made - deaths;
}
