/// The only time limit in tests. It decides no result: it ends a process that hangs, and names the wait that did not
/// end.
#ifndef FIXTURE_WATCHDOG_H
#define FIXTURE_WATCHDOG_H

#include <CKVORuntime.h>
#include <pthread.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The seconds that a wait may last before the process is aborted: `KVO_PATIENCE`, or five minutes. With 0 a wait may
/// last for ever, as for debugging.
unsigned fixture_patience(void);

/// Begins a wait for threads. `fixture_wait_end` ends it, with the returned value. The file's name must stay valid
/// until then.
int fixture_wait_begin(const char *file, int line);
/// Begins a wait for a task. Tasks of all tests share few threads, so it may last as long as the whole run. Its time
/// counts from the last beginning or end of any wait.
int fixture_wait_begin_for_task(const char *file, int line);
void fixture_wait_end(int wait);

/// Resets the time of a long test that still makes progress.
void fixture_note_progress(void);

/// Waits for the thread's end.
void fixture_join_at(const char *file, int line, pthread_t thread);
#define fixture_join(thread) fixture_join_at(__FILE__, __LINE__, thread)

/// Ends the calling process, a forked child, if it does not end in time, or uses 10 s of CPU time: a child has no
/// watchdog thread.
void fixture_limit_child(void);

/// The milliseconds to sleep before a polling wait tests its condition for the `turn`th time, or 0 to yield only. From
/// the thousandth time on it sleeps, ever longer, so that a wait that never ends is found asleep (Scripts/events.py).
unsigned fixture_pause(unsigned turn);
/// Yields or sleeps that long, on this thread.
void fixture_poll(unsigned turn);

/// Waits until the condition holds.
#define FIXTURE_WAIT_UNTIL(condition)                                 \
  do {                                                                \
    if (condition) break;                                             \
    int fixture_wait = fixture_wait_begin(__FILE__, __LINE__);        \
    for (unsigned turn = 0; !(condition); turn++) fixture_poll(turn); \
    fixture_wait_end(fixture_wait);                                   \
  } while (0)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
