/// Records of ended threads in the runtime, and changes that end in another order than they began.
#ifndef FIXTURE_RECORDS_H
#define FIXTURE_RECORDS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The number of threads' records that a removal looks through.
int records_listed(void);

/// Lets `count` threads at once set an observed property. Returns how many more records are listed after they have
/// ended.
int records_after_threads(int count);

/// A thread begins a change and ends, and this one ends the change. Returns how many more records are listed in
/// between and afterwards.
typedef struct records_left {
  int meanwhile, then;
} records_left;
records_left records_of_suspended_change(void);

/// The blocks of frames, besides its first, that a thread needs for `count` changes, of which `open` are open at once
/// and each begins before the previous one ends.
int frames_of_overlapping_changes(int count, int open);

/// The blocks of frames for such changes, each begun by one thread and ended by another.
int frames_of_changes_ended_elsewhere(int count);

/// The blocks that this thread's frames occupy now, besides the first.
int frames_blocks(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
