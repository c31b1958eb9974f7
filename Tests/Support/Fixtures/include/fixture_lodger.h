/// A miniature binding: objects whose header follows other fields, in memory that the runtime does not manage. For
/// programs in which no other binding tells the runtime how to find classes.
#ifndef FIXTURE_LODGER_H
#define FIXTURE_LODGER_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct lodger {
  int64_t house;
  kvo_object header;
  double rent;
  double savings;                    ///< lodgers announce it manually, if at all
  double room;                       ///< a subclass's rent
  const kvo_class *KVO_NULLABLE cls; ///< NULL: the lodgers'
} lodger;

/// Makes the class, and tells the runtime how to find it for unobserved lodgers. Once per process.
void lodger_move_in(void);
const kvo_class *lodger_class(void);
/// A new subclass, which stores the rent in another field. With its own methods that announce changes, if
/// `has_own_brackets`.
const kvo_class *lodger_subclass(bool has_own_brackets);

/// Sets the rent through a bracket.
void lodger_set_rent(lodger *self, double rent);
void lodger_set_savings(lodger *self, double savings);
/// Sets a subclass's rent.
void lodger_set_room(lodger *self, double rent);

/// The number of announcements by such subclasses' methods since the last call of this function.
int lodger_take_announcements(void);
/// Whether these methods do not call super.
void lodger_be_silent(bool is_silent);
/// Functions that these methods call first from now on, before and after a change. NULL: none.
void lodger_interrupt(void (*KVO_NULLABLE at_will)(void), void (*KVO_NULLABLE at_did)(void));
/// Raises such a subclass's rent by 1, `times` times. Each raise is inside the method called after the previous one:
/// before or after its call of super. Returns the rent.
double lodger_raise_room(lodger *self, int times, bool before_super);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
