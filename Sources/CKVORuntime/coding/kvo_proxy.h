/// Proxies: collections that show the current elements of an object's key.
#ifndef KVO_PROXY_H
#define KVO_PROXY_H

#include "coding/kvo_collection_accessors.h"
#include "kvo_observing.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A proxy only stores its owner and key, and finds the accessors at each use.
typedef struct kvo_proxy {
  kvo_collection collection;
  kvo_object *owner; ///< a reference
  const char *key;   ///< interned
} kvo_proxy;

KVO_INLINE kvo_proxy *kvo_proxy_of(kvo_collection *collection) {
  return (kvo_proxy *)(void *)collection;
}

/// Creates a proxy with one reference owned by the caller. NULL with KVO_NO_MEMORY.
kvo_collection *KVO_NULLABLE kvo_proxy_create(kvo_object *owner, const char *key,
    kvo_collection_kind kind, const kvo_collection_methods *methods, kvo_error *KVO_NULLABLE error);
/// The owner's collection accessors for the key; NULL if it has none.
const kvo_collection_accessors *KVO_NULLABLE kvo_proxy_accessors(const kvo_proxy *proxy);

/// A proxy over collection accessors, which the owner must have (collection_proxy.c).
extern const kvo_collection_methods kvo_lazy_methods;
/// A mutable proxy, over collection accessors if there are any, otherwise over the key's value (mutable.c).
extern const kvo_collection_methods kvo_mutable_methods;

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
