/// How much of a thread's stack is left.
#ifndef KVO_STACK_H
#define KVO_STACK_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// All zero where the thread runs on a stack that the system does not know, as a coroutine's.
typedef struct kvo_stack {
  size_t size;
  size_t left; ///< below the caller
} kvo_stack;

/// The first call on a main thread is slow, as the system reads a file for it. Allocates nothing of the runtime's.
kvo_stack kvo_stack_now(void);
/// The bytes that printing a message takes, or a signal handler: at most a quarter of a small stack.
size_t kvo_stack_reserve(const kvo_stack *stack);
/// Whether so many bytes more would leave no room to print a message.
bool kvo_stack_is_short(const kvo_stack *stack, size_t needed);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
