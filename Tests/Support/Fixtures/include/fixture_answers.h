/// Every way in which a class may provide the key `value`, in any combination: methods, collection accessors, ivars.
#ifndef FIXTURE_ANSWERS_H
#define FIXTURE_ANSWERS_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_FLAG_ENUM answers_parts {
  ANSWERS_GET_VALUE = 1 << 0, ///< methods that return their bit's number: `getValue`
  ANSWERS_VALUE = 1 << 1,
  ANSWERS_IS_VALUE = 1 << 2,
  ANSWERS_LOW_VALUE = 1 << 3,
  ANSWERS_COUNT = 1 << 4,           ///< `countOfValue`: 3
  ANSWERS_OBJECT = 1 << 5,          ///< `objectInValueAtIndex:`: ten times the index
  ANSWERS_AT_INDEXES = 1 << 6,      ///< `valueAtIndexes:`: ten times each index
  ANSWERS_INDEX_OF = 1 << 7,        ///< `indexInValueOfObject:`
  ANSWERS_ENUMERATOR = 1 << 8,      ///< `enumeratorOfValue`: 0, 10, 20
  ANSWERS_MEMBER = 1 << 9,          ///< `memberOfValue:`
  ANSWERS_IVAR_LOW_VALUE = 1 << 10, ///< ivars that hold their bit's number: `_value`
  ANSWERS_IVAR_LOW_IS_VALUE = 1 << 11,
  ANSWERS_IVAR_VALUE = 1 << 12,
  ANSWERS_IVAR_IS_VALUE = 1 << 13,
  ANSWERS_SEALED = 1 << 14,     ///< `accessInstanceVariablesDirectly` is false
  ANSWERS_VOID_VALUE = 1 << 15, ///< `getValue` returns void (instead of bit 0)
  ANSWERS_SET_VALUE = 1 << 16,  ///< methods that store in their bit's field: `setValue:`
  ANSWERS_LOW_SET_VALUE = 1 << 17,
} answers_parts;

enum { ANSWERS_COUNT_OF_PARTS = 18 };

typedef struct answers {
  kvo_object object;
  double fields[ANSWERS_COUNT_OF_PARTS];
} answers;

/// The class with exactly these parts. Any thread.
const kvo_class *answers_class(answers_parts parts);
/// An instance whose n-th field is n; +1.
answers *answers_make(answers_parts parts);
/// Adds parts to a class in use.
void answers_class_add(const kvo_class *cls, answers_parts parts);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
