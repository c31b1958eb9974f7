/// Objects that own one another, in long chains and in trees.
#ifndef FIXTURE_HEIR_H
#define FIXTURE_HEIR_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// How each object of a chain owns the next.
typedef enum KVO_CLOSED_ENUM heir_link {
  HEIR_FIRST,      ///< the first of two retained properties
  HEIR_SECOND,     ///< the second
  HEIR_ARRAY,      ///< an array
  HEIR_SET,        ///< a set of a number and the object
  HEIR_HELD,       ///< a pointer that its `dealloc` releases
  HEIR_ASSOCIATED, ///< a value kept with it
} heir_link;

/// Makes a chain of `length` objects, and releases its head. Returns the number of deaths.
size_t heir_end_chain(size_t length, heir_link link);

/// On a thread with a stack of `stack_size` bytes, makes a chain of objects that each release the next in their
/// `dealloc`, then take back what they have lent it. Releases the head, and returns how many still had their loan
/// when they died: all except the first should.
size_t heir_end_lenders(size_t length, size_t stack_size);

/// Makes a tree below a chain of `depth` objects, and releases the chain's head. Records the objects in order of
/// death, each with what it reads in its parent as it dies: "0 1<0 2<1 …", numbered depth first.
void heir_end_tree(char *order, size_t capacity, size_t depth);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
