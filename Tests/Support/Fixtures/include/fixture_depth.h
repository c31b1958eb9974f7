/// Observers that never stop.
#ifndef FIXTURE_DEPTH_H
#define FIXTURE_DEPTH_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// On a thread with a stack of that size, an observer of a gauge's `first` sets it to one more, each
/// call with so many bytes of its own on the stack, until it is `last`. What it is then; the program
/// has been stopped if that never came.
long depth_set_until(long last, size_t stack_size, size_t bytes_each);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
