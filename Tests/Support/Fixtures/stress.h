/// The parts of stress scenarios.
#ifndef STRESS_H
#define STRESS_H

#include "fixture_stress.h"

#include <pthread.h>
#include <stdatomic.h>

enum { STRESS_THREADS = 4, STRESS_OBJECTS = 4, STRESS_TICKETS = 256 };

KVO_ASSUME_NONNULL_BEGIN

typedef struct stage stage;

/// The context of one registration. A thread uses its tickets in turn, so that a late call finds a ticket that has
/// ended.
typedef struct ticket {
  stage *stage;
  int owner;         ///< the thread that registers with it
  atomic_bool ended; ///< no more calls are allowed
  atomic_ullong calls;
  atomic_uint by_owner; ///< calls on the owner's thread
} ticket;

typedef struct worker_state {
  uint64_t random;
  unsigned next_ticket;
  ticket tickets[STRESS_TICKETS];
} worker_state;

struct stage {
  const struct scenario *scenario;
  pthread_rwlock_t locks[STRESS_OBJECTS]; ///< for objects and handles that are replaced
  kvo_object *KVO_NULLABLE objects[STRESS_OBJECTS];
  kvo_object *KVO_NULLABLE observers[STRESS_OBJECTS];
  kvo_handle *KVO_NULLABLE handles[STRESS_OBJECTS];
  ticket steady[STRESS_OBJECTS];
  _Atomic(kvo_frame *) carried; ///< an open change, passed from one thread to another
  atomic_ullong sets, calls, registrations, ends, wrong;
  atomic_ullong untold; ///< registrations without an `ended` function
  char problem[160];
  atomic_bool has_left[STRESS_THREADS];
  struct round {
    atomic_uint begun, set,
        done; ///< rounds that the first thread has begun and set in; the second has done
    atomic_long notified; ///< the greatest value that the second has received in this round
  } rounds[STRESS_THREADS / 2];
  worker_state workers[STRESS_THREADS];
};

typedef struct scenario {
  const char *KVO_NULLABLE name;
  void (*begin)(stage *stage);
  /// One step of a thread.
  void (*step)(stage *stage, int thread, worker_state *worker);
  /// Called when all threads have stopped.
  void (*end)(stage *stage);
} scenario;

extern const scenario stress_lifetime_scenarios[], stress_count_scenarios[],
    stress_path_scenarios[];

/// Counts a fault, and keeps the description of the first.
void stage_fail(stage *stage, const char *problem);
KVO_INLINE void stage_require(stage *stage, bool holds, const char *problem) {
  if (!holds) stage_fail(stage, problem);
}

/// A number less than `bound`.
unsigned worker_random(worker_state *worker, unsigned bound);
ticket *worker_ticket(stage *stage, int thread);
/// Begins a ticket for `owner`, or for any thread if it is -1.
void ticket_begin(ticket *ticket, stage *stage, int owner);
/// The number of the calling thread in the stage; -1 for none.
int stage_thread(void);

/// Counts the call. A fault if the ticket has ended.
void ticket_called(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change);
/// Ends the ticket. A fault if it had ended.
void ticket_ended(void *context);
/// Registers the ticket, which must succeed.
kvo_handle *ticket_register(ticket *ticket, kvo_object *object, const char *key_path,
    kvo_options options);
/// Registers the ticket for several keys at once.
kvo_handle *ticket_register_keys(ticket *ticket, kvo_object *object,
    const char *KVO_NONNULL const *KVO_NONNULL keys, size_t count, kvo_options options);
/// Registers the ticket without a handle; it ends with its object.
void ticket_leave(ticket *ticket, kvo_object *object, const char *key_path, kvo_options options);

KVO_ASSUME_NONNULL_END

#endif
