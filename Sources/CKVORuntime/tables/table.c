// Observation tables: an open-addressed array of cells, one for each observed key of the object, indexed by the key's
// id. A cell contains the key's observers.
//
// A single observer is stored in the cell itself, as a registration or a group key (group_keys.c). Two or more are in a
// kvo_list. Readers take no lock: they protect the object (kvo_thread.h), and memory that is unlinked here is retired
// under that hazard pointer. A table never changes its size: a larger one replaces it, and shares its lists. An
// object's inline registration needs no table (inline_registration.c); one is made for the second.
#include "tables/kvo_table.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

#include <stddef.h>

enum { FIRST_CELLS = 2, FIRST_LIST = 4 };

_Static_assert(sizeof(struct kvo_handle) == 72, "a registration with malloc's word is 80 bytes");
_Static_assert(_Alignof(kvo_list) > KVO_OBSERVERS_TAG_MASK && _Alignof(kvo_accessors) > 3,
    "the lowest bits of their addresses are marks");

kvo_observation_word kvo_object_share(kvo_object *object) {
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_object_share_locked(object);
  return kvo_object_observation_word(object);
}

static kvo_cell *free_cell(kvo_table *table, uintptr_t id) {
  size_t i = kvo_table_slot(id, table->mask);
  while (table->cells[i].id) i = (i + 1) & table->mask;
  return &table->cells[i];
}

static kvo_table *table_make_table(size_t capacity) {
  kvo_table *table = kvo_alloc_zeroed(sizeof *table + capacity * sizeof(kvo_cell));
  if (table) table->mask = (uint32_t)capacity - 1;
  return table;
}

// Moves everything in use to another table. Keys that have lost their observers are dropped.
static void move_contents(kvo_table *target, const kvo_table *source) {
  target->live = source->live;
  target->graph_entries = source->graph_entries;
  target->watched = source->watched;
  if (target->watched) target->watched->link_watched = &target->watched;
  target->manual_changes = source->manual_changes;
  target->open_count = source->open_count;
  target->manual_change_index = source->manual_change_index;
  target->associations = source->associations;
  for (uint32_t i = 0; i <= source->mask; i++) {
    const kvo_cell *cell = &source->cells[i];
    if (!cell->observers) continue;
    *free_cell(target, cell->id) = *cell;
    target->used++;
  }
}

// All tables of one lock are linked, so that late declarations of a class reach the objects that are already
// observed.
static kvo_table *tables[KVO_OBJECT_LOCKS];

static void link_table_locked(kvo_table *table, kvo_object *object) {
  kvo_table **first = &tables[kvo_object_lock_index(object)];
  table->object = object;
  table->next = *first;
  table->link = first;
  if (table->next) table->next->link = &table->next;
  *first = table;
}

static void unlink_table_locked(kvo_table *table) {
  *table->link = table->next;
  if (table->next) table->next->link = table->link;
}

void kvo_observed_visit(void (*visit)(void *context, kvo_object *object), void *context) {
  for (size_t i = 0; i < KVO_OBJECT_LOCKS; i++) {
    KVO_LOCKED(kvo_object_lock(i));
    for (kvo_table *table = tables[i]; table; table = table->next)
      if (table->live) visit(context, table->object);
    kvo_inline_registration_visit_locked(i, visit, context);
  }
}

static kvo_object *owner_at_locked(const kvo_object *address) {
  kvo_registration *inline_registration = kvo_inline_registration_find_locked(address);
  if (inline_registration) return inline_registration->object;
  kvo_table *table = tables[kvo_object_lock_index(address)];
  while (table && table->object != address) table = table->next;
  return table ? table->object : NULL;
}

kvo_object *kvo_table_owner_at(const kvo_object *address) {
  KVO_LOCKED(kvo_object_lock(kvo_object_lock_index(address)));
  kvo_object *object = owner_at_locked(address);
  bool lives = object && kvo_class_of(object)->operations->try_retain(object);
  return lives ? object : NULL;
}

static void visit_cell(const kvo_cell *cell, kvo_registration_visitor visit, void *context) {
  kvo_observers observers = cell->observers;
  if (!observers) return;
  if (!kvo_observers_is_list(observers)) {
    bool is_group_key = kvo_observers_is_group_key(observers);
    visit(context, kvo_observers_single(observers),
        is_group_key ? kvo_observers_group_key(observers) : NULL);
    return;
  }
  kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i]) visit(context, list->items[i], NULL);
}

void kvo_registrations_visit_locked(const kvo_object *object, kvo_registration_visitor visit,
    void *context) {
  kvo_registration *inline_registration = kvo_object_inline_registration(object);
  if (inline_registration) visit(context, inline_registration, NULL);
  const kvo_table *table = kvo_table_of(object);
  for (uint32_t i = 0; table && i <= table->mask; i++) visit_cell(&table->cells[i], visit, context);
}

