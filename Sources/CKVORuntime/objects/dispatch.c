// Dispatch tables: flat arrays of functions, indexed by slot.
//
// A slot denotes the same method down a hierarchy. So a subclass begins with its superclass's table, and adds its
// methods after the existing ones. It gets a copy when it overrides a method, when it adds a method and another class
// has used the next slot, or when the table is full, which then doubles. Hierarchies whose classes only add methods
// take memory in proportion to their methods, however deep they are. A class that overrides needs its own table,
// since a call takes one load from it.
//
// A slot beyond those of a class contains a trap, for calls by the handle of an unrelated class. In a shared table it
// may contain a subclass's method instead. So the first KVO_CHECKED_SLOTS are shared only by classes that have the
// same methods in them, and each table has at least that many. This bounds the cost of a class, however deep the
// hierarchy.
//
// Classes that share a table are linked: if a class shares the table of an ancestor, so do the classes between them.
// A write to a table affects all of them, so a slot that means different things in two of them first separates their
// tables. Everything is written under the class lock. Readers take no lock; replaced tables stay allocated for them.
#include "objects/kvo_class_internal.h"

#include "base/kvo_memory.h"
#include "kvo_diagnostics.h"

#include <stdio.h>
#include <string.h>

// Called when a method is called by a handle that does not belong to the object's class.
void kvo_class_without_method(void) {
  static const char message[] =
      "A method was called on an object whose class does not have it: by the handle of another class.";
  kvo_break_on_misuse(message);
  fprintf(stderr, "KVO: %s\n", message);
  __builtin_trap();
}

// After the slots, a table stores how many are in use, by any class, and the address of the table that it replaces,
// which readers may still use. This is not before the slots because leak checkers distrust pointers into the middle
// of a block.
static kvo_imp *dispatch_make_table(uint32_t capacity, kvo_imp *replaced) {
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

// The highest number of slots of the class and the subclasses that share its table.
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

// Makes a new table for the class and the subclasses that share its table.
static bool move_locked(kvo_class *cls, uint32_t capacity) {
  uint32_t count = shared_count(cls);
  kvo_imp *table = dispatch_make_table(capacity > count ? capacity : count, cls->table);
  if (!table) return false;
  memcpy(table, cls->table, count * sizeof(kvo_imp));
  point_at(cls, table, capacity > count ? capacity : count);
  *used_slots(cls) = count;
  return true;
}

// Makes a separate table for the class and for each subclass that shares its table.
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
  kvo_imp *table = dispatch_make_table(capacity, NULL);
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

// If a subclass already has methods of its own, there is no common free slot, and the tables are separated.
static bool make_room_for_slot_locked(kvo_class *cls, uint32_t needed) {
  if (has_place(cls, needed)) return true;
  uint32_t capacity = cls->slot_count * 2 > needed ? cls->slot_count * 2 : needed;
  bool is_common = shared_count(cls) == cls->slot_count;
  return is_common ? move_locked(cls, capacity) : part_locked(cls, capacity);
}

bool kvo_class_reserve_slots_locked(kvo_class *cls, uint32_t needed) {
  if (!make_room_for_slot_locked(cls, needed)) return false;
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
