/// Tasks, as a binding's language has them: a task may go on on another thread, and a thread may run several.
#ifndef FIXTURE_TASKS_H
#define FIXTURE_TASKS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Lets the runtime ask for the current task, for the rest of the process.
void fixture_have_tasks(void);
/// This thread runs the task with that number from now on; 0: none.
void fixture_run_task(uintptr_t number);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
