// What a class says of its derived keys: the key paths that affect them.
//
// A class answers by its hooks, and by what was declared for it and its superclasses
// (kvo_class.dependencies: key -> a list that only grows at its head). The answer is parsed and
// kept with the accessors of class and key, whose generation rises when a hook or a declaration is
// added, so that the class is asked again. Objects that are observed meanwhile are looked through
// then (derivation.c).
#include "kvo_dependencies.h"

#include "kvo_binding.h"
#include "kvo_fail.h"
#include "kvo_graph.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_observing.h"
#include "kvo_thread.h"

#include <stdlib.h>
#include <string.h>

struct kvo_key_paths {
  const char **texts; // interned, each once
  size_t count, capacity;
};

static bool has(const kvo_key_paths *paths, const char *text) {
  for (size_t i = 0; i < paths->count; i++)
    if (paths->texts[i] == text) return true;
  return false;
}

static bool make_room(kvo_key_paths *paths) {
  if (paths->count < paths->capacity) return true;
  const char **texts =
      kvo_grow(paths->texts, paths->count, paths->count + 4, sizeof *texts, &paths->capacity);
  if (texts) paths->texts = texts;
  return texts;
}

void kvo_key_paths_add(kvo_key_paths *paths, const char *key_path) {
  const char *text = kvo_key_intern(key_path);
  if (text && !has(paths, text) && make_room(paths)) paths->texts[paths->count++] = text;
}

// MARK: Hooks

// The class that was asked, while one of its hooks asks its superclass: the hooks of one key are
// found from it, as `self` finds them in a class method.
static _Thread_local const kvo_class *asked;

typedef struct {
  kvo_imp hook;
  const kvo_class *cls, *outer;
  const char *key;
  kvo_key_paths *paths;
} question;

static void ask_hook(void *opaque) {
  const question *question = opaque;
  ((void (*)(const kvo_class *, const char *, kvo_key_paths *))question->hook)(question->cls,
      question->key, question->paths);
}

static void end_question(void *opaque) { asked = ((question *)opaque)->outer; }

static void ask_general(kvo_imp hook, const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  question question = {hook, cls, asked, key, paths};
  asked = cls;
  kvo_unwinding(ask_hook, end_question, &question);
  end_question(&question);
}

static void ask_by_key(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  const char *selector = kvo_accessor_name("keyPathsForValuesAffecting", key, true, "");
  kvo_imp hook = kvo_class_find_class_method(cls, selector);
  if (hook) ((void (*)(const kvo_class *, kvo_key_paths *))hook)(cls, paths);
}

void kvo_class_key_paths_affecting(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  const kvo_class *receiver = asked && kvo_class_is_subclass_of(asked, cls) ? asked : cls;
  kvo_imp general = kvo_class_find_class_method(cls, kvo_hooks()->key_paths_affecting);
  if (general) ask_general(general, receiver, key, paths);
  else ask_by_key(receiver, key, paths);
}

bool kvo_selector_names_dependencies(const char *selector) {
  static const char prefix[] = "keyPathsForValuesAffecting";
  return !strncmp(selector, prefix, sizeof prefix - 1);
}

// MARK: Declarations

// One that could not be followed for want of memory stays in the list, taken back: readers hold no
// lock.
typedef struct declaration {
  const struct declaration *next;
  const char *key_path;
  bool is_taken_back; // atomic
} declaration;

static bool holds(const declaration *one) {
  return !__atomic_load_n(&one->is_taken_back, __ATOMIC_ACQUIRE);
}

static void add_declared(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  for (; cls; cls = cls->superclass)
    for (const declaration *one = kvo_map_get(&cls->dependencies, key); one; one = one->next)
      if (holds(one)) kvo_key_paths_add(paths, one->key_path);
}

static declaration *find(const declaration *one, const char *key_path) {
  while (one && one->key_path != key_path) one = one->next;
  return (declaration *)(uintptr_t)one;
}

static declaration *add_locked(kvo_class *cls, const char *key, const char *key_path) {
  declaration *made = kvo_alloc(sizeof *made);
  if (!made) return NULL;
  *made = (declaration){.next = kvo_map_get(&cls->dependencies, key), .key_path = key_path};
  if (kvo_map_set_locked(&cls->dependencies, key, made)) return made;
  kvo_free(made);
  return NULL;
}

