// The searches of key-value coding, and the cache of their results (B1, B2, B4).
//
// A class caches the results per key (kvo_class.accessors), readable without a lock. Each entry has the class's
// generation: a method or ivar that is added later increments it, and the next reader searches again. Keys that are
// not found are not cached, so asking for arbitrary names costs no memory.
#include "coding/kvo_accessor_search.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "coding/kvo_collection_accessors.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"

#include <string.h>

_Static_assert(sizeof(void *) != 8 || sizeof(kvo_accessors) == 104,
    "there is one for each key of a class: with an allocator's header it has 112 bytes");

static bool is_getter(const kvo_method *method) {
  return method && method->call && method->call->argument_count == 2 &&
         method->call->result->kind != KVO_KIND_VOID;
}

static const kvo_method *find_by_name(const kvo_class *cls, const char *prefix, const char *key,
    bool capitalise, const char *suffix) {
  const char *selector = kvo_accessor_name(prefix, key, capitalise, suffix);
  return selector ? kvo_class_find_method(cls, selector) : NULL;
}

// get<Key>, <key>, is<Key>, _<key>.
static const kvo_method *find_getter(const kvo_class *cls, const char *key) {
  static const struct {
    const char *prefix;
    bool capitalise;
  } forms[] = {{"get", true}, {"", false}, {"is", true}, {"_", false}};
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const kvo_method *method = find_by_name(cls, forms[i].prefix, key, forms[i].capitalise, "");
    if (is_getter(method)) return method;
  }
  return NULL;
}

// set<Key>:, _set<Key>:.
static const kvo_method *find_setter(const kvo_class *cls, const char *key) {
  static const char *const prefixes[] = {"set", "_set"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    const kvo_method *method = find_by_name(cls, prefixes[i], key, true, ":");
    if (method && method->key_count) return method;
  }
  return NULL;
}

static const kvo_ivar *find_ivar_named(const kvo_class *cls, const char *name) {
  for (; name && cls; cls = cls->superclass) {
    const kvo_ivar *ivar = kvo_map_get(&cls->ivars, name);
    if (ivar) return ivar;
  }
  return NULL;
}

static bool may_access_ivars(const kvo_class *cls) {
  kvo_imp hook = kvo_class_find_class_method(cls, kvo_hooks()->access_ivars);
  return !hook || ((bool (*)(const kvo_class *))hook)(cls);
}

// _<key>, _is<Key>, <key>, is<Key>.
static const kvo_ivar *find_ivar(const kvo_class *cls, const char *key) {
  const char *names[] = {kvo_accessor_name("_", key, false, ""),
      kvo_accessor_name("_is", key, true, ""), kvo_key_find(key),
      kvo_accessor_name("is", key, true, "")};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const kvo_ivar *ivar = find_ivar_named(cls, names[i]);
    if (ivar) return may_access_ivars(cls) ? ivar : NULL;
  }
  return NULL;
}

static const kvo_property_description *find_property(const kvo_class *cls, const char *key) {
  const char *interned = kvo_key_find(key);
  for (; interned && cls; cls = cls->superclass) {
    const kvo_property *property = kvo_map_get(&cls->properties, interned);
    if (property) return &property->description;
  }
  return NULL;
}

static void take_property(kvo_accessors *found, const kvo_property_description *property) {
  found->is_bound = true;
  found->property = property;
  found->getter = property->get ? KVO_ACCESS_COMPUTED : KVO_ACCESS_STORED;
  found->setter = property->set                        ? KVO_ACCESS_COMPUTED
                  : property->get || !property->offset ? KVO_ACCESS_NONE
                                                       : KVO_ACCESS_STORED;
  found->offset = property->offset;
  found->type = found->set_type = property->type;
  found->automatic = property->manual        ? KVO_BY_HAND
                     : found->cls->announces ? KVO_BY_ANNOUNCER
                                             : KVO_BY_SETTER;
}

static bool is_overridden(const kvo_class *cls, const char *selector, kvo_imp imp) {
  const kvo_method *hook = kvo_class_find_method(cls, selector);
  return hook && kvo_class_imp(cls, hook) != imp;
}

