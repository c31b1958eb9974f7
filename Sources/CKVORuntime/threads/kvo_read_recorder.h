/// Reports reads to the binding that records them on this thread.
#ifndef KVO_READ_RECORDER_H
#define KVO_READ_RECORDER_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Reports to the binding, whose recorder is set, that a key was read.
void kvo_report_read(kvo_object *object, const char *interned_key);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
