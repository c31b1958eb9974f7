/// Shared by the programs of the peers. Each is called for one case at a time, as this runtime's benchmarks are
/// (`Benchmarks --turn`, `--repeat`):
///
///     PROGRAM --turn CASE       prints the processor time of each operation in nanoseconds, from one turn
///     PROGRAM --repeat CASE N   repeats the operation N times, so that instructions can be counted
///
/// The cases have the same names in each program. A case that a peer can't do is missing.
#ifndef PEER_H
#define PEER_H

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct peer_case {
  const char *name;
  /// Called once, before anything is timed. May be NULL.
  void (*prepare)(void);
  void (*run)(long iterations);
  /// The number of observers that one operation calls; -1 for a case that counts bytes, which `run` stores in
  /// `peer_bytes`.
  int tells;
} peer_case;

/// Incremented by each observer.
static long peer_notified;
static double peer_bytes;

enum { PEER_OBJECTS = 10000 };

static inline double peer_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static inline double peer_memory(void) {
  struct mallinfo2 info = mallinfo2();
  return (double)info.uordblks + (double)info.hblkhd;
}

static inline double peer_time(const peer_case *measured, long iterations) {
  double start = peer_now();
  long notified = peer_notified;
  measured->run(iterations);
  double elapsed = peer_now() - start;
  if (peer_notified - notified != iterations * measured->tells) {
    fprintf(stderr, "%s: %ld of %ld calls\n", measured->name, peer_notified - notified,
        iterations * measured->tells);
    exit(1);
  }
  return elapsed;
}

/// Measures a turn as the benchmarks' stopwatch does: 5 ms, after 30 ms of warming up.
static inline double peer_turn(const peer_case *measured) {
  long iterations = 16;
  double elapsed = peer_time(measured, iterations), spent = elapsed;
  while (elapsed < 2.5e6) {
    iterations *= 2;
    elapsed = peer_time(measured, iterations);
    spent += elapsed;
  }
  iterations = (long)((double)iterations * 5e6 / elapsed) + 1;
  while (spent < 30e6) spent += peer_time(measured, iterations);
  return peer_time(measured, iterations) / (double)iterations;
}

static inline int peer_main(int count, char **arguments, const peer_case *cases,
    size_t case_count) {
  if (count < 3) return 2;
  for (size_t i = 0; i < case_count; i++) {
    if (strcmp(cases[i].name, arguments[2]) != 0) continue;
    if (cases[i].prepare) cases[i].prepare();
    if (cases[i].tells < 0) {
      cases[i].run(PEER_OBJECTS);
      printf("%g\n", peer_bytes);
    } else if (count == 4) {
      peer_time(&cases[i], atol(arguments[3]));
    } else {
      printf("%g\n", peer_turn(&cases[i]));
    }
    return 0;
  }
  puts("none");
  return 0;
}

#define PEER_MAIN(cases)                                                     \
  int main(int count, char **arguments) {                                    \
    return peer_main(count, arguments, cases, sizeof cases / sizeof *cases); \
  }

#endif
