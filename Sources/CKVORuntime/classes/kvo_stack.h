/// The remaining stack of a thread.
#ifndef KVO_STACK_H
#define KVO_STACK_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// All zero if the thread runs on a stack that the system does not know, such as a coroutine's.
typedef struct kvo_stack {
  size_t size;
  size_t left; ///< below the caller
} kvo_stack;

/// The stack of this thread. The first call on the main thread is slow, because the system reads a file for it. It
/// allocates no memory of the runtime's.
kvo_stack kvo_stack_now(void);
enum {
  KVO_STACK_FOR_MESSAGE = 24 * 1024, ///< for printing a message, or for a signal handler
  KVO_STACK_PART = 4,                ///< at most this fraction of a small stack
};
/// The bytes needed for printing a message or for a signal handler: at most a quarter of a small stack.
KVO_INLINE size_t kvo_stack_reserve(const kvo_stack *stack) {
  size_t part = stack->size / KVO_STACK_PART;
  return part < KVO_STACK_FOR_MESSAGE ? part : KVO_STACK_FOR_MESSAGE;
}
/// Whether using `needed` more bytes would leave no room for printing a message.
KVO_INLINE bool kvo_stack_is_short(const kvo_stack *stack, size_t needed) {
  size_t reserve = kvo_stack_reserve(stack);
  return stack->size && (stack->left < reserve || stack->left - reserve < needed);
}

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
