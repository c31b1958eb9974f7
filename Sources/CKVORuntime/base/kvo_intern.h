/// Interned strings: keys, key paths and selectors, so that the same text is the same pointer.
#ifndef KVO_INTERN_H
#define KVO_INTERN_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The interned string if there is one: for looking up names that come from outside without
/// keeping each for ever. Any thread.
const char *KVO_NULLABLE kvo_key_find(const char *key);

/// Interns a text that is kept for what has been said. Whether it is new; false if memory is out.
bool kvo_text_add(const char *text);

/// Whether an interned string, read as a key path, is a key and nothing else. O(1).
bool kvo_key_is_plain(const char *interned_key);

/// A name that is interned nowhere, in memory of the caller's: with a cookie, for a binding, which
/// is let go when the name ends.
size_t kvo_name_size(size_t length);
const char *kvo_name_init(void *memory, const char *text, size_t length);
void kvo_name_end(const char *name);

/// Interns a name that may have come from outside, because it is observed: it is counted, if it is
/// new, and kept for ever. NULL if there are as many as `kvo_set_name_limit` allows, which is told
/// in `error` (KVO_NOT_OBSERVABLE) for that class, or if memory is out.
const char *KVO_NULLABLE kvo_key_keep(const char *key, const char *class_name,
    kvo_error *KVO_NULLABLE error);

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
