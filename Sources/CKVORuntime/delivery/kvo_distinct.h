/// `KVO_DISTINCT`: a change that left its property as it was is told to nobody, unless the observer was
/// told another one meanwhile (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "tables/kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// At will, before old is read.
void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration);
/// At did, before new is read: telling the observer, or passing it over, begins.
void kvo_distinct_begin(kvo_telling *telling, kvo_registration *registration);
/// Behind all that have begun, and before new is read.
void kvo_distinct_settle(void);
/// Whether two registrations with `KVO_DISTINCT` are one observer: keys of one token.
bool kvo_distinct_is_one(kvo_registration *a, kvo_registration *b);
/// When new has been read: whether the observer may know something else than what was there at the will that was
/// noted, and is there again. `of_this`: how many tellings of it this change has begun, and not ended.
bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this);
/// Before the observer is called, where others have been called first: it may read what a change stores that one
/// of them has begun, and counts as told once more. Nothing where the telling has ended.
void kvo_distinct_call(const kvo_telling *telling);
/// In place of the telling's end where the change passes the observer over, for which it is then as if the change
/// had not been. Called when all that it passes over are known. `distinction`: NULL for all but one of the keys
/// of one observer.
void kvo_distinct_pass(kvo_telling *telling, const kvo_distinction *KVO_NULLABLE distinction);
/// How many changes of this thread's sort have passed the observer over.
uint32_t kvo_distinct_count_passed(kvo_registration *registration);
/// Whether an observer that is not found any more at did, where the change is told, may not know what it has
/// stored: another change has passed it over since the will, when the count was `passed`, or may just do so.
bool kvo_distinct_may_miss(const kvo_distinction *distinction, uint32_t passed,
    kvo_registration *registration);
/// A change that has lost the observer is over: those that are open around it can't be sure of what it knows.
void kvo_distinct_lose(kvo_registration *registration);
#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
