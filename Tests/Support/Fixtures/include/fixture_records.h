/// What threads leave behind in the runtime, and changes that end in another order than they began.
#ifndef FIXTURE_RECORDS_H
#define FIXTURE_RECORDS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// How many threads' records a removal looks through.
int records_listed(void);

/// Has so many threads at once set an observed property. How many records are listed when they have
/// ended, besides those of before.
int records_after_threads(int count);

/// A thread begins a change and ends, and this one ends the change. How many records are listed
/// meanwhile and then, besides those of before.
typedef struct records_left {
  int meanwhile, then;
} records_left;
records_left records_of_suspended_change(void);

/// How many blocks of frames a thread needs, besides its first, for so many changes of which each
/// begins before the one before ends, `open` of them at once.
int frames_of_overlapping_changes(int count, int open);

/// The same where each change is ended by another thread than began it.
int frames_of_changes_ended_elsewhere(int count);

/// The blocks that this thread's frames take now, besides the first.
int frames_blocks(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
