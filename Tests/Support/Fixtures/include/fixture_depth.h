/// Observers that recurse endlessly.
#ifndef FIXTURE_DEPTH_H
#define FIXTURE_DEPTH_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// On a thread with a stack of `stack_size` bytes, an observer of a gauge's `first` adds one to it, until it is
/// `last`. Each call uses additional stack. Returns the last value; the program stops if that is never reached.
long depth_set_until(long last, size_t stack_size, size_t bytes_each);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
