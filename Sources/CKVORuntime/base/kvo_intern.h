/// Interned strings: keys, key paths and selectors. Equal texts have the same address.
#ifndef KVO_INTERN_H
#define KVO_INTERN_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The interned string, or NULL if there is none. For names from outside the program, which are not to be stored. Any
/// thread.
const char *KVO_NULLABLE kvo_key_find(const char *key);

/// Interns a text so that a hint is given once. Returns whether it is new; false if out of memory.
bool kvo_text_add(const char *text);

/// Whether an interned string, parsed as a key path, is a single key. O(1).
bool kvo_key_is_plain(const char *interned_key);

/// A name that is not interned, in the caller's memory. Its cookie, which belongs to a binding, is released with it.
size_t kvo_name_size(size_t length);
const char *kvo_name_init(void *memory, const char *text, size_t length);
void kvo_name_end(const char *name);

/// Interns a name that may come from outside the program, because it is observed. If it is new, it is counted; it is
/// never freed. NULL if out of memory, or with KVO_NOT_OBSERVABLE if there are as many as `kvo_set_name_limit`
/// allows. The error names the class.
const char *KVO_NULLABLE kvo_key_keep(const char *key, const char *class_name,
    kvo_error *KVO_NULLABLE error);

/// An upper bound of a selector's size, with its NUL, so that accessor names can be made on the stack.
enum { KVO_SELECTOR_LIMIT = 512 };

/// Makes an accessor name: the prefix, the key with an ASCII first letter upper-cased (if `capitalise`), the suffix.
/// Returns the interned string of that text, or NULL if there is none. A name that is too long for a method gives
/// NULL.
const char *KVO_NULLABLE kvo_accessor_name(const char *prefix, const char *key, bool capitalise,
    const char *suffix);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
