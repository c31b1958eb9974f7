/// What threads and processes do to each other at a certain moment, in which they are held.
#ifndef FIXTURE_MOMENTS_H
#define FIXTURE_MOMENTS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A registration ends while another thread is in a call for the same object. Whether its end is
/// told when that call is over, and not before.
bool moment_end_waits_for_call(void);

/// The same where the process forks before the call is over. Whether the child, in which that thread is gone,
/// tells the end when next something ends there, of an object of its own.
bool moment_child_tells_what_waited(void);

/// How another thread comes to be in a call of an observer.
typedef enum moment_call {
  MOMENT_OF_CHANGE,      ///< it sets the property
  MOMENT_OF_PATH,        ///< it sets one to which the observed path leads, of another object
  MOMENT_OF_DERIVED_KEY, ///< it sets one that the observed key is derived from, of another object
  MOMENT_OF_INITIAL,     ///< it has registered the observer itself
} moment_call;

/// The same where a registration is ended by the thread that has hung the first one at the object, while
/// another thread is in a call of it.
bool moment_owner_waits_for_call(moment_call call);

/// A change that one thread has begun is told on another, which owns the object by now, and ends its
/// observers in the first call. How many are called, and how many are told of their end in that call; then
/// how many are when it is over.
typedef struct moment_ends {
  int calls, early, late;
} moment_ends;
moment_ends moment_end_in_carried_call(void);

/// One object has many observers that ask for distinct changes; each allocation of one of its changes fails, the
/// others do not. Whether each time all are told, or that memory is out.
bool moment_many_told_without_memory(void);

/// An object is to be observed at several keys, again and again without memory for the first of them, while another
/// thread ends the only other observers of the keys. Whether nobody observes it in the end.
bool moment_several_without_memory(void);

/// An object is dumped again and again while another thread nests many brackets of it. How many dumps were
/// made.
int moment_dump_beside_brackets(void);

/// A registration is invalidated; then another thread sets what it observed, and something else.
/// How many calls come for it after it was invalidated.
int moment_calls_after_invalidation(void);

/// Forks while a class is being defined. Whether the child can define others, and use them.
bool moment_fork_in_definition(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