static uint32_t count_observed(const kvo_table *table) {
  uint32_t count = 0;
  for (uint32_t i = 0; i <= table->mask; i++) count += table->cells[i].observers != 0;
  return count;
}

// Takes over the object's inline registration.
static void adopt_inline_registration(kvo_table *table, kvo_registration *inline_registration) {
  kvo_cell *cell = free_cell(table, kvo_registration_id(inline_registration));
  *cell =
      (kvo_cell){kvo_registration_id(inline_registration), kvo_observers_of(inline_registration)};
  table->used = table->live = 1;
  kvo_inline_registration_unlist_locked(inline_registration);
}

static bool table_has_room(uint64_t used, uint32_t keys, uint64_t cells) {
  return (used + keys) * 4 <= cells * 3;
}

static kvo_table *replace_table_locked(kvo_object *object, kvo_table *old, uint32_t keys,
    kvo_retired **retired) {
  kvo_registration *inline_registration = kvo_object_inline_registration(object);
  uint32_t capacity = FIRST_CELLS, used = old ? count_observed(old) : inline_registration != NULL;
  while (!table_has_room(used, keys, capacity))
    if (!(capacity *= 2)) return NULL;
  kvo_table *table = table_make_table(capacity);
  if (!table) return NULL;
  if (inline_registration) adopt_inline_registration(table, inline_registration);
  if (old) {
    move_contents(table, old);
    unlink_table_locked(old);
    kvo_retire_add(retired, &old->retired, object, KVO_RETIRED_MEMORY);
  }
  link_table_locked(table, object);
  kvo_object_set_observation_word(object, (kvo_observation_word)table);
  return table;
}

kvo_table *kvo_table_reserve_locked(kvo_object *object, uint32_t keys, kvo_retired **retired) {
  kvo_table *table = kvo_table_of(object);
  bool suffices = table && table_has_room(table->used, keys, (uint64_t)table->mask + 1);
  return suffices ? table : replace_table_locked(object, table, keys, retired);
}

void kvo_table_trim_locked(kvo_object *object, kvo_retired **retired) {
  kvo_table *table = kvo_table_of(object);
  if (!table || table->live || table->watched || table->manual_changes || table->associations)
    return;
  kvo_object_set_observation_word(object, 0);
  unlink_table_locked(table);
  kvo_retire_add(retired, &table->retired, object, KVO_RETIRED_MEMORY);
}

static void count_options(kvo_list *list, uint32_t options, int step) {
  uint32_t all = 0;
  for (int bit = 0; bit < KVO_OPTION_COUNT; bit++) {
    if (options & (1u << bit)) list->wanting[bit] += (uint32_t)step;
    if (list->wanting[bit]) all |= 1u << bit;
  }
  __atomic_store_n(&list->options, all, __ATOMIC_RELEASE);
}

static kvo_list *make_list(uint32_t capacity) {
  kvo_list *list = kvo_alloc_zeroed(sizeof *list + capacity * sizeof(kvo_registration *));
  if (list) list->capacity = capacity;
  return list;
}

void kvo_list_retire_locked(kvo_list *list, const kvo_object *object, kvo_retired **retired) {
  kvo_free(list->index);
  list->index = NULL;
  kvo_retire_add(retired, &list->retired, object, KVO_RETIRED_MEMORY);
}

static void table_append(kvo_list *list, kvo_registration *registration) {
  registration->index = list->count;
  __atomic_store_n(&list->items[list->count], registration, __ATOMIC_RELEASE);
  list->live++;
  count_options(list, registration->options, 1);
  __atomic_store_n(&list->count, list->count + 1, __ATOMIC_SEQ_CST);
}

// A copy of a list without holes, with room for as many registrations again.
static kvo_list *copy_list(const kvo_list *old) {
  kvo_list *list = make_list(old->live < FIRST_LIST / 2 ? FIRST_LIST : old->live * 2);
  if (!list) return NULL;
  list->tagged_accessors = old->tagged_accessors;
  list->dependent_key = old->dependent_key;
  for (uint32_t i = 0; i < old->count; i++)
    if (old->items[i]) table_append(list, old->items[i]);
  return list;
}

static void set_observers(kvo_cell *cell, kvo_observers observers) {
  __atomic_store_n(&cell->observers, observers, __ATOMIC_SEQ_CST);
}

static kvo_observers of_list(kvo_list *list) { return (uintptr_t)list | KVO_OBSERVERS_LIST; }

// The fast path may serve the registration (it is plain), unless setters of the key notify no observer, or the key has
// to be read after each change.
kvo_observers kvo_observers_of(kvo_registration *registration) {
  bool is_plain = !(registration->options & ~KVO_PLAIN_OPTIONS) &&
                  !(registration->tagged_accessors & KVO_ACCESSORS_TAG_MASK);
  return (uintptr_t)registration | (is_plain ? KVO_OBSERVERS_PLAIN : 0);
}

