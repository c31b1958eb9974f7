/// A miniature binding whose objects run out of memory: keys of every kind that a binding may describe, set through a
/// bracket.
#ifndef FIXTURE_SHORTAGE_WARDS_H
#define FIXTURE_SHORTAGE_WARDS_H

#include "shortage.h"

/// Stored keys: `level` (a number), `name`, `next` (an object), `list` (an array), `bag` (a set). `shown` is affected
/// by `level`, as the class declares; `sum` and `nextSum` are tracked; `nextLevel` is tracked as a path; `wish` is
/// answered by the hook for undefined keys.
typedef struct ward {
  fixture_deaths *deaths;
  const kvo_class *cls;
  world *world; // gets the ward's notifications as an observer
  uint32_t strong, unowned;
  kvo_object header;
  double level;
  const char *name;
  kvo_object *next; // a ward
  kvo_collection *list, *bag;
} ward;

/// Gives the world wards 0 to 3 of a new class. 0, 1 and 2 are linked by `next`.
void world_make_wards(world *world);
void world_end_wards(world *world);
ward *world_ward(const world *world, int i);

/// Releases the only strong reference.
void world_kill_ward(world *world, int i);

void ward_set_level(ward *ward, double level);
void ward_set_name(ward *ward, const char *name);
void ward_set_next(ward *self, ward *next);
/// Announce a change of part of the key, then replace the collection.
void ward_append(ward *ward, int64_t number);
void ward_add(ward *ward, int64_t number);
/// Opens a change of the level that has no effect.
void ward_leave_level(ward *ward);

/// Makes their class and its root, step by step. Goes on with the step that failed.
kvo_status ward_make_class(world *world);

// MARK: Steps

static inline kvo_status forget(world *world) {
  kvo_class_forget_dependencies((kvo_class *)(uintptr_t)world_ward(world, 0)->cls);
  return KVO_OK;
}

static inline kvo_status kill_observed(world *world) {
  world_kill_ward(world, 0);
  return KVO_OK;
}

#endif
