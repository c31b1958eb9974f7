/// What a method does to keys, as its selector and shape say.
#ifndef KVO_ACCESSOR_H
#define KVO_ACCESSOR_H

#include "types/kvo_call.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

typedef enum kvo_accessor_kind {
  KVO_ACCESSOR_NONE,
  KVO_ACCESSOR_SET,          ///< set<Key>:
  KVO_ACCESSOR_INSERT,       ///< insertObject:in<Key>AtIndex:
  KVO_ACCESSOR_INSERT_MANY,  ///< insert<Key>:atIndexes:
  KVO_ACCESSOR_REMOVE,       ///< removeObjectFrom<Key>AtIndex:
  KVO_ACCESSOR_REMOVE_MANY,  ///< remove<Key>AtIndexes:
  KVO_ACCESSOR_REPLACE,      ///< replaceObjectIn<Key>AtIndex:withObject:
  KVO_ACCESSOR_REPLACE_MANY, ///< replace<Key>AtIndexes:with<Key>:
  KVO_ACCESSOR_ADD,          ///< add<Key>Object:
  KVO_ACCESSOR_ADD_MANY,     ///< add<Key>:
  KVO_ACCESSOR_DROP,         ///< remove<Key>Object:
  KVO_ACCESSOR_DROP_MANY,    ///< remove<Key>:
  KVO_ACCESSOR_INTERSECT,    ///< intersect<Key>:
} kvo_accessor_kind;

/// What a method does; the part of the selector that names the key goes to `*name` and `*length`.
kvo_accessor_kind kvo_accessor_kind_of(const char *selector, const kvo_call *call,
    const char *KVO_NULLABLE *KVO_NONNULL name, size_t *length);

/// Writes the selectors of every method that changes a key, one after the other: the i-th, or false
/// past the last. `key` is written as in a setter, its first letter upper-case.
bool kvo_accessor_kind_selector(size_t i, const char *key, char *selector, size_t capacity);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
