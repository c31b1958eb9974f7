/// Statuses, and the error that says which class, which key, and why.
#ifndef KVO_ERROR_H
#define KVO_ERROR_H

#include "kvo_base.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// What a call came to. `KVO_OK` is 0, so `if (kvo_…(…))` asks whether it failed. After anything but `KVO_OK`,
/// registrations and values are as before.
typedef enum KVO_CLOSED_ENUM kvo_status {
  KVO_OK = 0,        ///< All went well. It is 0, and the only status that is.
  KVO_UNDEFINED_KEY, ///< The class has no accessor, ivar or hook for the key.
  KVO_NIL_VALUE,     ///< Nil for a key of scalar or struct type.
  KVO_TYPE_MISMATCH, ///< The value cannot become the key's type.
  KVO_READ_ONLY,     ///< The key can be read but not set.
  KVO_NOT_OBSERVABLE, ///< What was named can't be observed; the message says what to observe instead.
  KVO_NOT_REGISTERED, ///< No such registration to remove.
  KVO_INVALID_KEY_PATH, ///< Empty, too long, or with an empty component, or through something that has no keys.
  KVO_INVALID_OPERATOR,    ///< An unknown `@operator`, or one without what it needs.
  KVO_INDEX_OUT_OF_BOUNDS, ///< Beyond the collection; it is as it was.
  KVO_VALIDATION_FAILED,   ///< A validator said no.
  KVO_INVALID_ENCODING,    ///< A type encoding that can't be read or whose layout it can't tell.
  KVO_LAYOUT_MISMATCH,     ///< `sizeof` or `_Alignof` differ from what the encoding says.
  KVO_DUPLICATE,           ///< The class has that method, ivar or name already.
  KVO_INVALID_ARGUMENT, ///< A call against its documentation, say a method added to an unknown class.
  KVO_CLOSURES_UNAVAILABLE, ///< The system refused executable memory; what needs no closure still works.
  KVO_NO_MEMORY,            ///< The system gave no memory; all is as it was.
  KVO_REFUSED, ///< The program's own code said no, with an error of its own; the message says more.
} kvo_status;

KVO_ASSERT_(sizeof(kvo_status) == sizeof(int),
    "KVORuntime is compiled without -fshort-enums, which makes kvo_error and kvo_type another size: compile "
    "what includes its headers without that flag too, or with -fno-short-enums");

/// What went wrong, in words. It lives wherever the caller puts it, mostly on the stack, and need not be
/// initialised: a call that fails fills it in; what it has after one that succeeds means nothing. Every function takes
/// NULL in its place, from who needs the status alone. Names longer than the arrays are cut, always ending in a NUL.
typedef struct kvo_error {
  kvo_status status;   ///< What the call returned.
  char class_name[96]; ///< The class that it is about; empty where it is about none.
  char key[128]; ///< The key, key path or selector that it is about; empty where it is about none.
  char message[416]; ///< A sentence that names class, key and cause.
  /// Of a key path or operator that makes no sense: the component that doesn't, else empty. An
  /// operator has its @.
  char component[64];
  char expected[48]; ///< Of a mismatch: what the value should have been, where that can be said.
  char found[64];    ///< And what it is.
} kvo_error;

/// The status's name as written above, such as "KVO_UNDEFINED_KEY". Static; any thread.
const char *kvo_status_name(kvo_status status);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
