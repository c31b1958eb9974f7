// Finds the key paths that affect a class's derived keys (F1).
//
// A class answers by its hooks, and by what was declared for it and its superclasses (kvo_class.dependencies: key ->
// a list that only grows at the head). The answer is parsed and kept with the accessors of class and key. When a hook
// or a declaration is added, their generation rises, so that the class is asked again, and the objects that are
// already observed are searched (declarations.c).
#include "paths/kvo_dependencies.h"

#include "base/kvo_intern.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "kvo_binding.h"
#include "kvo_observing.h"
#include "threads/kvo_thread.h"

#include <stdlib.h>
#include <string.h>

struct kvo_key_paths {
  const char **texts; // interned, without duplicates
  size_t count, capacity;
};

static bool dependencies_has(const kvo_key_paths *paths, const char *text) {
  for (size_t i = 0; i < paths->count; i++)
    if (paths->texts[i] == text) return true;
  return false;
}

static bool dependencies_make_room(kvo_key_paths *paths) {
  if (paths->count < paths->capacity) return true;
  const char **texts =
      kvo_grow(paths->texts, paths->count, paths->count + 4, sizeof *texts, &paths->capacity);
  if (texts) paths->texts = texts;
  return texts;
}

void kvo_key_paths_add(kvo_key_paths *paths, const char *key_path) {
  const char *text = kvo_key_intern(key_path);
  if (text && !dependencies_has(paths, text) && dependencies_make_room(paths))
    paths->texts[paths->count++] = text;
}

// MARK: Hooks

static void dependencies_ask_general(kvo_imp method, const kvo_class *cls, const char *key,
    void *paths) {
  ((void (*)(const kvo_class *, const char *, kvo_key_paths *))method)(cls, key, paths);
}

static void ask_by_key(const kvo_class *cls, const char *key, void *paths) {
  const char *selector = kvo_accessor_name("keyPathsForValuesAffecting", key, true, "");
  kvo_imp method = kvo_class_find_class_method(cls, selector);
  if (method) ((void (*)(const kvo_class *, kvo_key_paths *))method)(cls, paths);
}

void kvo_class_key_paths_affecting(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  const kvo_class_question question = {
      kvo_hooks()->key_paths_affecting, dependencies_ask_general, ask_by_key};
  kvo_class_ask(&question, cls, key, paths);
}

static void add_declared(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  for (; cls; cls = cls->superclass)
    for (const kvo_declaration *one = kvo_map_get(&cls->dependencies, key); one; one = one->next)
      if (kvo_declaration_holds(one)) kvo_key_paths_add(paths, one->key_path);
}

// MARK: Answers

static const kvo_dependencies none;

static int compare_texts(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Parses the key paths. Those that can't be parsed are reported and left out.
static kvo_dependencies *dependencies_parse(const kvo_accessors *accessors,
    const kvo_key_paths *paths) {
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

static void dependencies_collect(void *opaque) {
  collection *collection = opaque;
  const kvo_accessors *accessors = collection->accessors;
  const kvo_class_operations *operations = accessors->cls->operations;
  kvo_class_key_paths_affecting(accessors->cls, accessors->key, &collection->paths);
  if (operations->affecting)
    operations->affecting(accessors->cls, collection->object, accessors->key, &collection->paths);
  add_declared(accessors->cls, accessors->key, &collection->paths);
}

static void end_collection(void *opaque) { kvo_free(((collection *)opaque)->paths.texts); }

static const kvo_dependencies *dependencies_ask(const kvo_accessors *accessors,
    kvo_object *object) {
  uint64_t shortages = kvo_shortages;
  collection collection = {.accessors = accessors, .object = object};
  kvo_unwinding(dependencies_collect, end_collection, &collection);
  kvo_key_paths *paths = &collection.paths;
  if (!paths->count && kvo_shortages == shortages) return &none;
  if (paths->count) qsort(paths->texts, paths->count, sizeof *paths->texts, compare_texts);
  kvo_dependencies *made = dependencies_parse(accessors, paths);
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
  const kvo_dependencies *answer = dependencies_ask(accessors, object);
  if (!answer) return &none; // not cached: memory ran out
  if (__atomic_compare_exchange_n(slot, &known, answer, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return answer;
  if (answer != &none) kvo_free(answer);
  return known;
}
