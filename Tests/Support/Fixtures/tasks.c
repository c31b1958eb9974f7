#include "fixture_tasks.h"

#include "kvo_binding.h"

static _Thread_local const void *task_of_thread;

static const void *find(void) { return task_of_thread; }

void fixture_have_tasks(void) { kvo_set_current_task(find); }

void fixture_run_task(uintptr_t number) { task_of_thread = (const void *)number; }
