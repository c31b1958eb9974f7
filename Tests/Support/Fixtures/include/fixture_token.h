/// Values of a binding's types, by what the binding can do with them besides comparing.
#ifndef FIXTURE_TOKEN_H
#define FIXTURE_TOKEN_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef enum KVO_CLOSED_ENUM token_sort {
  TOKEN_BARE,   ///< nothing
  TOKEN_HASHED, ///< a hash with many collisions
  TOKEN_NUMBER, ///< the number that it represents
} token_sort;

/// A value's bytes are an int64_t. The types are all different.
const kvo_type *token_type(token_sort sort);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
