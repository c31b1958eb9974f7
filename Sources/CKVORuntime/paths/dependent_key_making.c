// Makes dependent keys of observed keys, and replaces them when the class's dependencies change (F1).
//
// A class may change between its answer and the moment when the answer takes effect. So it is asked again until its
// accessors stay the same. When a declaration is added, either all of the class's observed objects get their new
// dependent keys, or none.
#include "paths/kvo_dependencies.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "graph/kvo_graph.h"
#include "threads/kvo_thread.h"

#include <string.h>

static bool make_observations(kvo_dependent_key *dependent_key,
    const kvo_dependencies *dependencies) {
  dependent_key->path_observations =
      kvo_alloc(dependencies->count * sizeof *dependent_key->path_observations + 1);
  if (!dependent_key->path_observations) return false;
  for (; dependent_key->count < dependencies->count; dependent_key->count++) {
    kvo_path_observation *observation = kvo_path_observation_make(dependent_key->object,
        dependencies->paths[dependent_key->count], dependent_key->accessors, dependent_key);
    if (!observation) return false;
    dependent_key->path_observations[dependent_key->count] = observation;
  }
  return true;
}

// Dependencies that a class declares take precedence over tracking.
static bool is_tracked(const kvo_accessors *accessors, const kvo_dependencies *dependencies) {
  return !dependencies->count && accessors->is_bound && accessors->property->track;
}

static kvo_dependent_key *make_with_dependencies(kvo_object *object, const kvo_accessors *accessors,
    const kvo_dependencies *dependencies) {
  kvo_dependent_key *made = kvo_alloc_zeroed(sizeof *made);
  if (!made) return NULL;
  made->references = 1;
  made->object = object;
  made->operations = kvo_class_of(object)->operations;
  made->operations->unowned_retain(object);
  made->accessors = accessors;
  made->dependencies = dependencies;
  made->is_tracked = is_tracked(accessors, dependencies);
  if (make_observations(made, dependencies)) return made;
  kvo_dependent_key_release(made);
  return NULL;
}

bool kvo_dependent_key_make(kvo_object *object, const kvo_accessors *accessors,
    kvo_dependent_key **made) {
  const kvo_dependencies *dependencies = kvo_accessors_dependencies(accessors, object);
  bool is_derived = dependencies->count || is_tracked(accessors, dependencies);
  *made = is_derived ? make_with_dependencies(object, accessors, dependencies) : NULL;
  return *made || !is_derived;
}

// MARK: Refreshing

// Retained objects, gathered under their locks. Some are missing if memory ran out, which callers see by
// `kvo_shortages`.
typedef struct {
  const kvo_class *cls;
  kvo_object **objects;
  size_t count, capacity;
} gathering;

static bool dependent_keys_make_room(gathering *gathered) {
  if (gathered->count < gathered->capacity) return true;
  kvo_object **objects = kvo_grow(gathered->objects, gathered->count, gathered->count + 16,
      sizeof *objects, &gathered->capacity);
  if (objects) gathered->objects = objects;
  return objects;
}

static void dependent_keys_gather(void *context, kvo_object *object) {
  gathering *gathered = context;
  if (!dependent_keys_make_room(gathered)) return;
  const kvo_class *cls = kvo_class_of(object);
  if (!kvo_class_is_subclass_of(cls, gathered->cls)) return;
  if (cls->operations->try_retain(object)) gathered->objects[gathered->count++] = object;
}

// Ends a dependent key that is in no cell, attached or not, and releases the reference to it.
static void discard_locked(kvo_dependent_key *made, kvo_retired **retired) {
  made->ended = true;
  for (uint32_t i = 0; i < made->count; i++) made->path_observations[i]->ended = true;
  kvo_dependent_key_end_locked(made, retired);
}

// The list of an observed key, in which its dependent key is or will be stored.
static kvo_list *list_locked(kvo_object *object, const kvo_accessors *accessors, bool is_needed,
    kvo_retired **retired) {
  kvo_observers observers = kvo_object_observers_locked(object, accessors->id);
  if (kvo_observers_is_list(observers)) return kvo_observers_list(observers);
  if (!observers || !is_needed) return NULL;
  kvo_table *table = kvo_table_reserve_locked(object, 1, retired);
  return table ? kvo_table_list_locked(table, accessors->id, retired) : NULL;
}

// Replaces a list's dependent key. Returns the old one.
static kvo_dependent_key *exchange_in_list_locked(kvo_table *table, kvo_list *list,
    kvo_dependent_key *made) {
  kvo_dependent_key *old = list->dependent_key;
  list->dependent_key = NULL;
  if (old) kvo_dependent_key_mark_ended_locked(table, old);
  if (made) kvo_dependent_key_install_locked(made, table, list);
  if (made && old) made->serial = old->serial; // keeps its order among keys of one name
  return old;
}

