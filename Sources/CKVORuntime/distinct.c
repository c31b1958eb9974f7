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
// observes, and is not told of it if it was so already. Each telling is in a list of its thread's,
// which is nobody else's; it hangs at a frame or a reach, which end it should an exception do so. A
// change that another thread ends than began it is always told. The registrations of a token of
// several keys are one observer, who may read all of them whichever he is told of: the first
// counts for all.
//
// As long as no second thread has ever changed anything only the first claim of an observer needs a
// locked instruction. The first thread counts apart: words that nobody else writes lose no step.
// The second one waits, when it begins, until all others know of it, and has seen what they have
// begun. Tests/Models/distinct.pml has it all.
#include "kvo_distinct.h"

#include "kvo_registration.h"
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

static void count(uint32_t *counters, uint32_t sort, uint32_t step) {
  uint32_t *counter = &counters[sort];
  if (KVO_LIKELY(sort == FIRST))
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + step, __ATOMIC_RELEASE);
  else __atomic_fetch_add(counter, step, __ATOMIC_SEQ_CST);
}

static uint32_t load(const uint32_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }

// What counts for an observer.
static kvo_counts *counting(kvo_registration *registration) {
  return (kvo_counts *)kvo_registration_counts(registration);
}

static uint32_t count_own(const kvo_counts *counts) {
  uint32_t own = 0;
  const kvo_telling *telling = kvo_this_thread ? kvo_this_thread->tellings : NULL;
  for (; KVO_UNLIKELY(telling != NULL); telling = telling->next)
    own += counting(telling->registration) == counts;
  return own;
}

// Each claim differs from all before.
static uint64_t claim(kvo_counts *counts) {
  uint32_t number = kvo_thread_number();
  uint64_t found = __atomic_load_n(&counts->claim, __ATOMIC_SEQ_CST), made = found;
  while (KVO_UNLIKELY((uint32_t)found != number)) {
    made = ((found >> 32) + 1) << 32 | number;
    if (__atomic_compare_exchange_n(&counts->claim, &found, made, false, __ATOMIC_SEQ_CST,
            __ATOMIC_SEQ_CST))
      break;
  }
  return made;
}

// Of the first thread's all that have begun, or else ended, are around this change, or over.
void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration) {
  kvo_counts *counts = counting(registration);
  uint32_t own = own_sort(), other = !own;
  distinction->claim = claim(counts);
  distinction->ended[other] = load(&counts->tellings_ended[other]);
  distinction->ended[own] = own == FIRST ? load(&counts->tellings_begun[FIRST])
                                         : load(&counts->tellings_ended[own]) + count_own(counts);
}

static void link_to_thread(kvo_telling *telling, kvo_thread *thread) {
  telling->next = thread->tellings;
  telling->link = &thread->tellings;
  if (telling->next) telling->next->link = &telling->next;
  thread->tellings = telling;
}

static void unlink_from_thread(kvo_telling *telling) {
  *telling->link = telling->next;
  if (telling->next) telling->next->link = telling->link;
}

void kvo_distinct_begin(kvo_telling *telling, kvo_registration *registration) {
  kvo_thread *thread = kvo_thread_current(); // which has a number from now on
  *telling = (kvo_telling){.registration = registration, .sort = own_sort()};
  if (KVO_LIKELY(thread != NULL)) link_to_thread(telling, thread);
  count(counting(registration)->tellings_begun, telling->sort, 1);
}

void kvo_distinct_settle(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  bool is_alone = !__atomic_load_n(&has_others, __ATOMIC_RELAXED) && kvo_remover_fences();
  if (!is_alone) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool kvo_distinct_is_one(kvo_registration *a, kvo_registration *b) {
  return counting(a) == counting(b);
}

bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this) {
  kvo_counts *counts = counting(registration);
  uint32_t own = own_sort(), other = !own;
  __atomic_thread_fence(__ATOMIC_ACQUIRE); // new has been read
  return (uint32_t)distinction->claim != kvo_thread_number() ||
         __atomic_load_n(&counts->claim, __ATOMIC_SEQ_CST) != distinction->claim ||
         load(&counts->tellings_begun[own]) - of_this != distinction->ended[own] ||
         load(&counts->tellings_begun[other]) != distinction->ended[other];
}

void kvo_distinct_end(kvo_telling *telling, bool is_told) {
  if (!telling->registration) return;
  kvo_counts *counts = counting(telling->registration);
  if (telling->link) unlink_from_thread(telling);
  telling->registration = NULL;
  if (is_told) count(counts->tellings_ended, telling->sort, 1);
  else count(counts->tellings_begun, telling->sort, (uint32_t)-1);
}

void kvo_distinct_abandon(kvo_telling *tellings) {
  for (; tellings; tellings = tellings->next)
    count(counting(tellings->registration)->tellings_ended, tellings->sort, 1);
}
