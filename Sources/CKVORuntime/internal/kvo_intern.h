/// Interned strings: keys, key paths and selectors, so that the same text is the same pointer.
#ifndef KVO_INTERN_H
#define KVO_INTERN_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The interned string if there is one: for looking up names that come from outside without
/// keeping each for ever. Any thread.
const char *KVO_NULLABLE kvo_key_find(const char *key);

/// No selector is as long (its NUL included), so that accessor names are made on the stack.
enum { KVO_SELECTOR_LIMIT = 512 };

/// Makes accessor names. Writes prefix, then the key with an ASCII first letter upper-cased (if
/// `capitalise`), then suffix, and returns the interned string of that text, or NULL if nothing was
/// ever named so. A name that is too long for any method gives NULL.
const char *KVO_NULLABLE kvo_accessor_name(const char *prefix, const char *key, bool capitalise,
    const char *suffix);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
