#include "fixture_threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_THREADS = 32 };

typedef struct crew {
  void (*body)(void *context, int index);
  void *context;
  pthread_barrier_t start;
} crew;

typedef struct member {
  crew *crew;
  int index;
  pthread_t thread;
} member;

static void *run_member(void *argument) {
  member *self = argument;
  pthread_barrier_wait(&self->crew->start);
  self->crew->body(self->crew->context, self->index);
  return NULL;
}

static void start_member(member *self) {
  if (pthread_create(&self->thread, NULL, run_member, self) == 0) return;
  fprintf(stderr, "fixture: no thread to be had\n");
  abort();
}

void fixture_run_threads_at(const char *file, int line, int count,
    void (*body)(void *context, int index), void *context) {
  crew all = {.body = body, .context = context};
  member members[MOST_THREADS];
  if (count > MOST_THREADS) abort();
  pthread_barrier_init(&all.start, NULL, (unsigned)count);
  for (int index = 0; index < count; index++) {
    members[index] = (member){.crew = &all, .index = index};
    start_member(&members[index]);
  }
  for (int index = 0; index < count; index++) fixture_join_at(file, line, members[index].thread);
  pthread_barrier_destroy(&all.start);
}

// MARK: Turns

static int raised(int *turn) {
  int number = __atomic_add_fetch(turn, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, turn, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
  return number;
}

void fixture_raise(int *turn) { raised(turn); }

// Sleeps, so that a turn that never comes shows by the CPU time (Scripts/events.py).
void fixture_await_at(const char *file, int line, const int *turn, int least) {
  int wait = -1, seen;
  while ((seen = __atomic_load_n(turn, __ATOMIC_SEQ_CST)) < least) {
    if (wait < 0) wait = fixture_wait_begin(file, line);
    syscall(SYS_futex, turn, FUTEX_WAIT, seen, NULL, NULL, 0);
  }
  if (wait >= 0) fixture_wait_end(wait);
}

void gate_callback(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  gate *self = context;
  fixture_await(&self->let_go, raised(&self->begun));
}

uint64_t fixture_thread(void) {
  static uint64_t last;
  static _Thread_local uint64_t mine;
  if (mine == 0) mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  return mine;
}

KVO_CLASS_IMPLEMENTATION(gauge, "CGauge", tracked_class, GAUGE_PROPERTIES, NULL)

#define ATOMIC_PROPERTY(key, Key)                                                          \
  static long gauge_##key##_imp(kvo_object *self, const kvo_method *_cmd) {                \
    (void)_cmd;                                                                            \
    return __atomic_load_n(&((gauge *)self)->key, __ATOMIC_SEQ_CST);                       \
  }                                                                                        \
  static void gauge_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, long value) { \
    (void)_cmd;                                                                            \
    __atomic_store_n(&((gauge *)self)->key, value, __ATOMIC_SEQ_CST);                      \
  }
ATOMIC_PROPERTY(first, First)
ATOMIC_PROPERTY(second, Second)
