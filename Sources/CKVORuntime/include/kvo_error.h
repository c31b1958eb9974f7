/// Statuses, and the error that names the class, the key and the cause.
#ifndef KVO_ERROR_H
#define KVO_ERROR_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The result of a call. `KVO_OK` is 0, so `if (kvo_…(…))` tests for failure. After any other status, registrations
/// and values are unchanged.
typedef enum KVO_CLOSED_ENUM kvo_status {
  KVO_OK = 0,         ///< Success. The only status that is 0.
  KVO_UNDEFINED_KEY,  ///< The class has no accessor, ivar or hook for the key.
  KVO_NIL_VALUE,      ///< Nil was given for a key of scalar or struct type.
  KVO_TYPE_MISMATCH,  ///< The value cannot become the key's type.
  KVO_READ_ONLY,      ///< The key can be read but not set.
  KVO_NOT_OBSERVABLE, ///< The key can't be observed; the message says what to observe instead.
  KVO_NOT_REGISTERED, ///< There is no such registration to remove.
  KVO_INVALID_KEY_PATH, ///< The path is empty, too long, has an empty component, or leads through a value that has no keys.
  KVO_INVALID_OPERATOR, ///< An `@operator` is unknown, or can't be used there.
  KVO_INDEX_OUT_OF_BOUNDS, ///< The index is out of the collection's bounds; the collection is unchanged.
  KVO_VALIDATION_FAILED, ///< A validator refused the value.
  KVO_INVALID_ENCODING, ///< A type encoding that can't be parsed, or that does not determine the layout.
  KVO_LAYOUT_MISMATCH, ///< `sizeof` or `_Alignof` differ from what the encoding says.
  KVO_DUPLICATE,       ///< The class has that method, ivar or name already.
  KVO_INVALID_ARGUMENT, ///< An argument that the documentation does not allow, such as a method added to an unknown class.
  KVO_CLOSURES_UNAVAILABLE, ///< The system refused executable memory. Whatever needs no closure still works.
  KVO_NO_MEMORY,            ///< Out of memory; nothing has changed.
  KVO_REFUSED, ///< The program's own code refused, with an error of its own; the message says more.
} kvo_status;

KVO_ASSERT_(sizeof(kvo_status) == sizeof(int),
    "KVORuntime is compiled without -fshort-enums, which makes kvo_error and kvo_type another size: compile "
    "what includes its headers without that flag too, or with -fno-short-enums");

/// Describes a failure. The caller allocates it, usually on the stack, and need not initialise it. A call that fails
/// fills it in; after a call that succeeds its contents mean nothing. All functions accept NULL from callers that
/// only need the status. Names longer than the arrays are cut; each array always ends in a NUL.
typedef struct kvo_error {
  kvo_status status;   ///< What the call returned.
  char class_name[96]; ///< The class concerned; empty if there is none.
  char key[128];       ///< The key, key path or selector concerned; empty if there is none.
  char message[416];   ///< A sentence that names class, key and cause.
  /// For an invalid key path or operator: the component at fault; otherwise empty. An operator includes its @.
  char component[64];
  char expected[48]; ///< For a mismatch: the expected type, if it can be named.
  char found[64];    ///< For a mismatch: the type of the value.
} kvo_error;

/// The name of a status, such as "KVO_UNDEFINED_KEY". Static; any thread.
const char *kvo_status_name(kvo_status status);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