static void take_methods(kvo_accessors *found, const kvo_class *cls, const char *key) {
  if ((found->get_method = find_getter(cls, key))) {
    found->getter = KVO_ACCESS_METHOD;
    found->type = found->get_method->call->result;
  } else if (found->collection && found->collection->kind) {
    found->getter = KVO_ACCESS_COLLECTION;
    found->type = kvo_type_of_kind(KVO_KIND_OBJECT);
  }
  if ((found->set_method = find_setter(cls, key))) {
    found->setter = KVO_ACCESS_METHOD;
    found->set_type = found->set_method->call->arguments[2];
  }
}

// An ivar is used for reading or setting, or both: for whichever there is no method.
static void take_ivar(kvo_accessors *found, const kvo_ivar *ivar) {
  found->offset = ivar->offset;
  if (!found->getter) {
    found->getter = KVO_ACCESS_STORED;
    found->type = ivar->type;
  }
  if (!found->setter) {
    found->setter = KVO_ACCESS_STORED;
    found->set_type = ivar->type;
  }
}

// Finds nothing for a collection, since its elements have the keys.
static kvo_status accessor_search_run(kvo_accessors *found, const kvo_class *cls, const char *key) {
  const kvo_property_description *property = find_property(cls, key);
  if (property) take_property(found, property);
  if (property || cls->is_collection) return KVO_OK;
  kvo_collection_accessors *collection;
  kvo_status status = kvo_collection_accessors_find(cls, key, &collection);
  if (status) return status;
  found->collection = collection;
  take_methods(found, cls, key);
  const kvo_ivar *ivar = found->getter && found->setter ? NULL : find_ivar(cls, key);
  if (ivar) take_ivar(found, ivar);
  return KVO_OK;
}

// Whether the key has a binding's storage, by which changes announce it, even if a function reads it.
static bool is_bound_storage(const kvo_accessors *found) {
  return found->is_bound && found->offset;
}

static const kvo_accessors *accessor_search_no_memory(const kvo_class *cls, const char *key,
    kvo_error *error) {
  kvo_fail(error, KVO_NO_MEMORY, cls->name, key, "No memory for the accessors of %s of %s.", key,
      cls->name);
  return NULL;
}

static bool accessor_search_is_inline(const kvo_type *type) {
  return type->size <= sizeof(((kvo_value *)0)->payload) && type->alignment <= 16;
}

static bool accessor_search_is_plain(const kvo_type *type) { return !type->copy && !type->destroy; }

// Determines whether a change may read a field instead of calling the getter.
static void take_field(kvo_accessors *found) {
  const kvo_class *cls = found->cls;
  ptrdiff_t field = -1;
  if (found->getter == KVO_ACCESS_STORED) field = found->offset;
  if (found->getter == KVO_ACCESS_METHOD)
    field = kvo_field_of_getter(kvo_class_imp(cls, found->get_method));
  bool is_asked = found->overrides_get_value && !cls->is_bound; // see kvo_accessors_read
  if (field < 0 || field > UINT32_MAX || is_asked || !accessor_search_is_inline(found->type))
    return;
  found->field = (uint32_t)field;
  if (accessor_search_is_plain(found->type)) found->field_kind = (uint8_t)found->type->kind;
  else found->field_is_copied = found->is_bound && found->getter == KVO_ACCESS_STORED;
}

// Adds accessors to their class. If another thread has added the same ones since they were searched for, returns that
// thread's, and the caller frees `made`. NULL if out of memory.
static const kvo_accessors *accessor_search_add(kvo_class *cls, kvo_accessors *made) {
  KVO_LOCKED(&kvo_class_lock);
  const kvo_accessors *previous = kvo_key_set_get(&cls->accessors, made->key);
  bool is_known = previous && previous->generation == made->generation &&
                  previous->getter == made->getter && previous->setter == made->setter;
  if (is_known) return previous;
  made->previous = previous;
  made->is_interposed = previous && previous->is_interposed;
  return kvo_key_set_add_locked(&cls->accessors, made) ? made : NULL;
}

