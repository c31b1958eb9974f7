/// A binding in miniature: objects whose header lies behind other fields, in memory that the
/// runtime does not manage. For programs in which no other binding says how classes are found.
#ifndef FIXTURE_LODGER_H
#define FIXTURE_LODGER_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct lodger {
  int64_t house;
  kvo_object header;
  double rent;
  double savings;                    ///< of which lodgers tell by hand, if at all
  double room;                       ///< a subclass's rent
  const kvo_class *KVO_NULLABLE cls; ///< NULL: the lodgers'
} lodger;

/// Makes the class and tells the runtime how unobserved lodgers find it. Once per process.
void lodger_move_in(void);
const kvo_class *lodger_class(void);
/// A subclass, another one each time, which stores the rent somewhere else; with brackets of its own, if
/// asked for.
const kvo_class *lodger_subclass(bool has_own_brackets);

/// Sets the rent through a bracket.
void lodger_set_rent(lodger *self, double rent);
void lodger_set_savings(lodger *self, double savings);
/// Sets a subclass's rent.
void lodger_set_room(lodger *self, double rent);

/// How often methods of a subclass with brackets of its own have announced changes since it was last asked.
int lodger_take_announcements(void);
/// Whether these leave their superclass's out.
void lodger_be_silent(bool is_silent);
/// What they call first from now on, the one before a change and the one after it. NULL: nothing.
void lodger_interrupt(void (*KVO_NULLABLE at_will)(void), void (*KVO_NULLABLE at_did)(void));
/// Raises such a subclass's rent by 1 so many times, each time within the method that is called after the raise before: before
/// that calls its superclass's, or behind. Returns the rent.
double lodger_raise_room(lodger *self, int times, bool before_super);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
