/// Cleanup when an exception passes through the runtime. C++ may include this.
///
/// Setters, getters and observers are the program's code, and may throw. The runtime's C functions let an exception
/// pass but cannot clean up. So code that calls the program while it has something to undo is run by a C++ file.
#ifndef KVO_EXCEPTIONS_H
#define KVO_EXCEPTIONS_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_frame;

/// Runs `body(context)`. If an exception, or the end of its thread, leaves the body, this thread's frames are unwound
/// to `mark`, then `undo(context)` is called if there is one. The exception passes on.
void kvo_run_unwinding(struct kvo_frame *KVO_NULLABLE mark,
    void (*body)(void *KVO_NULLABLE context), void (*KVO_NULLABLE undo)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Runs `body(context)`, then `last(context)`, even if an exception leaves the body. Then this thread's frames are
/// unwound to `mark` before `last` is called, and the exception passes on unless `last` throws another one.
void kvo_run_finally(struct kvo_frame *KVO_NULLABLE mark, void (*body)(void *KVO_NULLABLE context),
    void (*last)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

/// Runs `body(context)`, and again after each exception that leaves it, until it returns. Then the last exception
/// passes on.
void kvo_run_until_done(struct kvo_frame *KVO_NULLABLE mark,
    void (*body)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

/// Pops all frames that this thread has pushed since `mark` was on top, newest first, without delivering their
/// changes. NULL: all of them. In frames.c.
void kvo_thread_unwind(struct kvo_frame *KVO_NULLABLE earlier_top);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
