/// Rule A3 case by case: classes with one property, `value`, of each type that C and libffi can express, and classes
/// that must be refused.
///
/// Every function may be called on any thread, but only one at a time.
#ifndef SIGNATURE_FIXTURES_H
#define SIGNATURE_FIXTURES_H

#include "CKVORuntime.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The observable types.
size_t signature_case_count(void);
/// A name with the type, and the setter's result type if it has one.
const char *signature_case_name(size_t index);
/// Whether the setter is interposed without a closure: it takes a scalar or a pointer and returns void.
bool signature_case_is_typed(size_t index);
/// Observes `value` of a new object with old and new, and sets it to extreme and random values, through the dispatch
/// table and by key. Compares the stored value, the delivered ones, the results of the getter and of reading by key,
/// and the setter's result. On a difference, returns false with a sentence in `failure`.
bool signature_case_run(size_t index, char *failure, size_t capacity);

/// The refused types, each as getter, setter and ivar.
size_t refusal_case_count(void);
const char *refusal_case_name(size_t index);
/// Checks status, message, and that the class is unchanged. Returns false with a sentence in `failure` if not.
bool refusal_case_run(size_t index, char *failure, size_t capacity);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
