/// Rule A3 case by case: classes whose one property, `value`, has every type in turn that C and
/// libffi can express, and classes that must be refused.
///
/// Every function may be called on any thread, but one at a time.
#ifndef SIGNATURE_FIXTURES_H
#define SIGNATURE_FIXTURES_H

#include "CKVORuntime.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The types that are observed.
size_t signature_case_count(void);
/// A name that tells the type, and the setter's result where it has one.
const char *signature_case_name(size_t index);
/// Whether the setter is one of those that are interposed without a closure: it takes a scalar or a
/// pointer and returns nothing.
bool signature_case_is_typed(size_t index);
/// Observes `value` of a new object for old and new, sets it to extreme and random values through
/// the dispatch table and by key, and compares: the stored value, the delivered ones, what the
/// getter and the key give, what the setter returned. False with a sentence in `failure`.
bool signature_case_run(size_t index, char *failure, size_t capacity);

/// The types that are refused, each as getter, setter and ivar.
size_t refusal_case_count(void);
const char *refusal_case_name(size_t index);
/// Checks status, message, and that the class is as it was. False with a sentence in `failure`.
bool refusal_case_run(size_t index, char *failure, size_t capacity);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
