/// Interactions of threads and processes at critical moments, at which gates hold them.
#ifndef FIXTURE_MOMENTS_H
#define FIXTURE_MOMENTS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A registration ends while another thread is in a call for the same object. Returns whether `ended` is called when
/// that call is over, and not before.
bool moment_end_waits_for_call(void);

/// The process forks before the call is over. Returns whether the child, which lacks that thread, calls `ended` when
/// another registration, of its own object, ends there.
bool moment_child_tells_what_waited(void);

/// How the other thread gets into an observer's call.
typedef enum moment_call {
  MOMENT_OF_CHANGE,      ///< it sets the property
  MOMENT_OF_PATH,        ///< it sets the last property of the observed path, of another object
  MOMENT_OF_DERIVED_KEY, ///< it sets a property of another object from which the observed key is derived
  MOMENT_OF_INITIAL, ///< it has registered the observer itself
} moment_call;

/// As the first, but the registration is ended by the thread that made the object's first one and so owns it.
bool moment_owner_waits_for_call(moment_call call);

/// A thread begins a change. Another one, which owns the object by now, delivers it and ends the observers in the
/// first call. Counts the calls, the `ended` calls during that call, and all `ended` calls when it is over.
typedef struct moment_ends {
  int calls, early, late;
} moment_ends;
moment_ends moment_end_in_carried_call(void);

/// One object has many observers of distinct changes. Each allocation of a change fails in turn. Returns whether each
/// time all observers are called, or lack of memory is reported.
bool moment_many_told_without_memory(void);

/// An object is observed at several keys, repeatedly without memory for the first of them, while another thread ends
/// the keys' only other observers. Returns whether no observer is left in the end.
bool moment_several_without_memory(void);

/// An object is dumped repeatedly while another thread nests many brackets of it. Returns the number of dumps.
int moment_dump_beside_brackets(void);

/// After a registration has been invalidated, another thread sets its property and another one. Returns the calls for
/// the registration after its invalidation.
int moment_calls_after_invalidation(void);

/// Forks while a class is being defined. Returns whether the child can define and use others.
bool moment_fork_in_definition(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
