// Dispatch tables: flat arrays of functions, indexed by slot.
//
// A slot means the same method down a hierarchy, so a subclass that overrides nothing could use its
// superclass's table, and what it adds could stand behind what is there already. So it does: a
// class begins with its superclass's table, and gets a copy when it overrides something, when it
// adds a method and another class has used the place behind, or when the table is full, which then
// doubles. Hierarchies in which classes only add methods take memory in proportion to their
// methods, however deep; a class that overrides needs a table of its own, since a call takes one
// load from it.
//
// A slot beyond those of a class holds a trap, for a call by the handle of a class that it has nothing to
// do with. In a table that is shared it may hold the method of one further down instead. So the first
// KVO_CHECKED_SLOTS are shared only by classes that have the same methods there, and each table has so
// many: what that costs a class has a bound, however deep the hierarchy.
//
// Classes that share a table are linked: if a class shares that of one further up, so do those in
// between. What is written to a table concerns all of them, so a slot that stands for different
// things in two of them parts them first. Everything is written under the class lock; readers take
// no lock, and the tables that are replaced are left to them.
#include "objects/kvo_class_internal.h"

#include "base/kvo_memory.h"
#include "kvo_diagnostics.h"

#include <stdio.h>
#include <string.h>

// Reached when a slot is called on a class that does not have the method: a call with a handle of
// another class.
void kvo_class_without_method(void) {
  static const char message[] =
      "A method was called on an object whose class does not have it: by the handle of another class.";
  kvo_break_on_misuse(message);
  fprintf(stderr, "KVO: %s\n", message);
  __builtin_trap();
}

// Behind the slots: how many are in use, by whichever class, and the address of the table that this
// one replaces, which readers may still be using. Not before them: to tools that look for leaks a
// pointer into a block is a doubtful one.
static kvo_imp *make_table(uint32_t capacity, kvo_imp *replaced) {
  void **memory = kvo_alloc((capacity + 2) * sizeof(void *));
  if (!memory) return NULL;
  for (uint32_t i = 0; i < capacity; i++) memory[i] = (void *)kvo_class_without_method;
  memory[capacity] = NULL;
  memory[capacity + 1] = (void *)replaced;
  return (kvo_imp *)memory;
}

static uint32_t at_least_checked(uint32_t count) {
  return count > KVO_CHECKED_SLOTS ? count : KVO_CHECKED_SLOTS;
}

static uintptr_t *used_slots(const kvo_class *cls) {
  return (uintptr_t *)(void *)&cls->table[cls->capacity];
}

// How many slots the class and those below that share its table have.
static uint32_t shared_count(const kvo_class *cls) {
  uint32_t count = cls->slot_count;
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling) {
    if (subclass->table != cls->table) continue;
    uint32_t other = shared_count(subclass);
    if (other > count) count = other;
  }
  return count;
}

static void point_at(kvo_class *cls, kvo_imp *table, uint32_t capacity) {
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    if (subclass->table == cls->table) point_at(subclass, table, capacity);
  cls->capacity = capacity;
  __atomic_store_n(&cls->table, table, __ATOMIC_RELEASE);
}

// A table of their own for the class and those below that share its table.
static bool move_locked(kvo_class *cls, uint32_t capacity) {
  uint32_t count = shared_count(cls);
  kvo_imp *table = make_table(capacity > count ? capacity : count, cls->table);
  if (!table) return false;
  memcpy(table, cls->table, count * sizeof(kvo_imp));
  point_at(cls, table, capacity > count ? capacity : count);
  *used_slots(cls) = count;
  return true;
}

// A table of its own for each of them.
static bool part_locked(kvo_class *cls, uint32_t capacity) {
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    if (subclass->table == cls->table && !part_locked(subclass, capacity)) return false;
  return move_locked(cls, capacity);
}

bool kvo_class_begin_table_locked(kvo_class *cls, const kvo_class *superclass, bool has_own) {
  cls->table = superclass ? superclass->table : NULL;
  cls->capacity = superclass ? superclass->capacity : 0;
  if (!has_own) return true;
  uint32_t count = superclass ? superclass->slot_count : 0;
  uint32_t capacity = at_least_checked(count);
  kvo_imp *table = make_table(capacity, NULL);
  if (!table) return false;
  if (count) memcpy(table, cls->table, count * sizeof(kvo_imp));
  cls->table = table;
  cls->capacity = capacity;
  *used_slots(cls) = count;
  return true;
}

bool kvo_class_own_table_locked(kvo_class *cls) {
  bool shares = cls->superclass && cls->table == cls->superclass->table;
  return !shares || move_locked(cls, KVO_CHECKED_SLOTS);
}

static bool has_place(const kvo_class *cls, uint32_t needed) {
  return *used_slots(cls) == cls->slot_count && needed <= cls->capacity;
}

// Where a class below has methods of its own already there is no common place behind those of this.
static bool make_place_locked(kvo_class *cls, uint32_t needed) {
  if (has_place(cls, needed)) return true;
  uint32_t capacity = cls->slot_count * 2 > needed ? cls->slot_count * 2 : needed;
  bool is_common = shared_count(cls) == cls->slot_count;
  return is_common ? move_locked(cls, capacity) : part_locked(cls, capacity);
}

bool kvo_class_reserve_slots_locked(kvo_class *cls, uint32_t needed) {
  if (!make_place_locked(cls, needed)) return false;
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    if (!kvo_class_reserve_slots_locked(subclass, needed)) return false;
  return true;
}

void kvo_class_set_slot_locked(kvo_class *cls, uint32_t slot, kvo_imp imp) {
  __atomic_store_n(&cls->table[slot], imp, __ATOMIC_RELEASE);
}

void kvo_class_fill_slots_locked(kvo_class *cls, uint32_t slot, kvo_imp imp) {
  kvo_class_set_slot_locked(cls, slot, imp);
  *used_slots(cls) = slot + 1;
  __atomic_store_n(&cls->slot_count, slot + 1, __ATOMIC_RELEASE);
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    kvo_class_fill_slots_locked(subclass, slot, imp);
}

uint32_t kvo_class_slot_limit_locked(const kvo_class *cls) {
  uint32_t limit = cls->slot_count;
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling) {
    uint32_t other = kvo_class_slot_limit_locked(subclass);
    if (other > limit) limit = other;
  }
  return limit;
}
