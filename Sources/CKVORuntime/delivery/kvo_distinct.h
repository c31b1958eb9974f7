/// `KVO_DISTINCT`: a change that left its property unchanged is not delivered, unless the observer may have seen
/// another value in between (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "tables/kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Claims the observer for a change. Call before the old value is read.
void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration);
/// Begins a delivery to the observer. Call after the change, before the new value is read, whether or not the
/// observer will be called.
void kvo_distinct_begin(kvo_telling *telling, kvo_registration *registration);
/// Fences. Call after the last `kvo_distinct_begin` of a change, before the new value is read.
void kvo_distinct_settle(void);
/// Whether two registrations with `KVO_DISTINCT` count as one observer, being keys of one token.
bool kvo_distinct_is_one(kvo_registration *a, kvo_registration *b);
/// Whether the observer may have seen another value since `distinction` was noted. Call when the new value has been
/// read. `of_this`: how many deliveries to the observer this change has begun and not ended.
bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this);
/// Counts one more delivery. Call before the observer is called if other observers were called first: one of them may
/// have begun a change whose stored value this observer reads. Does nothing if the delivery has ended.
void kvo_distinct_call(const kvo_telling *telling);
/// Ends a delivery whose change is withheld from the observer, as if there had been no change. Call when it is known
/// which observers the change is withheld from. `distinction`: NULL for all but one of the keys of one observer.
void kvo_distinct_pass(kvo_telling *telling, const kvo_distinction *KVO_NULLABLE distinction);
/// How many changes of this thread's class (first thread, or any other) were withheld from the observer.
uint32_t kvo_distinct_count_passed(kvo_registration *registration);
/// For an observer that the search after the change did not find: whether it may not know the value that this change
/// stored. That is so if another change has been withheld from it since the will phase, when the count was `passed`,
/// or if another thread has claimed it.
bool kvo_distinct_may_miss(const kvo_distinction *distinction, uint32_t passed,
    kvo_registration *registration);
/// Records that a change ended without finding the observer: changes open around it can't be sure what the observer
/// knows.
void kvo_distinct_lose(kvo_registration *registration);
#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
