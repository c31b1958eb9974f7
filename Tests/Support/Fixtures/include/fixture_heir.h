/// Objects that own one another, in long chains and in trees.
#ifndef FIXTURE_HEIR_H
#define FIXTURE_HEIR_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// By what each object of a chain owns the next.
typedef enum KVO_CLOSED_ENUM heir_link {
  HEIR_FIRST,      ///< the first of two retained properties
  HEIR_SECOND,     ///< the second
  HEIR_ARRAY,      ///< an array
  HEIR_SET,        ///< a set of a number and the object
  HEIR_HELD,       ///< a pointer that its `dealloc` releases
  HEIR_ASSOCIATED, ///< a value kept with it
} heir_link;

/// Makes a chain of so many objects, and lets go of its head. How many have died then.
size_t heir_end_chain(size_t length, heir_link link);

/// On a thread with a stack of that size, makes a chain of so many objects, of which each releases the next in its `dealloc`, then
/// takes back what it has lent that one; lets go of its head. How many had their loan when they died: all but the first should.
size_t heir_end_lenders(size_t length, size_t stack_size);

/// Makes a tree below a chain of so many objects, and lets go of the chain's head. Writes down the objects in the order in which they died, each with what it reads in
/// its parent as it dies: "0 1<0 2<1 …", where the numbers go depth first.
void heir_end_tree(char *order, size_t capacity, size_t depth);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