// Replaces the dependent key of a key by `made`, or by none. Returns false, having ended `made`, if the key has no
// observer any more or there is no memory.
static bool exchange_in_cell(kvo_object *object, const kvo_accessors *accessors,
    kvo_dependent_key *made) {
  kvo_dependent_key *old = NULL;
  kvo_retired *retired = NULL;
  pthread_mutex_lock(&kvo_graph_lock);
  kvo_list *list;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    list = list_locked(object, accessors, made != NULL, &retired);
    if (list) old = exchange_in_list_locked(kvo_table_of(object), list, made);
  }
  if (!list && made) discard_locked(made, &retired);
  if (old) kvo_dependent_key_end_locked(old, &retired);
  pthread_mutex_unlock(&kvo_graph_lock);
  kvo_retire(retired);
  return list;
}

// If there is no memory, the key keeps the dependent key that it has.
static void make_and_attach(kvo_object *object, const kvo_accessors *accessors) {
  kvo_dependent_key *made;
  if (!kvo_dependent_key_make(object, accessors, &made)) return;
  if (exchange_in_cell(object, accessors, made)) kvo_path_attach(NULL, made);
}

// Of two threads that do this, the one that asked the class earlier may install its answer last. It then finds that
// the class has changed since, and repeats the work.
static void replace_until_current(kvo_object *object, const kvo_accessors *accessors) {
  for (;;) {
    make_and_attach(object, accessors);
    const kvo_accessors *current = kvo_accessors_current(accessors);
    if (current == accessors) return;
    accessors = current;
  }
}

typedef struct {
  const kvo_accessors *accessors;
  const kvo_dependencies *dependencies; // its dependent key's, or NULL
} observed_key;

static observed_key observed_by(kvo_observers observers) {
  const kvo_dependent_key *dependent_key = kvo_observers_dependent_key(observers);
  return (observed_key){
      kvo_observers_accessors(observers), dependent_key ? dependent_key->dependencies : NULL};
}

// The object's observed keys; the caller frees the array. A copy, because attaching one of them may replace the
// table.
static observed_key *copy_observed_keys(kvo_object *object, size_t *count) {
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_observation_word observation_word = kvo_object_observation_word(object);
  const kvo_table *table = kvo_observation_word_table(observation_word);
  observed_key *keys = kvo_alloc((table ? table->mask + 1 : 1) * sizeof *keys);
  *count = 0;
  if (keys && kvo_observation_word_is_inline(observation_word))
    keys[(*count)++] = observed_by(kvo_observation_word_inline_observers(observation_word));
  for (uint32_t i = 0; keys && table && i <= table->mask; i++)
    if (table->cells[i].observers) keys[(*count)++] = observed_by(table->cells[i].observers);
  return keys;
}

static bool are_same_dependencies(const kvo_dependencies *known, const kvo_dependencies *current) {
  if (!known) return !current->count;
  return known->count == current->count &&
         !memcmp(known->paths, current->paths, known->count * sizeof *known->paths);
}

// A visit of all observed keys whose dependencies differ from those of their dependent key. It asks classes and calls
// getters of paths, both of which may throw.
typedef struct {
  kvo_object *object;
  observed_key *keys;
  size_t count;
  void (*visit)(void *context, kvo_object *object, const kvo_accessors *accessors);
  void *context;
} visit;

static void visit_keys(void *opaque) {
  const visit *visit = opaque;
  for (size_t i = 0; i < visit->count; i++) {
    const observed_key *key = &visit->keys[i];
    const kvo_accessors *current = kvo_accessors_current(key->accessors);
    uint64_t shortages = kvo_shortages;
    const kvo_dependencies *dependencies = kvo_accessors_dependencies(current, visit->object);
    bool is_known = kvo_shortages == shortages; // or else the key keeps those that it has
    if (is_known && !are_same_dependencies(key->dependencies, dependencies))
      visit->visit(visit->context, visit->object, current);
  }
}

static void end_visit(void *opaque) { kvo_free(((visit *)opaque)->keys); }

static void visit_outdated(kvo_object *object,
    void (*visitor)(void *context, kvo_object *object, const kvo_accessors *accessors),
    void *context) {
  visit visit = {.object = object, .visit = visitor, .context = context};
  visit.keys = copy_observed_keys(object, &visit.count);
  kvo_unwinding(visit_keys, end_visit, &visit);
  end_visit(&visit);
}

static void replace_key(void *context, kvo_object *object, const kvo_accessors *accessors) {
  (void)context;
  replace_until_current(object, accessors);
}

