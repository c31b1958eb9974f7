// The observers of an object: whether it has any, as text, as a list (J1).
//
// A snapshot is taken under the object's lock, and retains the observers. They are described and released without the
// lock, because describing runs the binding's code.
#include "kvo_diagnostics.h"

#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"
#include "graph/kvo_graph.h"
#include "tables/kvo_group.h"
#include "tables/kvo_registration.h"
#include "threads/kvo_thread.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  kvo_registration_info info;
  uint64_t serial;
  kvo_object *observer; // retained; NULL for a callback or an object that is being destroyed
  const kvo_class_operations *operations;
  kvo_callback callback;
  kvo_registration *registration; // a reference, which keeps the text of its key path
  char description[KVO_RECIPIENT_NAME];
} entry;

typedef struct {
  size_t count;
  entry *entries;
} snapshot;

static void dump_add(void *context, kvo_registration *registration,
    const kvo_group_key *group_key) {
  snapshot *taken = context;
  if (!kvo_registration_is_direct(registration)) return;
  kvo_object *observer = kvo_registration_observer(registration);
  const kvo_class_operations *operations = kvo_registration_operations(registration);
  const kvo_counts *counts = kvo_registration_counts(registration);
  bool held = observer && operations->try_retain(observer);
  taken->entries[taken->count++] = (entry){
      .info = {group_key ? kvo_group_key_accessors(group_key)->key
                         : kvo_registration_key_path(registration),
          "", (kvo_options)(registration->options & KVO_ALL_OPTIONS),
          group_key ? kvo_group_context(registration->group, group_key->index)
                    : registration->context,
          !observer, counts ? __atomic_load_n(&counts->hits, __ATOMIC_RELAXED) : 0},
      .serial = registration->serial + (group_key ? group_key->index : 0),
      .observer = held ? observer : NULL,
      .operations = operations,
      .callback = observer ? NULL : registration->callback,
      .registration = registration,
  };
  kvo_registration_retain(registration);
}

static size_t count_locked(const kvo_object *object) {
  const kvo_table *table = kvo_table_of(object);
  return table ? table->live : kvo_object_inline_registration(object) != NULL;
}

static bool take_locked(snapshot *taken, const kvo_object *object) {
  taken->entries = kvo_alloc(count_locked(object) * sizeof(entry) + 1);
  if (taken->entries) kvo_registrations_visit_locked(object, dump_add, taken);
  return taken->entries != NULL;
}

static int dump_compare(const void *a, const void *b) {
  const entry *left = a, *right = b;
  int order = strcmp(left->info.key_path, right->info.key_path);
  if (order) return order;
  return (left->serial > right->serial) - (left->serial < right->serial);
}

// A callback is named by its context, which a frame keeps.
static void describe_callback(entry *entry, const kvo_frame *frame) {
  char *text = entry->description;
  if (frame)
    kvo_registration_name_recipient(entry->registration, entry->info.context, text,
        sizeof entry->description);
  else snprintf(text, sizeof entry->description, "callback %p", (void *)entry->callback);
}

static void let_observer_go(entry *entry) {
  kvo_object *observer = entry->observer;
  entry->observer = NULL;
  if (observer) entry->operations->release(observer);
}

static void describe_observers(snapshot *taken, const kvo_frame *frame) {
  for (size_t i = 0; i < taken->count; i++) {
    entry *entry = &taken->entries[i];
    if (entry->observer) {
      entry->operations->describe(entry->observer, entry->description, sizeof entry->description);
      let_observer_go(entry);
    } else if (entry->callback) {
      describe_callback(entry, frame);
    } else {
      strcpy(entry->description, "a dying object");
    }
  }
}

// Another thread may end a registration while its context is being named. NULL if no binding names callbacks.
static kvo_frame *dump_protect(const kvo_object *object) {
  kvo_thread *thread = kvo_callbacks_have_names() ? kvo_thread_current() : NULL;
  return thread ? kvo_frame_push(thread, (kvo_object *)(uintptr_t)object) : NULL;
}

