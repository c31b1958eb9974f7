// Values that a program associates with an object (P2): a list of keys and values in the object's table. It is
// searched from the front, because a program has few keys. The key that was added last is the first.
#include "tables/kvo_table.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

struct kvo_association {
  kvo_association *next;
  const void *key;
  void *value;
  void (*release)(void *value);
};

// The link to the key's association, or the last link. The object's lock.
static kvo_association **association_find_locked(kvo_table *table, const void *key) {
  kvo_association **link = &table->associations;
  while (*link && (*link)->key != key) link = &(*link)->next;
  return link;
}

// The function may throw.
static void association_release(kvo_association *association) {
  if (!association) return;
  const kvo_association taken = *association;
  kvo_free(association);
  if (taken.release) taken.release(taken.value);
}

// Afterwards `*made` is the replaced association, or NULL. False if out of memory.
static bool association_put(kvo_object *object, kvo_association **made) {
  kvo_retired *retired = NULL;
  kvo_table *table;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    table = kvo_table_reserve_locked(object, 0, &retired);
    if (table) {
      kvo_association **link = association_find_locked(table, (*made)->key), *old = *link;
      if (old) *link = old->next;
      (*made)->next = table->associations;
      table->associations = *made;
      *made = old;
    }
  }
  kvo_retire(retired);
  return table;
}

static kvo_association *association_take_out(kvo_object *object, const void *key) {
  kvo_retired *retired = NULL;
  kvo_association *taken = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    kvo_table *table = kvo_table_of(object);
    kvo_association **link = table ? association_find_locked(table, key) : NULL;
    if (link) taken = *link;
    if (taken) *link = taken->next;
    kvo_table_trim_locked(object, &retired);
  }
  kvo_retire(retired);
  return taken;
}

kvo_status kvo_object_associate(kvo_object *object, const void *key, void *value,
    void (*release)(void *value), kvo_error *error) {
  if (!value) {
    association_release(association_take_out(object, key));
    return KVO_OK;
  }
  kvo_association *made = kvo_alloc(sizeof *made);
  if (made) *made = (kvo_association){.key = key, .value = value, .release = release};
  kvo_association *mine = made;
  if (mine && association_put(object, &made)) {
    association_release(made);
    return KVO_OK;
  }
  kvo_free(mine);
  const char *name = kvo_class_of(object)->name;
  return kvo_fail(error, KVO_NO_MEMORY, name, NULL,
      "No memory to keep a value with an object of %s.", name);
}

void *kvo_object_associated(kvo_object *object, const void *key, void (*retain)(void *value)) {
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_table *table = kvo_table_of(object);
  const kvo_association *found = table ? *association_find_locked(table, key) : NULL;
  if (found && retain) retain(found->value);
  return found ? found->value : NULL;
}

static kvo_association *association_take_first(kvo_object *object) {
  kvo_retired *retired = NULL;
  kvo_association *first = NULL;
  {
    KVO_LOCKED_OBJECTS(object, NULL);
    kvo_table *table = kvo_table_of(object);
    if (table) first = table->associations;
    if (first) table->associations = first->next;
    kvo_table_trim_locked(object, &retired);
  }
  kvo_retire(retired);
  return first;
}

// A `release` function may associate another value with the object. If it throws, this is called again for the
// others.
void kvo_associations_end_with(kvo_object *object) {
  for (kvo_association *first; (first = association_take_first(object));)
    association_release(first);
}
