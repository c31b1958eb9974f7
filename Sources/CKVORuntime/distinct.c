// `KVO_DISTINCT`: whom a change that left its property as it was need not be told to.
//
// At its did a property may be what it was at will, and the change has to be told all the same: the
// observer may know something else by now. Another change has told him, be it another thread's or
// an inner one of this thread; or he has read in passing what this one has stored and taken back,
// while he was called; or another change has found in passing that it left things as they were, by
// what this one has stored. So a registration knows
//
// * who has claimed it last. A change does so at will, before it reads old, unless its thread has
//   done so last. It looks when it has read new: if another thread has claimed it since, their
//   changes overlap;
// * how often telling it has begun and has ended. Telling begins at did, before new is read, and
//   ends when the observer has returned. A change notes at will how often it had ended; if at did
//   no more have begun, apart from this one, all that had begun before had ended at will, and none
//   has begun since. A change that passes the observer over takes its beginning back.
//
// What a thread is telling itself is around its further changes: an observer may set what he
// observes, and is not told of it if it was so already. Each such telling hangs at a frame, which
// ends it should an exception do so. (Not where an access that was suspended is ended by another
// thread than began it: that one's frames don't know of it, so it ends when new has been read.)
//
// As long as no second thread has ever changed anything only the first claim of an observer needs a
// locked instruction. The first thread counts apart: words that nobody else writes lose no step.
// The second one waits, when it begins, until all others know of it, and has seen what they have
// begun. Tests/Models/distinct.pml has it all.
#include "kvo_distinct.h"

#include "kvo_thread.h"

enum { OTHERS, FIRST };
_Static_assert(KVO_TELLER_SORTS == FIRST + 1, "a count for each");

static bool has_others; // atomic, never false again

static uint32_t own_sort(void) { return kvo_thread_number() == 1 ? FIRST : OTHERS; }

void kvo_distinct_expect_thread_locked(uint32_t number) {
  if (number < 2 || __atomic_load_n(&has_others, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&has_others, true, __ATOMIC_SEQ_CST);
  kvo_heavy_fence();
}

static void count(uint32_t *counters, uint32_t step) {
  uint32_t sort = own_sort(), *counter = &counters[sort];
  if (KVO_LIKELY(sort == FIRST))
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + step, __ATOMIC_RELEASE);
  else __atomic_fetch_add(counter, step, __ATOMIC_SEQ_CST);
}

static uint32_t load(const uint32_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }

// Each claim differs from all before.
static uint64_t claim(kvo_registration *registration) {
  uint32_t number = kvo_thread_number();
  uint64_t found = __atomic_load_n(&registration->claim, __ATOMIC_SEQ_CST), made = found;
  while (KVO_UNLIKELY((uint32_t)found != number)) {
    made = ((found >> 32) + 1) << 32 | number;
    if (__atomic_compare_exchange_n(&registration->claim, &found, made, false, __ATOMIC_SEQ_CST,
            __ATOMIC_SEQ_CST))
      break;
  }
  return made;
}

// Of the first thread's all that have begun, or else ended, are around this change, or over.
static uint32_t ended_of_own(const kvo_registration *registration, uint32_t sort) {
  uint32_t begun = load(&registration->tellings_begun[sort]);
  if (sort == FIRST) return begun;
  uint32_t ended = load(&registration->tellings_ended[sort]);
  if (KVO_LIKELY(begun == ended)) return ended;
  return ended + kvo_thread_count_telling(kvo_this_thread, registration);
}

void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration) {
  uint32_t own = own_sort(), other = !own;
  distinction->claim = claim(registration);
  distinction->ended[other] = load(&registration->tellings_ended[other]);
  distinction->ended[own] = ended_of_own(registration, own);
}

void kvo_distinct_begin(kvo_registration *registration) { count(registration->tellings_begun, 1); }

void kvo_distinct_settle(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  bool is_alone = !__atomic_load_n(&has_others, __ATOMIC_RELAXED) && kvo_remover_fences();
  if (!is_alone) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool kvo_distinct_is_overtaken(const kvo_distinction *distinction,
    const kvo_registration *registration) {
  uint32_t own = own_sort(), other = !own;
  __atomic_thread_fence(__ATOMIC_ACQUIRE); // new has been read
  return __atomic_load_n(&registration->claim, __ATOMIC_SEQ_CST) != distinction->claim ||
         load(&registration->tellings_begun[own]) - 1 != distinction->ended[own] ||
         load(&registration->tellings_begun[other]) != distinction->ended[other];
}

void kvo_distinct_end(kvo_registration *registration, bool is_told) {
  if (is_told) count(registration->tellings_ended, 1);
  else count(registration->tellings_begun, (uint32_t)-1);
}
