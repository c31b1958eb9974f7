/// How a method changes keys, according to its selector and shape.
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

/// The kind of a method. `*name` and `*length` receive the part of the selector that names the key.
kvo_accessor_kind kvo_accessor_kind_of(const char *selector, const kvo_call *call,
    const char *KVO_NULLABLE *KVO_NONNULL name, size_t *length);

/// Writes the i-th of the selectors that can change a key; false past the last. `key` is written as in a setter, with
/// an upper-case first letter.
bool kvo_accessor_kind_selector(size_t i, const char *key, char *selector, size_t capacity);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