static void refresh_object(kvo_object *object) { visit_outdated(object, replace_key, NULL); }

void kvo_object_refresh_dependent_keys(kvo_object *object) {
  uint64_t shortages = kvo_shortages;
  refresh_object(object);
  if (kvo_shortages != shortages) kvo_report_underived(kvo_class_of(object)->name);
}

static void end_gathering(void *opaque) {
  gathering *gathered = opaque;
  for (size_t i = 0; i < gathered->count; i++) kvo_object_release(gathered->objects[i]);
  kvo_free(gathered->objects);
}

static void refresh_all(void *opaque) {
  const gathering *gathered = opaque;
  for (size_t i = 0; i < gathered->count; i++) refresh_object(gathered->objects[i]);
}

void kvo_dependent_keys_refresh(const kvo_class *cls) {
  gathering gathered = {.cls = cls};
  uint64_t shortages = kvo_shortages;
  kvo_observed_visit(dependent_keys_gather, &gathered);
  kvo_unwinding(refresh_all, end_gathering, &gathered);
  if (kvo_shortages != shortages) kvo_report_underived(cls->name);
  end_gathering(&gathered);
}

// MARK: All or nothing

// A dependent key that is attached before any of them is put into its cell. Until then a key may have two dependent
// keys, which notify its observers once.
typedef struct {
  kvo_object *object; // retained by the gathering
  const kvo_accessors *accessors;
  kvo_dependent_key *made;
} replacement;

typedef struct {
  gathering gathered; // the objects
  replacement *items;
  size_t count, capacity;
} replacements;

static bool make_room_for_one(replacements *all) {
  if (all->count < all->capacity) return true;
  replacement *items =
      kvo_grow(all->items, all->count, all->count + 16, sizeof *items, &all->capacity);
  if (items) all->items = items;
  return items;
}

// Makes the key's list in advance, so that storing the dependent key later needs no memory.
static void prepare_list(kvo_object *object, const kvo_accessors *accessors) {
  kvo_retired *retired = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    list_locked(object, accessors, true, &retired);
  }
  kvo_retire(retired);
}

// If there is no memory for one of the steps, kvo_dependent_keys_extend sees that by `kvo_shortages`, and undoes all.
static void prepare_replacement(void *context, kvo_object *object, const kvo_accessors *accessors) {
  replacements *all = context;
  kvo_dependent_key *made;
  if (!make_room_for_one(all) || !kvo_dependent_key_make(object, accessors, &made) || !made) return;
  prepare_list(object, accessors);
  all->items[all->count++] = (replacement){object, accessors, made};
  kvo_path_attach(NULL, kvo_dependent_key_retain(made));
}

static void install_replacement(const replacement *one) {
  if (exchange_in_cell(one->object, one->accessors, one->made))
    kvo_dependent_key_release(one->made);
}

static void undo_replacement(const replacement *one) {
  kvo_retired *retired = NULL;
  {
    KVO_LOCKED(&kvo_graph_lock);
    discard_locked(one->made, &retired);
  }
  kvo_retire(retired);
}

static void prepare_each(void *opaque) {
  replacements *all = opaque;
  for (size_t i = 0; i < all->gathered.count; i++)
    visit_outdated(all->gathered.objects[i], prepare_replacement, all);
}

static void end_replacements(void *opaque) {
  replacements *all = opaque;
  kvo_free(all->items);
  end_gathering(&all->gathered);
}

// Undoes all of them, because a getter of one of the new paths has thrown.
static void undo_all(void *opaque) {
  replacements *all = opaque;
  for (size_t i = 0; i < all->count; i++) undo_replacement(&all->items[i]);
  end_replacements(all);
}

// If the class changed during the call, its dependencies are read again.
static void refresh_changed(void *opaque) {
  const replacements *all = opaque;
  for (size_t i = 0; i < all->count; i++) {
    const replacement *one = &all->items[i];
    if (kvo_accessors_current(one->accessors) != one->accessors)
      kvo_object_refresh_dependent_keys(one->object);
  }
}

bool kvo_dependent_keys_extend(const kvo_class *cls) {
  replacements all = {.gathered = {.cls = cls}};
  uint64_t shortages = kvo_shortages;
  kvo_observed_visit(dependent_keys_gather, &all.gathered);
  kvo_unwinding(prepare_each, undo_all, &all);
  if (kvo_shortages != shortages) {
    undo_all(&all);
    return false;
  }
  for (size_t i = 0; i < all.count; i++) install_replacement(&all.items[i]);
  kvo_unwinding(refresh_changed, end_replacements, &all);
  end_replacements(&all);
  return true;
}
