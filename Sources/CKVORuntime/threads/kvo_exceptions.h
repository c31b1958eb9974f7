/// What an exception that passes through the runtime must not leave behind. C++ may include this.
///
/// Setters, getters and observers are the user's, and may throw. The runtime's functions of C let
/// an exception pass but can't clean up, so whatever calls the user while it has something to undo is run
/// by a file of C++.
#ifndef KVO_EXCEPTIONS_H
#define KVO_EXCEPTIONS_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

struct kvo_frame;

/// Runs `body(context)`. When it is left by an exception (or by the end of its thread), unwinds
/// this thread's frames to `mark`, then calls `undo(context)` if there is one; the exception
/// passes on.
void kvo_run_unwinding(struct kvo_frame *KVO_NULLABLE mark,
    void (*body)(void *KVO_NULLABLE context), void (*KVO_NULLABLE undo)(void *KVO_NULLABLE context),
    void *KVO_NULLABLE context);

/// Runs `body(context)`, then `last(context)`, also when the body is left by an exception, which passes on then unless
/// `last` throws another one. Either way this thread's frames are unwound to `mark` before.
void kvo_run_finally(struct kvo_frame *KVO_NULLABLE mark, void (*body)(void *KVO_NULLABLE context),
    void (*last)(void *KVO_NULLABLE context), void *KVO_NULLABLE context);

/// Pops all frames that this thread has pushed since `mark` was on top, newest first, without
/// delivering what they were to tell. NULL: all of them. frames.c's.
void kvo_thread_unwind(struct kvo_frame *KVO_NULLABLE mark);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
