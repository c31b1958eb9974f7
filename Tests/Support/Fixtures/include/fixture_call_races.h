/// Interactions of threads and processes at critical moments, at which gates hold them.
#ifndef FIXTURE_CALL_RACES_H
#define FIXTURE_CALL_RACES_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A registration ends while another thread is in a call for the same object. Returns whether `ended` is called when
/// that call is over, and not before.
bool call_race_end_waits_for_call(void);

/// The process forks before the call is over. Returns whether the child, which lacks that thread, calls `ended` when
/// another registration, of its own object, ends there.
bool call_race_child_reports_what_waited(void);

/// How the other thread gets into an observer's call.
typedef enum call_race_call {
  CALL_RACE_OF_CHANGE, ///< it sets the property
  CALL_RACE_OF_PATH,   ///< it sets the last property of the observed path, of another object
  CALL_RACE_OF_DERIVED_KEY, ///< it sets a property of another object from which the observed key is derived
  CALL_RACE_OF_INITIAL, ///< it has registered the observer itself
} call_race_call;

/// As the first, but the registration is ended by the thread that made the object's first one and so owns it.
bool call_race_owner_waits_for_call(call_race_call call);

/// A thread begins a change. Another one, which owns the object by now, delivers it and ends the observers in the
/// first call. Counts the calls, the `ended` calls during that call, and all `ended` calls when it is over.
typedef struct call_race_ends {
  int calls, early, late;
} call_race_ends;
call_race_ends call_race_end_in_carried_call(void);

/// A thread opens a change of elements, and edits the key, whose setter stores other elements. Another thread closes the
/// change. Returns whether its observer is notified of a setting.
bool call_race_edit_beside_close(void);

/// One object has many observers of distinct changes. Each allocation of a change fails in turn. Returns whether each
/// time all observers are called, or lack of memory is reported.
bool call_race_many_notified_without_memory(void);

/// An object is observed at several keys, repeatedly without memory for the first of them, while another thread ends
/// the keys' only other observers. Returns whether no observer is left in the end.
bool call_race_several_without_memory(void);

/// An object is dumped repeatedly while another thread nests many brackets of it. Returns the number of dumps.
int call_race_dump_beside_brackets(void);

/// After a registration has been invalidated, another thread sets its property and another one. Returns the calls for
/// the registration after its invalidation.
int call_race_calls_after_invalidation(void);

/// Forks while a class is being defined. Returns whether the child can define and use others.
bool call_race_fork_in_definition(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
