/// What a method does to keys, as its selector and shape say.
#ifndef KVO_ROLE_H
#define KVO_ROLE_H

#include "kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef enum kvo_role {
  KVO_ROLE_NONE,
  KVO_ROLE_SET,          ///< set<Key>:
  KVO_ROLE_INSERT,       ///< insertObject:in<Key>AtIndex:
  KVO_ROLE_INSERT_MANY,  ///< insert<Key>:atIndexes:
  KVO_ROLE_REMOVE,       ///< removeObjectFrom<Key>AtIndex:
  KVO_ROLE_REMOVE_MANY,  ///< remove<Key>AtIndexes:
  KVO_ROLE_REPLACE,      ///< replaceObjectIn<Key>AtIndex:withObject:
  KVO_ROLE_REPLACE_MANY, ///< replace<Key>AtIndexes:with<Key>:
  KVO_ROLE_ADD,          ///< add<Key>Object:
  KVO_ROLE_ADD_MANY,     ///< add<Key>:
  KVO_ROLE_DROP,         ///< remove<Key>Object:
  KVO_ROLE_DROP_MANY,    ///< remove<Key>:
  KVO_ROLE_INTERSECT,    ///< intersect<Key>:
} kvo_role;

/// What a method does; the part of the selector that names the key goes to `*name` and `*length`.
kvo_role kvo_role_of(const char *selector, const kvo_call *call,
    const char *KVO_NULLABLE *KVO_NONNULL name, size_t *length);

/// Writes the selectors of every method that changes a key, one after the other: the i-th, or false
/// past the last. `key` is written as in a setter, its first letter upper-case.
bool kvo_role_selector(size_t i, const char *key, char *selector, size_t capacity);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
