// The swizzle: the dynamic subclass, its interposers, and swapping the isa (A1).
//
// `KVONotifying_<Class>` is made when an object of a class is first observed. Its table is a copy of the class's, in
// which interposers replace the setters of all keys that were ever observed, in any object of the class. All observed
// objects of the class share it, and it is never freed. If such an object has no observer of a key that is
// interposed, a set of the key costs one look-up in the object's table. A key that was never observed has its plain
// setter.
//
// Order of a first observation: the subclass and its interposers are complete before the isa points at it (release
// store). So a thread that dispatches through the new isa finds a complete table.
#include "classes/kvo_dynamic_class.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "classes/kvo_accessor_kind.h"
#include "classes/kvo_accessors.h"
#include "kvo_diagnostics.h"

#include <stdio.h>

static kvo_class *dynamic_class_locked(kvo_class *cls) {
  if (cls->dynamic) return cls->dynamic;
  char name[512];
  snprintf(name, sizeof name, "KVONotifying_%s", cls->name);
  kvo_class *dynamic = kvo_class_derive_locked(name, cls, true);
  if (!dynamic) return NULL;
  dynamic->is_dynamic = true;
  dynamic->plain = cls;
  dynamic->instance_size = cls->instance_size;
  __atomic_store_n(&cls->dynamic, dynamic, __ATOMIC_RELEASE);
  return dynamic;
}

static kvo_accessors *dynamic_class_accessors_of(const kvo_class *plain, const char *key) {
  return kvo_key_set_get(&plain->accessors, key);
}

// Newer accessors copy this from those that they replace.
static bool is_interposed(const kvo_class *plain, const char *key) {
  const kvo_accessors *accessors = dynamic_class_accessors_of(plain, key);
  return accessors && __atomic_load_n(&accessors->is_interposed, __ATOMIC_ACQUIRE);
}

bool kvo_swizzle_interposes(const kvo_class *dynamic, const kvo_method *method) {
  for (uint32_t i = 0; i < method->key_count; i++)
    if (is_interposed(dynamic->superclass, method->keys[i])) return true;
  return false;
}

static void note_first(const kvo_method *method, const char *key) {
  const char **first = (const char **)(uintptr_t)&method->first_observed;
  if (!method->first_observed) __atomic_store_n(first, key, __ATOMIC_RELEASE);
}

static void note_observed_keys_of(const kvo_class *dynamic, const kvo_method *method,
    const char *key) {
  uint8_t *observed = (uint8_t *)(uintptr_t)&method->observed;
  for (uint8_t i = 0; i < method->key_count; i++) {
    if (method->keys[i] != key && !is_interposed(dynamic->superclass, method->keys[i])) continue;
    note_first(method, method->keys[i]);
    __atomic_fetch_or(observed, (uint8_t)(1u << i), __ATOMIC_RELEASE);
  }
}

// A caller may have any of the twins' handles.
static void note_observed_keys(const kvo_class *dynamic, const kvo_method *method,
    const char *key) {
  for (; method; method = method->twins) note_observed_keys_of(dynamic, method, key);
}

static void note_first_observation(const kvo_method *method) {
  for (; method; method = method->twins) kvo_note_first_observation(method);
}

static kvo_status interpose_method_locked(kvo_class *dynamic, const kvo_method *method,
    const char *key, kvo_error *error) {
  kvo_imp interposer = kvo_choose_interposer(method->call, error);
  if (!interposer) return KVO_CLOSURES_UNAVAILABLE;
  note_observed_keys(dynamic, method, key);
  kvo_class_set_slot_locked(dynamic, method->slot, interposer);
  note_first_observation(method);
  return KVO_OK;
}

// Interposes all methods of the class that change the key: both spellings of a setter, and the methods that mutate it
// as a collection.
static kvo_status interpose_key_locked(kvo_class *dynamic, const char *key, kvo_error *error) {
  char name[KVO_SELECTOR_LIMIT];
  for (size_t i = 0; kvo_accessor_kind_selector(i, key, name, sizeof name); i++) {
    const char *selector = kvo_key_find(name);
    const kvo_method *method = selector ? kvo_class_find_method(dynamic, selector) : NULL;
    if (!method || !method->key_count) continue;
    kvo_status status = interpose_method_locked(dynamic, method, key, error);
    if (status) return status;
  }
  return KVO_OK;
}

static void dynamic_class_refuse(const kvo_class *cls, const char *key, const kvo_error *cause,
    kvo_error *error) {
  kvo_fail(error, cause->status, cls->name, key, "\"%s\" of %s can't be observed: %s", key,
      cls->name, cause->message);
}

static bool is_ready(const kvo_class *cls, const char *key, bool automatic) {
  kvo_class *dynamic = __atomic_load_n(&cls->dynamic, __ATOMIC_ACQUIRE);
  return dynamic && (!automatic || is_interposed(cls, key));
}

kvo_class *kvo_swizzle_class(const kvo_class *plain, const char *key, bool automatic,
    kvo_error *error) {
  kvo_class *cls = (kvo_class *)(uintptr_t)plain;
  if (is_ready(cls, key, automatic)) return cls->dynamic;
  KVO_LOCKED(&kvo_class_lock);
  kvo_class *dynamic = dynamic_class_locked(cls);
  if (!dynamic) {
    kvo_fail_no_memory(error, "observe", cls->name, key);
    return NULL;
  }
  if (!automatic || is_interposed(cls, key)) return dynamic;
  kvo_error cause = {0};
  if (interpose_key_locked(dynamic, key, &cause)) {
    dynamic_class_refuse(cls, key, &cause, error);
    return NULL;
  }
  __atomic_store_n(&dynamic_class_accessors_of(cls, key)->is_interposed, true, __ATOMIC_RELEASE);
  return dynamic;
}

void kvo_swizzle_refresh_locked(kvo_class *cls, const kvo_method *method) {
  if (!method->key_count) return;
  if (cls->is_dynamic && kvo_swizzle_interposes(cls, method)) {
    kvo_error error;
    if (interpose_method_locked(cls, method, NULL, &error)) kvo_break_on_misuse(error.message);
  }
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    kvo_swizzle_refresh_locked(subclass, method);
}

// The marks are cleared when the last observer has gone.
static void mark_locked(kvo_object *object, kvo_class *dynamic, uintptr_t id) {
  uintptr_t isa = (uintptr_t)__atomic_load_n(&object->isa, __ATOMIC_RELAXED);
  uintptr_t marked = (isa & KVO_ISA_MARKS) | (uintptr_t)dynamic | kvo_isa_mark(id);
  if (marked != isa) __atomic_store_n(&object->isa, (const kvo_class *)marked, __ATOMIC_RELEASE);
}

void kvo_swizzle_in_locked(kvo_object *object, kvo_class *dynamic, uintptr_t id, bool is_noted) {
  if (dynamic->is_bound) {
    mark_locked(object, dynamic, id);
  } else if (kvo_isa_of_c(object) != dynamic) {
    __atomic_store_n(&object->isa, dynamic, __ATOMIC_RELEASE);
    if (is_noted) kvo_note_first_observation(object);
  }
}

void kvo_swizzle_out_locked(kvo_object *object) {
  const kvo_class *isa = kvo_isa(object);
  if (!isa || !isa->is_dynamic) return;
  const kvo_class *plain = isa->is_bound ? NULL : isa->superclass;
  __atomic_store_n(&object->isa, plain, __ATOMIC_RELEASE);
}
