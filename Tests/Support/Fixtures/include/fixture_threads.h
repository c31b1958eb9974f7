/// Threads, and objects whose properties they may share.
#ifndef FIXTURE_THREADS_H
#define FIXTURE_THREADS_H

#include "fixture_tracked.h"
#include "fixture_watchdog.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Runs `body(context, 0)` … `body(context, count - 1)` on new threads, which start together, and waits for all of
/// them.
void fixture_run_threads_at(const char *file, int line, int count,
    void (*body)(void *KVO_NULLABLE context, int index), void *KVO_NULLABLE context);
#define fixture_run_threads(count, body, context) \
  fixture_run_threads_at(__FILE__, __LINE__, count, body, context)

/// A number that identifies the calling thread.
uint64_t fixture_thread(void);

/// A counter by which threads take turns.
void fixture_raise(int *turn);
/// Waits until the counter has been raised often enough.
void fixture_await_at(const char *file, int line, const int *turn, int least);
#define fixture_await(turn, least) fixture_await_at(__FILE__, __LINE__, turn, least)

/// An observer whose calls wait: the n-th has begun when `begun` is n, and returns when `let_go` is n.
typedef struct gate {
  int begun, let_go;
} gate;
void gate_callback(void *KVO_NULLABLE gate, kvo_object *object, const char *key_path,
    const kvo_change *change);

/// Properties whose storage is atomic.
typedef struct gauge {
  tracked tracked;
  long first;
  long second;
} gauge;

#define GAUGE_PROPERTIES(PROPERTY)            \
  PROPERTY(gauge, long, first, First, CUSTOM) \
  PROPERTY(gauge, long, second, Second, CUSTOM)

KVO_CLASS_INTERFACE(gauge, GAUGE_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
