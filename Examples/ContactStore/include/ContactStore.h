/// A list of contacts whose storage is a std::vector in C++, behind C functions: an engine as Swift
/// sees it.
#ifndef CONTACT_STORE_H
#define CONTACT_STORE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct contact_store contact_store;

/// Returns an empty list. The caller destroys it with contact_store_destroy.
contact_store *_Nonnull contact_store_create(void);
void contact_store_destroy(contact_store *_Nonnull store);

size_t contact_store_count(const contact_store *_Nonnull store);

/// The name at an index below the count. It belongs to the list, and is valid until the list
/// changes.
const char *_Nonnull contact_store_name(const contact_store *_Nonnull store, size_t index);

/// Copies a name into the list, before the one at `index`, or at the end.
void contact_store_insert(contact_store *_Nonnull store, const char *_Nonnull name, size_t index);

/// Removes the name at an index below the count.
void contact_store_remove(contact_store *_Nonnull store, size_t index);

#ifdef __cplusplus
}
#endif

#endif
