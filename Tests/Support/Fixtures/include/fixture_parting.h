/// Objects whose own code drops their last reference.
#ifndef FIXTURE_PARTING_H
#define FIXTURE_PARTING_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The use of an object in which its code drops it.
typedef enum KVO_CLOSED_ENUM parting_use {
  PARTING_OBSERVED,
  PARTING_OBSERVED_AT_ONCE, ///< with an initial call
  PARTING_OBSERVED_BY_OBJECT,
  PARTING_OBSERVER, ///< of another object of its class
  PARTING_GROUP,    ///< several keys, one handle
  PARTING_READ,
  PARTING_READ_TOGETHER,
  PARTING_SET,
  PARTING_SET_ALONG_PATH,
  PARTING_VALIDATED,
  PARTING_MUTATED,
  PARTING_MUTATED_ALONG_PATH,
  PARTING_BRACKETED, ///< manually
  PARTING_CHANGED,   ///< and observed, by its setter
  PARTING_CHANGED_BY_KEY,
  PARTING_CHANGED_BY_HAND,
  PARTING_COALESCED,
} parting_use;

/// Uses objects in this way, by a key and by a path. During each use, a hook or an accessor drops the object. Tries all
/// combinations in which that is possible.
/// - dropped: receives how many were dropped in a use.
///
/// Returns how many of those died, once, after the use.
int parting_run(parting_use use, int *dropped);
/// Uses observed objects for changes, each dropped by its getter when that is called for the change.
int parting_run_changes(parting_use use, int *dropped);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