static bool dump_take(snapshot *taken, const kvo_object *object) {
  bool done = true;
  kvo_frame *frame = dump_protect(object);
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    if (kvo_object_owned_word(object)) done = take_locked(taken, object);
  }
  describe_observers(taken, frame);
  if (frame) kvo_frame_pop(frame);
  if (taken->count) qsort(taken->entries, taken->count, sizeof(entry), dump_compare);
  for (size_t i = 0; i < taken->count; i++)
    taken->entries[i].info.observer = taken->entries[i].description;
  return done;
}

// The snapshot is released even if `visit`, or a binding that describes an observer, throws.
typedef struct {
  const kvo_object *object;
  void (*visit)(void *context, const kvo_registration_info *info);
  void *context;
  snapshot taken;
  bool is_taken;
} visit_of_all;

static void dump_visit_all(void *opaque) {
  visit_of_all *all = opaque;
  all->is_taken = dump_take(&all->taken, all->object);
  for (size_t i = 0; i < all->taken.count; i++)
    all->visit(all->context, &all->taken.entries[i].info);
}

static void dump_end_visit(void *opaque) {
  snapshot *taken = &((visit_of_all *)opaque)->taken;
  for (size_t i = 0; i < taken->count; i++) {
    let_observer_go(&taken->entries[i]);
    kvo_registration_release(taken->entries[i].registration);
  }
  kvo_free(taken->entries);
}

kvo_status kvo_visit_registrations(const kvo_object *object,
    void (*visit)(void *context, const kvo_registration_info *info), void *context) {
  visit_of_all all = {.object = object, .visit = visit, .context = context};
  kvo_finally(dump_visit_all, dump_end_visit, &all);
  return all.is_taken ? KVO_OK : KVO_NO_MEMORY;
}

bool kvo_is_observed(const kvo_object *object, const char *key) {
  uintptr_t id = kvo_class_key_id(kvo_class_of(object), kvo_key_find(key));
  if (!id) return false;
  KVO_LOCKED_OBJECTS(object, NULL);
  return kvo_object_observers_locked(object, id);
}

// MARK: Text

// Output to a file or into a string, which is truncated if out of memory.
typedef struct {
  FILE *KVO_NULLABLE file;
  char *KVO_NULLABLE text;
  size_t length, capacity;
} output;

static bool dump_make_room(output *out, size_t length) {
  size_t needed = out->length + length + 1;
  if (needed <= out->capacity) return true;
  char *text = kvo_grow(out->text, out->length, needed, 1, &out->capacity);
  if (text) out->text = text;
  return text;
}