// NULL if memory is out. Again is no change.
static declaration *declare(kvo_class *cls, const char *key, const char *key_path, bool *is_new) {
  KVO_LOCKED(&kvo_class_lock);
  declaration *one = find(kvo_map_get(&cls->dependencies, key), key_path);
  *is_new = !one || !holds(one);
  if (!one) one = add_locked(cls, key, key_path);
  if (!one || !*is_new) return one;
  __atomic_store_n(&one->is_taken_back, false, __ATOMIC_RELEASE);
  kvo_class_touch_locked(cls);
  return one;
}

static void take_back(kvo_class *cls, declaration *one) {
  KVO_LOCKED(&kvo_class_lock);
  __atomic_store_n(&one->is_taken_back, true, __ATOMIC_RELEASE);
  kvo_class_touch_locked(cls);
}

kvo_status kvo_class_add_dependency(kvo_class *cls, const char *key, const char *key_path,
    kvo_error *error) {
  kvo_error cause = {0};
  const kvo_key_path *path = kvo_key_path_parse(key_path, cls, &cause);
  if (!path) {
    if (error) *error = cause;
    return cause.status;
  }
  const char *interned = kvo_key_intern(key);
  bool is_new = false;
  declaration *one = interned ? declare(cls, interned, path->text, &is_new) : NULL;
  if (one && (!is_new || kvo_derivations_extend(cls))) return KVO_OK;
  if (one) take_back(cls, one);
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, key,
      "No memory to make \"%s\" of %s depend on \"%s\".", key, cls->name, key_path);
}

void kvo_class_forget_dependencies(kvo_class *cls) {
  {
    KVO_LOCKED(&kvo_class_lock);
    kvo_class_touch_locked(cls);
  }
  kvo_derivations_refresh(cls);
}

// MARK: Answers

static const kvo_dependencies none;

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// What can't be parsed is left out, with a report.
static kvo_dependencies *parse(const kvo_accessors *accessors, const kvo_key_paths *paths) {
  kvo_dependencies *made = kvo_alloc(sizeof *made + paths->count * sizeof *made->paths);
  if (!made) return NULL;
  made->count = 0;
  for (size_t i = 0; i < paths->count; i++) {
    kvo_error error;
    const kvo_key_path *path = kvo_key_path_parse(paths->texts[i], accessors->cls, &error);
    if (path) made->paths[made->count++] = path;
    else if (error.status != KVO_NO_MEMORY)
      kvo_misuse("\"%s\" of %s can't depend on \"%s\": %s", accessors->key, accessors->cls->name,
          paths->texts[i], error.message);
  }
  return made;
}

typedef struct {
  const kvo_accessors *accessors;
  kvo_object *object;
  kvo_key_paths paths;
} collection;

static void collect(void *opaque) {
  collection *collection = opaque;
  const kvo_accessors *accessors = collection->accessors;
  const kvo_class_operations *operations = accessors->cls->operations;
  kvo_class_key_paths_affecting(accessors->cls, accessors->key, &collection->paths);
  if (operations->affecting)
    operations->affecting(accessors->cls, collection->object, accessors->key, &collection->paths);
  add_declared(accessors->cls, accessors->key, &collection->paths);
}

static void end_collection(void *opaque) { kvo_free(((collection *)opaque)->paths.texts); }

static const kvo_dependencies *ask(const kvo_accessors *accessors, kvo_object *object) {
  uint64_t shortages = kvo_shortages;
  collection collection = {.accessors = accessors, .object = object};
  kvo_unwinding(collect, end_collection, &collection);
  kvo_key_paths *paths = &collection.paths;
  if (!paths->count && kvo_shortages == shortages) return &none;
  if (paths->count) qsort(paths->texts, paths->count, sizeof *paths->texts, compare_texts);
  kvo_dependencies *made = parse(accessors, paths);
  end_collection(&collection);
  if (kvo_shortages == shortages) return made;
  kvo_free(made);
  return NULL;
}

const kvo_dependencies *kvo_accessors_dependencies(const kvo_accessors *accessors,
    kvo_object *object) {
  const kvo_dependencies **slot = &((kvo_accessors *)(uintptr_t)accessors)->dependencies;
  const kvo_dependencies *known = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
  if (known) return known;
  const kvo_dependencies *answer = ask(accessors, object);
  if (!answer) return &none; // not kept: memory was out
  if (__atomic_compare_exchange_n(slot, &known, answer, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return answer;
  if (answer != &none) kvo_free(answer);
  return known;
}
