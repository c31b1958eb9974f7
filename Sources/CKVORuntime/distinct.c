// `KVO_DISTINCT` between threads.
//
// A change at whose did a property is what it was at its will may still have to be told: another
// thread has told something else in between. Objects have clocks, 64 for all of them. A change reads
// the clock at will, before it reads old. At did it takes the next time, marks the registrations with
// it and with its thread as being told, fences, and only then reads new, and ends the mark. A change
// whose old and new are equal is told all the same if one of them has been marked since its will, or if
// another thread was just reading what to tell, at its will or at its did: it may have read what this
// one stored in passing. So of two changes that overlap one sees the other's mark, or the other reads
// what the one has stored. A change that has told nothing takes its mark back.
//
// As long as no second thread has ever changed anything neither the clock nor the fence needs a locked
// instruction: the second one waits, when it begins, until all others know of it.
#include "kvo_distinct.h"

#include "kvo_lock.h"
#include "kvo_thread.h"

// A mark has the thread's number in its lower bits: so many threads later numbers look alike. Below
// them, whether what is told is still being read.
enum { UNDER_WAY = 1, THREAD_BITS = 24 };

typedef struct clock_of_objects {
  uint64_t time; // atomic
} __attribute__((aligned(64))) clock_of_objects;

static clock_of_objects clocks[KVO_OBJECT_LOCKS];
static bool has_others; // atomic, never false again

static uint64_t *clock_of(const kvo_object *object) {
  return &clocks[kvo_object_lock_index(object)].time;
}

static bool is_alone(void) {
  return !__atomic_load_n(&has_others, __ATOMIC_RELAXED) && kvo_remover_fences();
}

void kvo_distinct_expect_thread_locked(uint32_t number) {
  if (number < 2 || __atomic_load_n(&has_others, __ATOMIC_RELAXED)) return;
  __atomic_store_n(&has_others, true, __ATOMIC_SEQ_CST);
  kvo_heavy_fence();
}

static uint64_t next(uint64_t *clock) {
  if (!is_alone()) return __atomic_add_fetch(clock, 1, __ATOMIC_SEQ_CST);
  uint64_t time = __atomic_load_n(clock, __ATOMIC_RELAXED) + 1;
  __atomic_store_n(clock, time, __ATOMIC_RELAXED);
  return time;
}

static uint64_t thread_bits(void) {
  return ((uint64_t)kvo_thread_number() << 1) & ((1u << THREAD_BITS) - 1);
}

static uint64_t next_mark(const kvo_object *object) {
  return next(clock_of(object)) << THREAD_BITS | thread_bits() | UNDER_WAY;
}

// In one step, so that no mark is lost between the look and the store.
static uint64_t exchange(uint64_t *told, uint64_t mark) {
  if (!is_alone()) return __atomic_exchange_n(told, mark, __ATOMIC_SEQ_CST);
  uint64_t before = __atomic_load_n(told, __ATOMIC_RELAXED);
  __atomic_store_n(told, mark, __ATOMIC_RELAXED);
  return before;
}

void kvo_distinct_begin(kvo_distinction *distinction, const kvo_object *object) {
  distinction->since = __atomic_load_n(clock_of(object), __ATOMIC_SEQ_CST);
}

void kvo_distinct_tick(kvo_distinction *distinction, const kvo_object *object) {
  distinction->now = next_mark(object);
  distinction->before = 0;
}

void kvo_distinct_mark(kvo_distinction *distinction, kvo_registration *registration, bool is_late) {
  uint64_t before = exchange(&registration->told, distinction->now);
  if (!is_late && before > distinction->before) distinction->before = before;
}

static bool is_under_way_elsewhere(uint64_t mark) {
  uint64_t own = thread_bits() | UNDER_WAY;
  return mark & UNDER_WAY && (mark ^ own) << (64 - THREAD_BITS);
}

bool kvo_distinct_is_being_told(const kvo_registration *registration) {
  return is_under_way_elsewhere(__atomic_load_n(&registration->told, __ATOMIC_SEQ_CST));
}

bool kvo_distinct_is_overtaken(const kvo_distinction *distinction, uint64_t since) {
  uint64_t before = distinction->before;
  return before >> THREAD_BITS > since || is_under_way_elsewhere(before);
}

static void replace(kvo_registration *registration, uint64_t mark, uint64_t other) {
  if (__atomic_load_n(&registration->told, __ATOMIC_RELAXED) != mark) return;
  if (is_alone()) __atomic_store_n(&registration->told, other, __ATOMIC_RELAXED);
  else
    __atomic_compare_exchange_n(&registration->told, &mark, other, false, __ATOMIC_SEQ_CST,
        __ATOMIC_RELAXED);
}

void kvo_distinct_end(const kvo_distinction *distinction, kvo_registration *registration) {
  replace(registration, distinction->now, distinction->now & ~(uint64_t)UNDER_WAY);
}

void kvo_distinct_begin_initial(kvo_distinction *distinction, kvo_registration *registration) {
  kvo_distinct_tick(distinction, registration->object);
  kvo_distinct_mark(distinction, registration, true);
}

void kvo_distinct_settle(void) {
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (!is_alone()) __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void kvo_distinct_unmark(const kvo_distinction *distinction, kvo_registration *registration) {
  kvo_distinct_end(distinction, registration); // it may have been ended when it was read
  replace(registration, distinction->now & ~(uint64_t)UNDER_WAY, distinction->before);
}
