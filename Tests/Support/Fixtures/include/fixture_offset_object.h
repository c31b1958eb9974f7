/// A miniature binding: objects whose header follows other fields, in memory that the runtime does not manage. For
/// programs in which no other binding sets how the runtime finds classes.
#ifndef FIXTURE_OFFSET_OBJECT_H
#define FIXTURE_OFFSET_OBJECT_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct offset_object {
  int64_t house;
  kvo_object header;
  double rent;
  double savings;                    ///< offset objects announce it manually, if at all
  double room;                       ///< a subclass's rent
  const kvo_class *KVO_NULLABLE cls; ///< NULL: the offset objects'
} offset_object;

/// Makes the class, and sets how the runtime finds it for unobserved offset objects. Once per process.
void offset_object_install(void);
const kvo_class *offset_object_class(void);
/// A new subclass, which stores the rent in another field. With its own methods that announce changes, if
/// `has_own_brackets`.
const kvo_class *offset_object_subclass(bool has_own_brackets);

/// Sets the rent through a bracket.
void offset_object_set_rent(offset_object *self, double rent);
void offset_object_set_savings(offset_object *self, double savings);
/// Sets a subclass's rent.
void offset_object_set_room(offset_object *self, double rent);

/// The number of announcements by such subclasses' methods since the last call of this function.
int offset_object_take_announcements(void);
/// Whether these methods do not call super.
void offset_object_set_silent(bool is_silent);
/// Functions that these methods call first from now on, before and after a change. NULL: none.
void offset_object_interrupt(void (*KVO_NULLABLE at_will)(void), void (*KVO_NULLABLE at_did)(void));
/// Raises such a subclass's rent by 1, `times` times. Each raise is inside the method called after the previous one:
/// before or after its call of super. Returns the rent.
double offset_object_raise_room(offset_object *self, int times, bool before_super);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
