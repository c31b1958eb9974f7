/// `KVO_DISTINCT`: a change that left its property as it was is told to nobody, unless the observer was
/// told another one meanwhile (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// At will, before old is read.
void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration);
/// At did, before new is read: telling him, or passing him over, begins.
void kvo_distinct_begin(kvo_telling *telling, kvo_registration *registration);
/// Behind all that have begun, and before new is read.
void kvo_distinct_settle(void);
/// Whether two registrations with `KVO_DISTINCT` are one observer: keys of one token.
bool kvo_distinct_is_one(kvo_registration *a, kvo_registration *b);
/// When new has been read: whether he may know something else than what was there at the will that was
/// noted, and is there again. `of_this`: how many tellings of him this change has begun, and not ended.
bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this);
/// Before he is called, where others have been called first: he may read what a change stores that one of
/// them has begun, and counts as told once more. Nothing where it has ended.
void kvo_distinct_call(const kvo_telling *telling);
/// When he has been called. On the thread on which it has begun. Nothing where it has ended.
void kvo_distinct_end(kvo_telling *telling);
/// In its place where the change passes him over, for him as if it had not been; when it is known whom else
/// it passes over. `distinction`: NULL for all but one of the keys of one observer.
void kvo_distinct_pass(kvo_telling *telling, const kvo_distinction *KVO_NULLABLE distinction);
/// How many changes of this thread's sort have passed him over.
uint32_t kvo_distinct_count_passed(kvo_registration *registration);
/// Whether an observer who does not stand any more at did where the change is told may not know what it
/// has stored: another one has passed him over since the will, which had `passed`, or may just do so.
bool kvo_distinct_may_miss(const kvo_distinction *distinction, uint32_t passed,
    kvo_registration *registration);
/// A change that has lost him is over: those that are open around it can't be sure of what he knows.
void kvo_distinct_lose(kvo_registration *registration);
/// In a forked child: ends what a thread was telling that is gone. Thread lock held.
void kvo_distinct_abandon(kvo_telling *KVO_NULLABLE tellings);

/// A thread of that number begins. From the second on changes reckon with others. Thread lock held.
void kvo_distinct_expect_thread_locked(uint32_t number);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
