/// The elements of an array that a node of a key path has followed, so that a later reading finds what has come and
/// gone by comparing references: it makes no values, and touches no object that has stayed.
#ifndef KVO_FOLLOWED_ELEMENTS_H
#define KVO_FOLLOWED_ELEMENTS_H

#include "graph/kvo_delta.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// A growing list of references to objects, as the array stores them. It holds an unowned reference to each, so that
/// no object gets the address of one that has died.
struct kvo_followed_elements {
  uintptr_t *KVO_NULLABLE references;
  const kvo_class *KVO_NONNULL *KVO_NULLABLE classes; ///< of the elements, which may have died
  size_t count, capacity;
  ptrdiff_t offset;          ///< from an object's address to its header
  kvo_difference difference; ///< what the last comparison has found
  uint64_t
      since; ///< the ticket of the reading or delta that the node had installed when the list was compared
};

/// Lists the elements of a value. NULL if it is not an array that stores references, or if there is no memory.
kvo_followed_elements *KVO_NULLABLE kvo_followed_elements_make(const kvo_value *array);
/// Compares the list with the array that the value contains now, and brings it up to date. What was different is its
/// `difference`, which is ended before the next comparison. False, with the list unchanged, if they can't be compared.
bool kvo_followed_elements_compare(kvo_followed_elements *followed, const kvo_value *array);
/// Replaces elements from the index `start` on. False, with the list unchanged, if it does not contain the removed ones
/// there, or there is no memory.
bool kvo_followed_elements_replace(kvo_followed_elements *followed, size_t start,
    const kvo_difference *difference);
/// Frees the list and its difference. Any lock may be held.
void kvo_followed_elements_free(kvo_followed_elements *KVO_NULLABLE followed);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
