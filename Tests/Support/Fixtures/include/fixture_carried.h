/// Changes that another thread ends than began them, as where a language suspends in an access, and
/// what may happen meanwhile.
#ifndef FIXTURE_CARRIED_H
#define FIXTURE_CARRIED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// An observer forks in its call, having ended itself and two others; or those afterwards, where the
/// change is one that another thread has begun (`is_carried`). False unless in the parent and in
/// the child it alone was called, once, and each was told its end once, after the call.
bool carried_fork_in_call(bool is_carried);

/// A thread begins a change and ends; another, which has its record then, sets the same property.
/// How many changes are told when the first is over as well.
int carried_calls_beside(void);

/// A thread begins a change and ends; another, which has its record then, ends in a call. How often
/// the change is told when it is over.
int carried_calls_after_exit(void);

/// A method that announces a change forks; another thread has begun the change. How often the change is told in the parent
/// and in the child together. Once per process.
int carried_calls_of_forking_method(void);

/// The program forks while a thread is in a method that announces a change. A thread of the child, which has that thread's
/// record then, makes a pair by hand within an automatic change of another object. How often that change's observer, which
/// asks for prior calls, is called; -1 if the child fails. Once per process.
int carried_calls_after_fork_in_method(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
