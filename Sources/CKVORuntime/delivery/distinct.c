// `KVO_DISTINCT`: which observers need not be told of a change that left its property as it was (D3).
//
// At its did a property may be what it was at will, and the change has to be told all the same: the
// observer may know something else by now. Another change may have told it, be it another thread's or
// an inner one of this thread. Or the observer, while it was called, may have read what this change had stored
// and has taken back. Or another change has compared with what this one had stored, found that it left things
// as they were, and passed the observer over. So a registration knows
//
// * which change has claimed it last. A change does so at will, before it reads old, unless its thread
//   was the last to do so. It looks when it has read new: if another thread has claimed the registration
//   since, their changes overlap;
// * how often telling it has begun and has ended. Telling begins at did, before new is read, and
//   ends when the observer has returned. A change notes at will how often it had ended; if at did
//   no more have begun, apart from this one, all that had begun before had ended at will, and none
//   has begun since. A change that passes the observer over takes its beginning back;
// * how many changes have begun, without those that have passed the observer over, which take that back as
//   well. Changes of one thread may cross: pairs and suspended accesses end in any order. If the number is
//   still what a change noted at will, all that have begun in it have passed the observer over. One
//
// What a thread is telling itself is around its further changes: an observer may set what it
// observes, and is not told of it if it was so already. But the telling may end before the change
// does, or call the observer in between, if others were called first: that counts as well. Each telling is in
// a list of its thread's, which no other thread touches; it hangs at a frame or a propagation, which end it
// should an exception do so. A change that ends on another thread than it began on is always told. The
// registrations of a token of several keys are one observer, which may read all of them whichever it
// is told of: the counts of the first serve for all.
//
// A change may not find an observer any more where it is told, since the observer's path has moved. It can't
// just be over: what moved the path may have passed the observer over for what this change had stored. So it is
// counted how often the observer has been passed over. If that has happened since the will, or another thread
// has claimed the observer, the change is told like any other. Else each change that has told the observer
// since has told that, and this one only stays counted, for those that are open around it.
//
// As long as no second thread has ever changed anything only the first claim of an observer needs a
// locked instruction. The first thread counts apart: words that no other thread writes lose no step.
// The second one waits, when it begins, until all others know of it, and has seen what they have
// begun. Tests/Models/distinct.pml has it all for threads, crossing.pml for the changes of one.
#include "delivery/kvo_distinct.h"

#include "base/kvo_upcalls.h"
#include "threads/kvo_thread.h"

enum { OTHERS, FIRST };
_Static_assert(KVO_TELLER_SORTS == FIRST + 1, "a count for each");

static bool has_others; // atomic, never false again

static uint32_t sort_of(uint32_t number) { return number == 1 ? FIRST : OTHERS; }

