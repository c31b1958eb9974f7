/// A binding in miniature for key-value coding: types of its own with the operations that the
/// runtime may use on them, and objects in memory of the caller's whose isa always is their class.
#ifndef FIXTURE_GUEST_H
#define FIXTURE_GUEST_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// At most four integers.
typedef struct guest_numbers {
  size_t count;
  int64_t items[4];
} guest_numbers;

/// Keys `length` (a number), `partner` (an object or nil), `numbers` (an array), `digits` (the
/// same, element by element) and `mood` (which can only be compared, by its value's distance from
/// 10) are stored; `title` is read by a function; `wish` is answered by the hook for undefined
/// keys.
typedef struct guest {
  int64_t references; ///< those taken, less those given back
  kvo_object header;
  double length;
  kvo_object *KVO_NULLABLE partner;
  guest_numbers numbers;
  int64_t mood;
} guest;

/// What a guest's header must be filled in with.
const kvo_class *guest_class(void);
/// A subclass with hooks of its own: every key reads as its own name and is set by keeping count in
/// `length`.
const kvo_class *parrot_class(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
