// `KVO_DISTINCT`: decides which observers need not be notified of a change that left its property unchanged (D3). The
// change is then *withheld* from the observer.
//
// Old and new value may be equal and the change must be delivered all the same, because the observer may know another
// value by now:
// * Another change may have been delivered to it, by another thread or as a nested change of this one.
// * While it was called, the observer may have read a value that this change stored and has since taken back.
// * Another change may have compared with a value that this change stored, found no difference, and been withheld.
//
// So each registration keeps counts, which a change compares:
// * Its last claim. A change claims the registration in the will phase, before it reads the old value, unless its
//   thread made the last claim. When it has read the new value it checks whether another thread has claimed the
//   registration since then. If so, the two changes overlap.
// * Deliveries begun and deliveries ended. A delivery begins in the did phase, before the new value is read, and ends
//   when the observer has returned. A change notes in the will phase how many have ended. If no more have begun by
//   the did phase, apart from its own, then all earlier ones had ended in the will phase and none has begun since. A
//   change that is withheld takes its beginning back.
// * Changes begun, without those that were withheld, which take their count back. Changes of one thread may cross:
//   pairs and suspended accesses end in any order. If the number is still what a change noted, every change that
//   began during it was withheld. A change that began earlier and ends during it finds the number raised, so it is
//   delivered, and its delivery is counted.
//
// Changes made inside an observer's callback are nested in the delivery that called it. An observer may set what it
// observes, and is not notified of that if the value stays the same. But the delivery may end before the nested
// change does, or call the observer during it if other observers were called first: both are counted. Each delivery
// is in a list of its thread, which no other thread touches. It is stored in a frame or a propagation, which ends it
// if an exception passes. A change that ends on another thread than it began on is always delivered. The
// registrations of a token of several keys are one observer, which may read all of them when notified of one: the
// counts of the first serve for all.
//
// A change may not find an observer any more when it is delivered, because the observer's path has moved. The change
// must not simply be dropped: the change that moved the path may have been withheld because of a value that this
// change had stored. So the registration also counts how many changes were withheld from it. If that count has risen
// since the will phase, or another thread has claimed the observer, the change is delivered. Otherwise every delivery
// to the observer since then has also delivered what this change stored. The change then only stays counted, for
// those open around it.
//
// Only the first claim of an observer needs a locked instruction, as long as no second thread has ever changed
// anything. The first thread has counters of its own: no other thread writes them, so plain stores lose no step. The
// second thread, when it begins, waits until all others know of it and sees what they have begun.
// Tests/Models/distinct.pml models all of this for threads, Tests/Models/crossing.pml for the changes of one thread.
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

// Claims the registration, unless this thread made the last claim. A new claim differs from all earlier ones.
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

// The sum of deliveries begun and ended that are compatible with withholding a change: those of other threads that
// have ended, and those of this thread, which enclose the change or are over. The first thread has counters of its
// own, so all that it has begun are this thread's.
static uint32_t count_tellings(const kvo_counts *counts, uint32_t own) {
  uint32_t ended = load(&counts->tellings_ended[own]), other = load(&counts->tellings_ended[!own]);
  uint32_t begun = own == FIRST ? load(&counts->tellings_begun[FIRST]) : ended + count_own(counts);
  return begun + ended + 2 * other;
}

void kvo_distinct_note(kvo_distinction *distinction, kvo_registration *registration) {
  kvo_counts *counts = counting(registration);
  // This thread has a record: it has a frame.
  uint32_t number = kvo_this_thread->number, own = sort_of(number);
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
  kvo_thread *thread = kvo_thread_current(); // it has a number from now on
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

// None of the four counts falls below what was noted of it, so the sum is equal only if all four are.
static uint32_t count_all_tellings(const kvo_counts *counts) {
  return load(&counts->tellings_begun[OTHERS]) + load(&counts->tellings_ended[OTHERS]) +
         load(&counts->tellings_begun[FIRST]) + load(&counts->tellings_ended[FIRST]);
}

bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, kvo_registration *registration,
    uint32_t of_this) {
  kvo_counts *counts = counting(registration);
  uint32_t number = kvo_thread_number();
  __atomic_thread_fence(__ATOMIC_ACQUIRE); // the new value has been read
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

// Takes back the count of a withheld change, unless another thread has begun a change since, which raised the shared
// counter. That thread has claimed the observer, so this thread's changes around this one do not need the count.
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