__attribute__((format(printf, 2, 3))) static void dump_print(output *out, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length =
      out->file ? vfprintf(out->file, format, arguments) : vsnprintf(NULL, 0, format, arguments);
  if (!out->file && length >= 0 && dump_make_room(out, (size_t)length)) {
    vsnprintf(out->text + out->length, (size_t)length + 1, format, again);
    out->length += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

static void print_options(output *out, kvo_options options) {
  static const char *const names[] = {"new", "old", "initial", "prior", "distinct"};
  const char *separator = "";
  dump_print(out, "[");
  for (int bit = 0; bit < 5; bit++) {
    if (!(options & (1u << bit))) continue;
    dump_print(out, "%s%s", separator, names[bit]);
    separator = ", ";
  }
  dump_print(out, "]");
}

static void print_registration(void *out, const kvo_registration_info *info) {
  dump_print(out, "  \"%s\" observed by %s, options ", info->key_path, info->observer);
  print_options(out, info->options);
  dump_print(out, ", context %p", info->context);
  if (kvo_log_flags & KVO_COUNT_HITS)
    dump_print(out, ", %llu hits", (unsigned long long)info->hits);
  dump_print(out, "\n");
}

static void print_observed_by(output *out, const kvo_registration *first) {
  for (; first; first = first->next_watched)
    dump_print(out, "  it observes \"%s\" of %p, context %p\n", kvo_registration_key_path(first),
        (void *)first->object, first->context);
}

typedef struct {
  size_t count;
  const kvo_path_node **nodes;
} found_nodes;

static void dump_find_node(void *context, kvo_registration *registration,
    const kvo_group_key *group_key) {
  found_nodes *found = context;
  (void)group_key;
  if (!kvo_registration_is_direct(registration))
    found->nodes[found->count++] = (kvo_path_node *)registration;
}

static int compare_nodes(const void *a, const void *b) {
  const kvo_path_node *left = *(const kvo_path_node *const *)a,
                      *right = *(const kvo_path_node *const *)b;
  return (left->entry.serial > right->entry.serial) - (left->entry.serial < right->entry.serial);
}

static void print_node(output *out, const kvo_path_node *node) {
  const kvo_path_observation *observation = node->observation;
  dump_print(out, "  \"%s\" leads on for ", observation->path->components[node->depth].key);
  if (observation->dependent_key)
    dump_print(out, "\"%s\" of %p, derived from \"%s\"\n", observation->accessors->key,
        (void *)observation->root, observation->path->text);
  else dump_print(out, "\"%s\" of %p\n", observation->path->text, (void *)observation->root);
}

// Prints the nodes at the object's keys, which belong to other registrations, in the order in which they were
// inserted.
static void print_nodes_locked(output *out, const kvo_table *table) {
  found_nodes found = {.nodes = kvo_alloc(table->live * sizeof(kvo_path_node *) + 1)};
  if (!found.nodes) {
    dump_print(out, "  out of memory\n");
    return;
  }
  kvo_registrations_visit_locked(table->object, dump_find_node, &found);
  if (found.count) qsort(found.nodes, found.count, sizeof *found.nodes, compare_nodes);
  for (size_t i = 0; i < found.count; i++) print_node(out, found.nodes[i]);
  kvo_free(found.nodes);
}

static void print_manual_changes(output *out, const kvo_manual_change *manual_change) {
  for (; manual_change; manual_change = manual_change->next)
    dump_print(out, "  an open manual change of \"%s\", begun on thread %u%s\n", manual_change->key,
        (unsigned)manual_change->thread, manual_change->joined ? ", joining an automatic one" : "");
}

static void print_scoped_change(void *out, const char *key, uint32_t thread) {
  if (!key) dump_print(out, "  a batch of changes, begun on thread %u\n", (unsigned)thread);
  else
    dump_print(out, "  an open manual change of \"%s\", begun on thread %u\n", key,
        (unsigned)thread);
}

static void print_dump(output *out, const kvo_object *object) {
  char description[160];
  kvo_object_describe(object, description, sizeof description);
  dump_print(out, "%s, isa %s\n", description,
      kvo_isa(object) ? kvo_class_name(kvo_isa(object)) : "none");
  if (kvo_visit_registrations(object, print_registration, out))
    dump_print(out, "  out of memory\n");
  kvo_frames_visit_scoped_changes(object, print_scoped_change, out);
  KVO_LOCKED_OBJECTS(object, NULL);
  const kvo_table *table = kvo_table_of(object);
  if (!table) return;
  print_nodes_locked(out, table);
  print_observed_by(out, table->watched);
  print_manual_changes(out, table->manual_changes);
}

void kvo_debug_dump(const kvo_object *object) {
  if (object) print_dump(&(output){.file = stderr}, object);
  else fputs("no object\n", stderr);
}

char *kvo_copy_debug_dump(const kvo_object *object) {
  uint64_t shortages = kvo_shortages;
  output out = {0};
  print_dump(&out, object);
  if (kvo_shortages == shortages) return out.text;
  kvo_free(out.text);
  return NULL;
}