void kvo_distinct_expect_thread_locked(uint32_t number) {
  if (number < 2 || __atomic_load_n(&has_others, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&has_others, true, __ATOMIC_SEQ_CST);
  kvo_heavy_fence();
}

static uint32_t count(uint32_t *counters, uint32_t sort, uint32_t step) {
  uint32_t *counter = &counters[sort];
  if (KVO_UNLIKELY(sort != FIRST)) return __atomic_add_fetch(counter, step, __ATOMIC_SEQ_CST);
  uint32_t counted = __atomic_load_n(counter, __ATOMIC_RELAXED) + step;
  __atomic_store_n(counter, counted, __ATOMIC_RELEASE);
  return counted;
}

static uint32_t load(const uint32_t *counter) { return __atomic_load_n(counter, __ATOMIC_SEQ_CST); }

// The counts of the registration's observer.
static kvo_counts *counting(kvo_registration *registration) {
  return (kvo_counts *)kvo_registration_counts(registration);
}

static __attribute__((noinline)) uint32_t count_own(const kvo_counts *counts) {
  uint32_t own = 0;
  const kvo_telling *telling = kvo_this_thread ? kvo_this_thread->tellings : NULL;
  for (; KVO_UNLIKELY(telling != NULL); telling = telling->next)
    own += counting(telling->registration) == counts;
  return own;
}

// Each claim differs from all before.
static uint64_t claim(kvo_counts *counts, uint32_t number) {
  uint64_t found = __atomic_load_n(&counts->claim, __ATOMIC_SEQ_CST), made = found;
  while (KVO_UNLIKELY((uint32_t)found != number)) {
    made = ((found >> 32) + 1) << 32 | number;
    if (__atomic_compare_exchange_n(&counts->claim, &found, made, false, __ATOMIC_SEQ_CST,
            __ATOMIC_SEQ_CST))
      break;
  }
  return made;
}

// How often telling the observer has begun and has ended. Of the first thread's tellings all that have begun are
// around this change, or over.
static uint32_t count_tellings(const kvo_counts *counts, uint32_t own) {
  uint32_t ended = load(&counts->tellings_ended[own]), other = load(&counts->tellings_ended[!own]);
  uint32_t begun = own == FIRST ? load(&counts->tellings_begun[FIRST]) : ended + count_own(counts);
  return begun + ended + 2 * other;
}

void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration) {
  kvo_counts *counts = counting(registration);
  uint32_t number = kvo_this_thread->number, own = sort_of(number); // it has a frame
  distinction->claim = claim(counts, number);
  distinction->tellings = count_tellings(counts, own);
  distinction->begun = count(counts->changes_begun, own, 1);
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
  *telling =
      (kvo_telling){.registration = registration, .sort = sort_of(thread ? thread->number : 0)};
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

// None of the four counts falls below what was noted of it: the sum is the same only if they all are.
static uint32_t count_all_tellings(const kvo_counts *counts) {
  return load(&counts->tellings_begun[OTHERS]) + load(&counts->tellings_ended[OTHERS]) +
         load(&counts->tellings_begun[FIRST]) + load(&counts->tellings_ended[FIRST]);
}

bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this) {
  kvo_counts *counts = counting(registration);
  uint32_t number = kvo_thread_number();
  __atomic_thread_fence(__ATOMIC_ACQUIRE); // new has been read
  return (uint32_t)distinction->claim != number ||
         __atomic_load_n(&counts->claim, __ATOMIC_SEQ_CST) != distinction->claim ||
         count_all_tellings(counts) - of_this != distinction->tellings ||
         load(&counts->changes_begun[sort_of(number)]) != distinction->begun;
}

static kvo_counts *unlink_telling(kvo_telling *telling) {
  kvo_counts *counts = counting(telling->registration);
  if (telling->link) unlink_from_thread(telling);
  telling->registration = NULL;
  return counts;
}

void kvo_distinct_call(const kvo_telling *telling) {
  if (!telling->registration) return;
  kvo_counts *counts = counting(telling->registration);
  count(counts->tellings_begun, telling->sort, 1);
  count(counts->tellings_ended, telling->sort, 1);
}

void kvo_distinct_end(kvo_telling *telling) {
  if (!telling->registration) return;
  kvo_counts *counts = unlink_telling(telling);
  count(counts->tellings_ended, telling->sort, 1);
}

// Unless another thread has begun a change since, whose count is upon this one. That thread has claimed the
// observer: then this thread's own changes that are open around this one have no use for the count.
static void take_back(uint32_t *counters, uint32_t sort, uint32_t begun) {
  if (KVO_LIKELY(sort == FIRST)) __atomic_store_n(&counters[FIRST], begun - 1, __ATOMIC_RELEASE);
  else
    __atomic_compare_exchange_n(&counters[sort], &begun, begun - 1, false, __ATOMIC_SEQ_CST,
        __ATOMIC_SEQ_CST);
}

void kvo_distinct_pass(kvo_telling *telling, const kvo_distinction *distinction) {
  kvo_counts *counts = unlink_telling(telling);
  uint32_t sort = telling->sort;
  count(counts->changes_passed, sort, 1);
  if (KVO_LIKELY(distinction != NULL)) take_back(counts->changes_begun, sort, distinction->begun);
  count(counts->tellings_begun, sort, (uint32_t)-1);
}

uint32_t kvo_distinct_count_passed(kvo_registration *registration) {
  return load(&counting(registration)->changes_passed[sort_of(kvo_thread_number())]);
}

bool kvo_distinct_may_miss(const kvo_distinction *distinction, uint32_t passed,
    kvo_registration *registration) {
  kvo_counts *counts = counting(registration);
  uint32_t sort = sort_of((uint32_t)distinction->claim);
  return __atomic_load_n(&counts->claim, __ATOMIC_SEQ_CST) != distinction->claim ||
         load(&counts->changes_passed[sort]) != passed;
}

void kvo_distinct_lose(kvo_registration *registration) {
  count(counting(registration)->changes_begun, sort_of(kvo_thread_number()), 1);
}

void kvo_distinct_abandon(kvo_telling *tellings) {
  for (; tellings; tellings = tellings->next)
    count(counting(tellings->registration)->tellings_ended, tellings->sort, 1);
}
