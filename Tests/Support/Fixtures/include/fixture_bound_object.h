/// A miniature binding for key-value coding: types with operations of its own, and objects in the caller's memory
/// whose isa is always their class.
#ifndef FIXTURE_BOUND_OBJECT_H
#define FIXTURE_BOUND_OBJECT_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// At most four integers.
typedef struct bound_object_numbers {
  size_t count;
  int64_t items[4];
} bound_object_numbers;

/// Stored keys: `length` (a number), `partner` (an object or nil), `numbers` (an array), `digits` (an array, accessed
/// element by element) and `mood` (only comparable, by the distance of its value from 10). `title` and `leader` (an
/// object or nil) are read by functions, and `summary` is derived from `length` and `mood`. `tally` is
/// their sum, or a negative `mood` alone, which is tracked. `wish` is answered by the hook for undefined keys.
typedef struct bound_object {
  int64_t references; ///< retains minus releases
  int64_t unowned;    ///< the same of unowned references
  kvo_object header;
  double length;
  kvo_object *KVO_NULLABLE partner;
  bound_object_numbers numbers;
  int64_t mood;
  kvo_object *KVO_NULLABLE leader;
  void (*KVO_NULLABLE at_read)(struct bound_object *self); ///< called by the getter of `leader`
  bool dies_at_release;         ///< as if another thread released the last other reference before
  bool is_dying;                ///< no reference can be taken
  bool is_destroyed_at_release; ///< at the last one; its class can't be found afterwards
  int64_t wrong_retains;        ///< while it was dying
} bound_object;

/// Sets the leader, and announces it.
void bound_object_set_leader(bound_object *self, kvo_object *KVO_NULLABLE leader);

/// The class to initialise a bound object's header with.
const kvo_class *bound_object_class(void);
/// A subclass with its own hooks: every key reads as its own name, and sets are counted in `length`.
const kvo_class *parrot_class(void);

/// How often the runtime has checked reads of stored properties of these objects on this thread, since the last call.
size_t bound_object_take_checks(void);

/// How often these objects were retained on this thread since the last call.
size_t bound_object_take_retains(void);

/// How often `tally` has been read on this thread since the last call.
size_t bound_object_take_tallies(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