static const kvo_accessors *accessor_search_keep(kvo_accessors found, const kvo_class *plain,
    const char *key, kvo_error *error) {
  kvo_class *cls = (kvo_class *)(uintptr_t)plain;
  kvo_accessors *kept = kvo_alloc(sizeof *kept);
  found.key = kvo_key_intern(key);
  found.id = is_bound_storage(&found) ? (uintptr_t)found.offset : (uintptr_t)found.key;
  found.overrides_get_value =
      is_overridden(cls, kvo_hooks()->value_for_key, (kvo_imp)kvo_search_value);
  found.overrides_set_value =
      is_overridden(cls, kvo_hooks()->set_value_for_key, (kvo_imp)kvo_search_and_set);
  take_field(&found);
  if (kept) *kept = found;
  const kvo_accessors *added = kept && found.key ? accessor_search_add(cls, kept) : NULL;
  if (added && added == kept) return kept;
  kvo_free(found.collection);
  kvo_free(kept);
  return added ? added : accessor_search_no_memory(cls, key, error);
}

const kvo_accessors *kvo_class_found_accessors(const kvo_class *cls, const char *key) {
  const char *interned = kvo_key_find(key);
  const kvo_accessors *known = interned ? kvo_class_known_accessors(cls, interned) : NULL;
  return known && (known->getter || known->setter) ? known : NULL;
}

const kvo_accessors *kvo_class_accessors(const kvo_class *cls, const char *key, kvo_error *error) {
  uint32_t generation = __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  const kvo_accessors *known = kvo_class_found_accessors(cls, key);
  if (known) return known;
  kvo_accessors found = {.cls = cls, .generation = generation, .automatic = -1};
  if (accessor_search_run(&found, cls, key)) return accessor_search_no_memory(cls, key, error);
  if (found.getter || found.setter) return accessor_search_keep(found, cls, key, error);
  kvo_free(found.collection);
  kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, key,
      "%s has no accessor and no ivar for the key \"%s\".", cls->name, key);
  return NULL;
}

const kvo_accessors *kvo_class_undefined_accessors(const kvo_class *cls, const char *key) {
  uint32_t generation = __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  const kvo_accessors *known = kvo_class_known_accessors(cls, key);
  if (known) return known;
  kvo_accessors none = {.cls = cls, .generation = generation, .automatic = -1};
  return accessor_search_keep(none, cls, key, NULL);
}

static const kvo_accessors **recent_slot(const kvo_class *cls, const char *name) {
  size_t place = (size_t)(kvo_hash_pointer(name) >> 32) % KVO_RECENT_KEYS;
  return &((kvo_class *)(uintptr_t)cls)->recent[place];
}

// A literal is usually at the same address as last time, so it need not be hashed.
const kvo_accessors *kvo_class_recent_accessors(const kvo_class *cls, const char *name) {
  const kvo_accessors *recent = __atomic_load_n(recent_slot(cls, name), __ATOMIC_ACQUIRE);
  bool is_fresh =
      recent && recent->generation == __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
  return is_fresh && !strcmp(recent->key, name) ? recent : NULL;
}

const kvo_accessors *kvo_class_ready_key(const kvo_class *cls, const char *interned,
    const char *name) {
  const kvo_accessors *known = kvo_class_known_accessors(cls, interned);
  if (!known || !__atomic_load_n(&known->is_ready, __ATOMIC_ACQUIRE)) return NULL;
  __atomic_store_n(recent_slot(cls, name), known, __ATOMIC_RELEASE);
  return known;
}

const kvo_accessors *kvo_class_ready_accessors(const kvo_class *cls, const char *name) {
  const kvo_accessors *recent = kvo_class_recent_accessors(cls, name);
  if (KVO_LIKELY(recent != NULL)) return recent;
  const char *interned = kvo_key_find(name);
  return interned ? kvo_class_ready_key(cls, interned, name) : NULL;
}

