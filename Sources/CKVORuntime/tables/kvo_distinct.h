/// `KVO_DISTINCT`: a change is withheld from an observer if its new value equals the value last delivered (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "tables/kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The next ticket, for a change or a registration. Tickets order the readings of values. Take one after
/// the change and before the new value is read. Any thread. O(1).
uint64_t kvo_distinct_take_ticket(void);
/// Stores the value at registration, which was read after taking `ticket`. False if a change has been compared before,
/// so that the present value must be compared as well. That is not needed if the value is about to be delivered, and
/// was read later than the change's.
/// - is_initial: the initial call is about to deliver the value, so it replaces that of any change.
///
/// Copies the value, and releases another one, which runs the program's code. No lock held.
bool kvo_distinct_begin(kvo_registration *registration, uint64_t ticket, const kvo_value *value,
    bool is_initial);
/// Whether a change is to be delivered to an observer with KVO_DISTINCT. If so, its value is stored as the one last
/// delivered, so call this just before the observer.
/// - new: the value that was read after taking `ticket`. NULL if there is none, or if the observer gets elements only:
///   then the change is delivered, and so is the next one whose value is read.
///
/// Compares values, which runs the program's code: it may throw, and end the registration. A frame protects the
/// registration's object. No lock held.
bool kvo_distinct_admits(kvo_registration *registration, uint64_t ticket,
    const kvo_value *KVO_NULLABLE new);
/// Takes the stored value from a registration that no change compares with any more, and puts it in front of a chain,
/// for `kvo_distinct_release`. No lock held.
void kvo_distinct_take(kvo_registration *registration,
    struct kvo_known *KVO_NULLABLE *KVO_NONNULL taken);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
