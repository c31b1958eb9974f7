/// Changes that one thread begins and another ends, as in a language that can suspend during an access; and events in
/// between.
#ifndef FIXTURE_TRANSFERRED_CHANGES_H
#define FIXTURE_TRANSFERRED_CHANGES_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// An observer forks in its call, after ending itself and two others. With `is_carried`, another thread has begun the
/// change, and the observer ends them after the fork. True if only it was called in parent and child, once, and each
/// `ended` was called once, after the call.
bool transferred_changes_fork_in_call(bool is_carried);

/// A thread begins a change and ends. Another thread, which reuses its record, sets the same property. Returns the
/// number of deliveries when the first change is over as well.
int transferred_changes_calls_beside(void);

/// A thread begins a change and ends. Another thread, which reuses its record, ends in a call. Returns how often the
/// change has been delivered when it is over.
int transferred_changes_calls_after_exit(void);

/// A method that announces a change, begun by another thread, forks. Returns how often the change is delivered in
/// parent and child together. Once per process.
int transferred_changes_calls_of_forking_method(void);

/// The program forks while a thread is in a method that announces a change. A thread of the child, which reuses that
/// thread's record, makes a manual pair within an automatic change of another object. Returns the calls of that
/// change's observer, which asks for prior calls; -1 if the child fails. Once per process.
int transferred_changes_calls_after_fork_in_method(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