uintptr_t kvo_class_key_id(const kvo_class *cls, const char *interned) {
  const kvo_accessors *accessors = interned ? kvo_key_set_get(&cls->accessors, interned) : NULL;
  return accessors ? accessors->id : 0;
}

const kvo_accessors *kvo_accessors_search_again(const kvo_accessors *accessors) {
  const kvo_accessors *newer = kvo_class_accessors(accessors->cls, accessors->key, NULL);
  // A key keeps its id while it is observed, even if its storage moved, because the table is indexed by the id.
  return newer && newer->id == accessors->id ? newer : accessors;
}

// MARK: Class methods

// The questions that this thread is asking, the innermost first.
typedef struct asked {
  const kvo_class_question *question;
  const kvo_class *cls;
  const char *key;
  kvo_imp method;
  void *answer;
  const struct asked *outer;
} asked;

static _Thread_local const asked *innermost;

static void accessor_search_ask_general(void *opaque) {
  const asked *asked = opaque;
  asked->question->ask_general(asked->method, asked->cls, asked->key, asked->answer);
}

static void end_question(void *opaque) { innermost = ((asked *)opaque)->outer; }

static const kvo_class *receiver_of(const char *selector, const kvo_class *cls) {
  const asked *one = innermost;
  while (one && one->question->selector != selector) one = one->outer;
  return one && kvo_class_is_subclass_of(one->cls, cls) ? one->cls : cls;
}

void kvo_class_ask(const kvo_class_question *question, const kvo_class *cls, const char *key,
    void *answer) {
  const kvo_class *receiver = receiver_of(question->selector, cls);
  kvo_imp method = kvo_class_find_class_method(cls, question->selector);
  if (!method) {
    question->ask_by_key(receiver, key, answer);
    return;
  }
  asked asked = {question, receiver, key, method, answer, innermost};
  innermost = &asked;
  kvo_unwinding(accessor_search_ask_general, end_question, &asked);
  end_question(&asked);
}

static void ask_automatic(kvo_imp method, const kvo_class *cls, const char *key, void *answer) {
  *(bool *)answer = ((bool (*)(const kvo_class *, const char *))method)(cls, key);
}

static void ask_automatic_by_key(const kvo_class *cls, const char *key, void *answer) {
  static const char *const prefixes[] = {
      "automaticallyNotifiesObserversOf", "automaticallyNotifiesObserversFor"};
  for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
    kvo_imp method =
        kvo_class_find_class_method(cls, kvo_accessor_name(prefixes[i], key, true, ""));
    if (!method) continue;
    *(bool *)answer = ((bool (*)(const kvo_class *))method)(cls);
    return;
  }
}

bool kvo_class_automatically_notifies(const kvo_class *cls, const char *key) {
  const kvo_class_question question = {
      kvo_hooks()->automatically_notifies, ask_automatic, ask_automatic_by_key};
  bool answer = true;
  kvo_class_ask(&question, cls, key, &answer);
  return answer;
}

bool kvo_accessors_ask_automatic(const kvo_accessors *accessors) {
  bool automatic = kvo_class_automatically_notifies(accessors->cls, accessors->key);
  __atomic_store_n((int8_t *)(uintptr_t)&accessors->automatic, automatic, __ATOMIC_RELEASE);
  return automatic;
}

// The result is on the stack, so that a getter that throws leaks nothing. Not inlined, because an array of variable
// size would slow down every reader.
static __attribute__((noinline)) void read_copied(const kvo_accessors *accessors, kvo_imp imp,
    kvo_object *object, kvo_value *value) {
  const kvo_method *method = accessors->get_method;
  void *bytes = __builtin_alloca(accessors->type->size);
  kvo_call_get(method->call, imp, object, method, bytes);
  kvo_value_init(value, accessors->type, bytes);
}

