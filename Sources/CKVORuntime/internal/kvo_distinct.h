/// `KVO_DISTINCT` between threads: a change that left its property as it was is told to nobody, unless
/// another change of it was told meanwhile (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What one change knows of when its observers were told. Times are those of the observed object's
/// clock, and only compared.
typedef struct kvo_distinction {
  uint64_t since;  ///< the time at its will, before old was read
  uint64_t now;    ///< the mark of its did: the time, and its thread
  uint64_t before; ///< the last mark of those that were there at will, until then
} kvo_distinction;

/// At will, before old is read.
void kvo_distinct_begin(kvo_distinction *distinction, const kvo_object *object);
/// Likewise: whether another thread is just reading what it will tell the registration.
bool kvo_distinct_is_being_told(const kvo_registration *registration);
/// At did, before new is read, in this order: takes the time; marks each registration that is going to
/// be told or passed over; makes the marks seen before what is read next.
void kvo_distinct_tick(kvo_distinction *distinction, const kvo_object *object);
/// - is_late: it was not there at will, so when it was told says nothing of this change.
void kvo_distinct_mark(kvo_distinction *distinction, kvo_registration *registration, bool is_late);
void kvo_distinct_settle(void);
/// Whether one of them has been told something since the will, or is being told by another thread.
bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, uint64_t since);
/// When new has been read, which is told.
void kvo_distinct_end(const kvo_distinction *distinction, kvo_registration *registration);
/// The same for an initial call: marks before the fence after which the value is read, and ends the mark.
void kvo_distinct_begin_initial(kvo_distinction *distinction, kvo_registration *registration);
/// Takes a mark back from a registration that is passed over: nothing has been told.
void kvo_distinct_unmark(const kvo_distinction *distinction, kvo_registration *registration);

/// A thread of that number begins. From the second on changes reckon with others. Thread lock held.
void kvo_distinct_expect_thread_locked(uint32_t number);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
