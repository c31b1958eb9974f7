/// Very many objects with one observer each, and very many kinds of root classes.
#ifndef FIXTURE_MANY_H
#define FIXTURE_MANY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// What observers of so many objects, of one key each, were told: when all were set; when all were set
/// again, each second registration having ended; and when all had.
typedef struct many_told {
  int all, half, none;
} many_told;
many_told many_objects(int count);

/// Makes root classes of operations of their own until that fails. How many there could be, and why it
/// failed.
int many_roots(kvo_error *error);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
