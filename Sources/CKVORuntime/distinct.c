// `KVO_DISTINCT`: whom a change that left its property as it was need not be told to.
//
// At its did a property may be what it was at will, and the change has to be told all the same: another
// one has told the observer something else in between, be it another thread's or an inner one of this
// thread, or is just reading what to tell, and may read what this one has stored in passing. So a
// registration counts how often telling it has begun and has ended. A change notes at will, before it
// reads old, how often it had ended. At did it begins, fences, reads new, and ends. It may pass the
// observer over only if telling had begun just as often before: then all that began had ended at will,
// and none has begun since. A change that passes it over takes its beginning back.
//
// As long as no second thread has ever changed anything neither count nor fence needs a locked
// instruction: the second one waits, when it begins, until all others know of it. Where a getter throws
// telling never ends, and from then on the observer is told equal values as well.
#include "kvo_distinct.h"

#include "kvo_thread.h"

static bool has_others; // atomic, never false again

static bool is_alone(void) {
  return !__atomic_load_n(&has_others, __ATOMIC_RELAXED) && kvo_remover_fences();
}

void kvo_distinct_expect_thread_locked(uint32_t number) {
  if (number < 2 || __atomic_load_n(&has_others, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&has_others, true, __ATOMIC_SEQ_CST);
  kvo_heavy_fence();
}

static uint32_t count(uint32_t *counter, uint32_t step) {
  if (!is_alone()) return __atomic_fetch_add(counter, step, __ATOMIC_SEQ_CST);
  uint32_t before = __atomic_load_n(counter, __ATOMIC_RELAXED);
  __atomic_store_n(counter, before + step, __ATOMIC_RELAXED);
  return before;
}

void kvo_distinct_note(kvo_distinction *distinction, const kvo_registration *registration) {
  distinction->ended = __atomic_load_n(&registration->tellings_ended, __ATOMIC_SEQ_CST);
}

uint32_t kvo_distinct_begin(kvo_registration *registration) {
  return count(&registration->tellings_begun, 1);
}

void kvo_distinct_settle(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (!is_alone()) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void kvo_distinct_end(kvo_registration *registration, bool is_told) {
  if (is_told) count(&registration->tellings_ended, 1);
  else count(&registration->tellings_begun, (uint32_t)-1);
}
