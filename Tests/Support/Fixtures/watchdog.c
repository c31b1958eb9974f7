// A table of the waits in progress, and a thread that checks it. There is no lock: a process may fork while a thread
// enters a wait, and the child must be able to enter its own.
#include "fixture_watchdog.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MOST_WAITS = 1024, USUAL_PATIENCE = 300, MOST_CPU_OF_CHILD = 10 };

typedef struct wait {
  atomic_bool is_taken;
  _Atomic(const char *) file; // NULL while the entry is being written
  atomic_int line;
  atomic_bool is_for_task;
  atomic_llong since; // seconds
} wait;

static wait waits[MOST_WAITS];
static atomic_llong last_progress; // seconds

// Unlike the time of day, this clock is never set.
static long long seconds_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

unsigned fixture_patience(void) {
  const char *number = getenv("KVO_PATIENCE");
  return number ? (unsigned)strtoul(number, NULL, 10) : USUAL_PATIENCE;
}

static void check(wait *wait, long long patience) {
  const char *file = atomic_load(&wait->file);
  int line = atomic_load(&wait->line);
  long long since = atomic_load(&wait->since), progress = atomic_load(&last_progress);
  if (atomic_load(&wait->is_for_task) && progress > since) since = progress;
  if (!file || seconds_now() - since <= patience) return;
  fprintf(stderr, "watchdog: a wait at %s:%d has lasted longer than %lld s (KVO_PATIENCE)\n", file,
      line, patience);
  signal(SIGABRT, SIG_DFL); // a crash reporter would show this thread
  abort();
}

static void *watch(void *unused) {
  (void)unused;
  long long patience = fixture_patience();
  if (patience == 0) return NULL;
  for (;;) {
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    for (int i = 0; i < MOST_WAITS; i++) check(&waits[i], patience);
  }
}

// Signals are for the program's threads.
static void start(void) {
  sigset_t all, before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&thread, NULL, watch, NULL)) abort();
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void fixture_note_progress(void) { atomic_store(&last_progress, seconds_now()); }

static int begin(const char *file, int line, bool is_for_task) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  int found = 0;
  while (found < MOST_WAITS && atomic_exchange(&waits[found].is_taken, true)) found++;
  if (found == MOST_WAITS) {
    fprintf(stderr, "watchdog: there are more than %d waits\n", MOST_WAITS);
    abort();
  }
  fixture_note_progress();
  atomic_store(&waits[found].since, seconds_now());
  atomic_store(&waits[found].is_for_task, is_for_task);
  atomic_store(&waits[found].line, line);
  atomic_store(&waits[found].file, file);
  return found;
}

int fixture_wait_begin(const char *file, int line) { return begin(file, line, false); }

int fixture_wait_begin_for_task(const char *file, int line) { return begin(file, line, true); }

void fixture_wait_end(int number) {
  fixture_note_progress();
  atomic_store(&waits[number].file, NULL);
  atomic_store(&waits[number].is_taken, false);
}

// About an eighth of the time that the wait has slept so far, and no more than 64 ms.
unsigned fixture_pause(unsigned turn) {
  const unsigned first = 1000;
  if (turn < first) return 0;
  unsigned doublings = (turn - first) / 8;
  return 1U << (doublings < 6 ? doublings : 6);
}

void fixture_poll(unsigned turn) {
  unsigned pause = fixture_pause(turn);
  if (pause) nanosleep(&(struct timespec){.tv_nsec = pause * 1000000L}, NULL);
  else sched_yield();
}

void fixture_join_at(const char *file, int line, pthread_t thread) {
  int wait = fixture_wait_begin(file, line);
  pthread_join(thread, NULL);
  fixture_wait_end(wait);
}

// MARK: Children

static void abort_child(int signal) {
  (void)signal;
  static const char text[] = "watchdog: a forked child has lasted too long (KVO_PATIENCE)\n";
  if (write(STDERR_FILENO, text, sizeof text - 1)) {}
  abort();
}

// The threads that run tests may block the alarm's signal.
void fixture_limit_child(void) {
  setrlimit(RLIMIT_CPU, &(struct rlimit){MOST_CPU_OF_CHILD, MOST_CPU_OF_CHILD});
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  signal(SIGALRM, abort_child);
  alarm(fixture_patience());
}
