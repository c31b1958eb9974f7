/// Very many objects with one observer each, and very many kinds of root classes.
#ifndef FIXTURE_MANY_H
#define FIXTURE_MANY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The calls of the observers of `count` objects, with one key each: when all were set, when all were set again after
/// every second registration had ended, and after all had ended.
typedef struct many_notified {
  int all, half, none;
} many_notified;
many_notified many_objects(int count);

/// Makes root classes with operations of their own until that fails. Returns how many were possible, and the reason
/// of the failure.
int many_roots(kvo_error *error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
