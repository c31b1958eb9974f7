/// A system library in the role of a plug-in. Its functions become methods, which are never called, of classes made
/// here. It can't be unloaded afterwards, so each call needs a process of its own.
#ifndef FIXTURE_PLUGGED_H
#define FIXTURE_PLUGGED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS

typedef enum KVO_CLOSED_ENUM plugged_way {
  PLUGGED_NOWHERE, ///< no method
  PLUGGED_METHOD,
  PLUGGED_REPLACEMENT,
  PLUGGED_CLASS_METHOD,
  PLUGGED_SETUP,       ///< a method that a class gets in its setup
  PLUGGED_INNER_SETUP, ///< a method of a class that another class's setup uses first
} plugged_way;

/// Opens the library, makes its function a method in this way, and closes it. Returns whether the library is still
/// loaded.
bool plugged_stays(plugged_way way);

/// As `plugged_stays` with a setup, but closes the library at the end of the setup, the outer one if there are two.
/// Returns whether it is still loaded then, within the setup.
bool plugged_stays_inside(plugged_way way);

KVO_END_DECLS

#endif