static void read_method(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  const kvo_method *method = accessors->get_method;
  const kvo_type *type = accessors->type;
  kvo_imp imp = kvo_method_lookup(object, method);
  if (KVO_LIKELY(!type->copy && type->size <= KVO_VALUE_INLINE_SIZE)) {
    value->type = type;
    kvo_call_get(method->call, imp, object, method, &value->payload);
    return;
  }
  if (KVO_UNLIKELY(type->kind != KVO_KIND_OBJECT)) {
    read_copied(accessors, imp, object, value);
    return;
  }
  kvo_object *answer;
  kvo_call_get(method->call, imp, object, method, &answer);
  if (!answer) return;
  value->type = type;
  memcpy(value->payload.words, &answer, sizeof answer);
  kvo_object_retain(answer);
}

static void read_collection(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  kvo_collection *proxy =
      kvo_lazy_collection_create(object, accessors->key, accessors->collection->kind);
  *value = kvo_value_object((kvo_object *)proxy);
  kvo_object_release((kvo_object *)proxy);
}

kvo_status kvo_ask_value_hook(const kvo_class *cls, const char *selector, kvo_object *object,
    const char *key, kvo_value *value, kvo_error *cause) {
  typedef kvo_status (*hook)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  const kvo_method *method = kvo_class_find_method(cls, selector);
  *value = KVO_VALUE_NIL;
  kvo_error_clear(cause);
  if (!method) return KVO_UNDEFINED_KEY;
  kvo_status status = ((hook)kvo_class_imp(cls, method))(object, method, key, value, cause);
  if (status) *value = KVO_VALUE_NIL;
  return status;
}

static void accessor_search_ask(const kvo_accessors *accessors, const char *selector,
    kvo_object *object, kvo_value *value) {
  kvo_error refusal;
  kvo_ask_value_hook(accessors->cls, selector, object, accessors->key, value, &refusal);
}

void kvo_accessors_read(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  // A binding's `valueForKey:` is for key-value coding. Observers of a key receive the getter's result.
  if (KVO_UNLIKELY(accessors->overrides_get_value) && !accessors->cls->is_bound) {
    accessor_search_ask(accessors, kvo_hooks()->value_for_key, object, value);
  } else {
    kvo_accessors_read_found(accessors, object, value, NULL);
  }
}

void kvo_accessors_read_link(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  if (KVO_UNLIKELY(accessors->overrides_get_value)) {
    accessor_search_ask(accessors, kvo_hooks()->value_for_key, object, value);
  } else {
    kvo_accessors_read_found(accessors, object, value, NULL);
  }
}

static const char *storage_of(const kvo_accessors *accessors, const kvo_object *object) {
  return (const char *)object + accessors->offset;
}

// Lets the binding stop the program if the property is being mutated in place (E4).
static void check_read(const kvo_accessors *accessors, const kvo_object *object) {
  const kvo_class_operations *operations = accessors->cls->operations;
  if (operations->check_read) operations->check_read(storage_of(accessors, object));
}

void kvo_accessors_read_own(const kvo_accessors *accessors, kvo_object *object, kvo_value *value) {
  if (accessors->is_bound && accessors->getter == KVO_ACCESS_STORED) {
    *value = KVO_VALUE_NIL;
    kvo_value_init(value, accessors->type, storage_of(accessors, object));
  } else {
    kvo_accessors_read(accessors, object, value);
  }
}

kvo_status kvo_accessors_read_found(const kvo_accessors *accessors, kvo_object *object,
    kvo_value *value, kvo_error *error) {
  *value = KVO_VALUE_NIL;
  switch (accessors->getter) {
  case KVO_ACCESS_METHOD: read_method(accessors, object, value); break;
  case KVO_ACCESS_STORED:
    check_read(accessors, object);
    kvo_value_init(value, accessors->type, storage_of(accessors, object));
    break;
  case KVO_ACCESS_COMPUTED:
    return accessors->property->get(object, accessors->property->binding, value, error);
  case KVO_ACCESS_COLLECTION: read_collection(accessors, object, value); break;
  case KVO_ACCESS_NONE:
    accessor_search_ask(accessors, kvo_hooks()->value_for_undefined, object, value);
    break;
  }
  return KVO_OK;
}