static kvo_list *list_of_one(kvo_registration *registration) {
  kvo_list *list = make_list(FIRST_LIST);
  if (!list) return NULL;
  list->tagged_accessors = registration->tagged_accessors;
  table_append(list, registration);
  return list;
}

// The cell's list with room for one more, made from the single observer or from a full list.
static kvo_list *list_with_room(kvo_cell *cell, const kvo_object *object, kvo_retired **retired) {
  if (kvo_observers_is_group_key(cell->observers) && !kvo_cell_promote_locked(cell)) return NULL;
  bool was_list = kvo_observers_is_list(cell->observers);
  kvo_list *old = was_list ? kvo_observers_list(cell->observers) : NULL;
  if (!old) return list_of_one(kvo_observers_registration(cell->observers));
  if (old->count < old->capacity) return old;
  kvo_list *list = copy_list(old);
  if (list) kvo_list_retire_locked(old, object, retired);
  return list;
}

kvo_list *kvo_table_list_locked(kvo_table *table, uintptr_t id, kvo_retired **retired) {
  kvo_cell *cell = kvo_table_find(table, id);
  kvo_list *list = list_with_room(cell, table->object, retired);
  if (list) set_observers(cell, of_list(list));
  return list;
}

static kvo_cell *cell_for(kvo_table *table, uintptr_t id) {
  kvo_cell *cell = kvo_table_find(table, id);
  if (cell) return cell;
  cell = free_cell(table, id);
  __atomic_store_n(&cell->id, id, __ATOMIC_RELEASE);
  table->used++;
  return cell;
}

static bool add_to_list(kvo_cell *cell, kvo_registration *registration, kvo_retired **retired) {
  kvo_list *list = list_with_room(cell, registration->object, retired);
  if (!list) return false;
  __atomic_store_n(&list->tagged_accessors, registration->tagged_accessors, __ATOMIC_RELEASE);
  table_append(list, registration);
  set_observers(cell, of_list(list));
  return true;
}

static bool store_only_observer(kvo_cell *cell, kvo_registration *registration, bool as_list) {
  kvo_list *list = as_list ? list_of_one(registration) : NULL;
  if (as_list && !list) return false;
  set_observers(cell, list ? of_list(list) : kvo_observers_of(registration));
  return true;
}

bool kvo_table_insert_locked(kvo_table *table, kvo_registration *registration, bool as_list,
    kvo_retired **retired) {
  kvo_cell *cell = cell_for(table, kvo_registration_id(registration));
  bool is_in = cell->observers ? add_to_list(cell, registration, retired)
                               : store_only_observer(cell, registration, as_list);
  if (!is_in) return false;
  table->live++;
  if (registration->options & KVO_PATH_NODE) table->graph_entries++;
  return true;
}

static kvo_observers of_group_key(const kvo_group_key *group_key) {
  return (uintptr_t)group_key | KVO_OBSERVERS_GROUP_KEY | KVO_OBSERVERS_PLAIN;
}

bool kvo_table_insert_group_key_locked(kvo_table *table, const kvo_group_key *group_key) {
  kvo_cell *cell = cell_for(table, kvo_group_key_accessors(group_key)->id);
  if (cell->observers) return false;
  set_observers(cell, of_group_key(group_key));
  table->live++;
  return true;
}

void kvo_table_remove_group_key_locked(kvo_table *table, const kvo_group_key *group_key) {
  kvo_cell *cell = kvo_table_find(table, kvo_group_key_accessors(group_key)->id);
  if (!cell || cell->observers != of_group_key(group_key)) return;
  set_observers(cell, 0);
  table->live--;
}

static void remove_from_list(kvo_cell *cell, kvo_list *list, kvo_registration *registration,
    kvo_retired **retired) {
  __atomic_store_n(&list->items[registration->index], NULL, __ATOMIC_SEQ_CST);
  list->live--;
  count_options(list, registration->options, -1);
  bool mostly_holes = list->live * 4 < list->count && list->count > FIRST_LIST;
  if (list->live && !mostly_holes) return;
  kvo_list *smaller = list->live ? copy_list(list) : NULL;
  if (list->live && !smaller) return; // out of memory: the holes stay, which only wastes space
  set_observers(cell, smaller ? of_list(smaller) : 0);
  kvo_list_retire_locked(list, registration->object, retired);
}

bool kvo_table_remove_locked(kvo_table *table, kvo_registration *registration,
    kvo_retired **retired) {
  kvo_cell *cell = kvo_table_find(table, kvo_registration_id(registration));
  if (kvo_observers_is_list(cell->observers))
    remove_from_list(cell, kvo_observers_list(cell->observers), registration, retired);
  else set_observers(cell, 0);
  table->live--;
  if (registration->options & KVO_PATH_NODE) table->graph_entries--;
  return cell->observers;
}
