// Dependencies that a program declares while it runs, and their effect on observed objects (F1).
//
// Declarations are kept with the class, by key, in lists that only grow at the head (kvo_class.dependencies). Each
// one raises the class's generation, so that the class is asked again. Then the objects that are already observed are
// searched (dependent_key_making.c).
#include "paths/kvo_dependencies.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "graph/kvo_graph.h"
#include "kvo_binding.h"
#include "kvo_observing.h"
#include "threads/kvo_thread.h"

#include <string.h>

static kvo_declaration *declaration_find(const kvo_declaration *one, const char *key_path) {
  while (one && one->key_path != key_path) one = one->next;
  return (kvo_declaration *)(uintptr_t)one;
}

static kvo_declaration *declaration_add_locked(kvo_class *cls, const char *key,
    const char *key_path) {
  kvo_declaration *made = kvo_alloc(sizeof *made);
  if (!made) return NULL;
  *made = (kvo_declaration){.next = kvo_map_get(&cls->dependencies, key), .key_path = key_path};
  if (kvo_map_set_locked(&cls->dependencies, key, made)) return made;
  kvo_free(made);
  return NULL;
}

// Adds a declaration; NULL if out of memory. Declaring the same dependency again changes nothing.
static kvo_declaration *declaration_make(kvo_class *cls, const char *key, const char *key_path,
    bool *is_new) {
  KVO_LOCKED(&kvo_class_lock);
  kvo_declaration *one = declaration_find(kvo_map_get(&cls->dependencies, key), key_path);
  *is_new = !one || !kvo_declaration_holds(one);
  if (!one) one = declaration_add_locked(cls, key, key_path);
  if (!one || !*is_new) return one;
  __atomic_store_n(&one->is_taken_back, false, __ATOMIC_RELEASE);
  kvo_class_touch_locked(cls);
  return one;
}

static void declaration_take_back(kvo_class *cls, kvo_declaration *one) {
  KVO_LOCKED(&kvo_class_lock);
  __atomic_store_n(&one->is_taken_back, true, __ATOMIC_RELEASE);
  kvo_class_touch_locked(cls);
}

// Gives hints only if the class is observed: before that, its methods may not have been added yet.
static void hint_if_observed(const kvo_class *cls) {
  if (__atomic_load_n(&cls->dynamic, __ATOMIC_ACQUIRE)) kvo_class_hint_at_dependencies(cls);
}

// A declaration that is taken back unless it takes effect, also if a getter of one of the new paths throws.
typedef struct {
  kvo_class *cls;
  kvo_declaration *one;
  bool has_effect;
} effect;

static void declaration_extend(void *opaque) {
  effect *effect = opaque;
  effect->has_effect = kvo_dependent_keys_extend(effect->cls);
}

static void end_effect(void *opaque) {
  const effect *effect = opaque;
  if (!effect->has_effect) declaration_take_back(effect->cls, effect->one);
}

// Extends the observed objects by a new declaration. False, with the declaration taken back, if out of memory.
static bool put_into_effect(kvo_class *cls, kvo_declaration *one) {
  effect effect = {cls, one, false};
  kvo_unwinding(declaration_extend, end_effect, &effect);
  end_effect(&effect);
  return effect.has_effect;
}

kvo_status kvo_class_add_dependency(kvo_class *cls, const char *key, const char *key_path,
    kvo_error *error) {
  kvo_error cause = {0};
  const kvo_key_path *path = kvo_key_path_parse(key_path, cls, &cause);
  if (!path) return kvo_fail_with(error, &cause);
  const char *interned = kvo_key_intern(key);
  bool is_new = false;
  kvo_declaration *one = interned ? declaration_make(cls, interned, path->text, &is_new) : NULL;
  if (one && (!is_new || put_into_effect(cls, one))) {
    hint_if_observed(cls);
    return KVO_OK;
  }
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, key,
      "No memory to make \"%s\" of %s depend on \"%s\".", key, cls->name, key_path);
}

void kvo_class_forget_dependencies(kvo_class *cls) {
  {
    KVO_LOCKED(&kvo_class_lock);
    kvo_class_touch_locked(cls);
  }
  kvo_dependent_keys_refresh(cls);
}

static bool names_dependencies(const char *selector) {
  static const char prefix[] = "keyPathsForValuesAffecting";
  return !strncmp(selector, prefix, sizeof prefix - 1);
}

kvo_status kvo_class_add_class_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_error *error) {
  const char *interned;
  kvo_status status = kvo_class_method_add(cls, selector, imp, &interned, error);
  if (!status && names_dependencies(interned)) kvo_dependent_keys_refresh(cls);
  return status;
}
