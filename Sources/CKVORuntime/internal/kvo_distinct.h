/// `KVO_DISTINCT`: a change that left its property as it was is told to nobody, unless the observer was
/// told another one meanwhile (distinct.c).
#ifndef KVO_DISTINCT_H
#define KVO_DISTINCT_H

#include "kvo_table.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// What one change knows of one observer.
typedef struct kvo_distinction {
  uint32_t ended;  ///< how often it had been told, at will
  uint32_t before; ///< how often telling it had begun, at did
} kvo_distinction;

/// At will, before old is read.
void kvo_distinct_note(kvo_distinction *distinction, const kvo_registration *registration);
/// At did, before new is read: telling it, or passing it over, begins. Gives how often it had before.
uint32_t kvo_distinct_begin(kvo_registration *registration);
/// Behind all that have begun, and before new is read.
void kvo_distinct_settle(void);
/// When new has been read: it is told, or passed over.
void kvo_distinct_end(kvo_registration *registration, bool is_told);
/// Whether it has been told since the will that was noted, or was just being told then or at the did.
KVO_INLINE bool kvo_distinct_is_overtaken(uint32_t ended_at_will, uint32_t begun_at_did) {
  return ended_at_will != begun_at_did;
}

/// A thread of that number begins. From the second on changes reckon with others. Thread lock held.
void kvo_distinct_expect_thread_locked(uint32_t number);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
