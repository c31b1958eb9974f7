/// Objects whose methods may throw C++ exceptions, one call after the other.
#ifndef FIXTURE_FAULTY_H
#define FIXTURE_FAULTY_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// The use of an object in which it throws. `items` is a key with collection accessors only.
typedef enum KVO_CLOSED_ENUM faulty_use {
  FAULTY_PROXY_ALONG_PATH,
  FAULTY_MAXIMUM,         ///< of objects, which are compared
  FAULTY_UNION_OF_ARRAYS, ///< of proxies
  FAULTY_VALIDATED,
  FAULTY_VISITED, ///< its registrations
  FAULTY_READ_TOGETHER,
  FAULTY_SET_TOGETHER,
  FAULTY_SNAPSHOT,
  FAULTY_DESCRIBED,
  FAULTY_EQUAL,
  FAULTY_FOLLOWED, ///< again, links that lead to proxies
  FAULTY_SOUGHT,
  FAULTY_MEMBERS,    ///< of a set of proxies
  FAULTY_LAST,       ///< element
  FAULTY_SEARCHED,   ///< by a mutable proxy
  FAULTY_SET_EDITED, ///< by a mutable proxy, which has no methods for that
  FAULTY_ELEMENT_REMOVED,
  FAULTY_ELEMENTS_REPLACED,
  FAULTY_OLD,
  FAULTY_NEW,
  FAULTY_INITIAL,
  FAULTY_WALKED, ///< along a path, before it is registered
  FAULTY_OLD_ALONG_PATH,
  FAULTY_REMOVED, ///< old of part of a collection
  FAULTY_SET_CHANGED,
  FAULTY_DISTINCT,          ///< the value is compared with the one last delivered
  FAULTY_STRUCT,            ///< of objects, in a value
  FAULTY_LEFT_OPEN,         ///< a manual change, whose object dies
  FAULTY_DISTINCT_RELEASED, ///< with the value last delivered; also below
  FAULTY_DISTINCT_REMOVED,
  FAULTY_DISTINCT_REMOVED_WITH_PATH,
  FAULTY_DISTINCT_RELEASED_WITHIN, ///< a change
  FAULTY_DEPENDENCY,               ///< that is declared while an object is observed
} faulty_use;

/// Uses objects of a class in this way. First the first method called throws, then the second, and so on until none
/// does. `dealloc` is one of the methods.
/// - anew: in a new class each time, so that class methods, called once per class, are called again.
/// - throws: receives the number of throws.
///
/// Returns how many of the objects have not died afterwards.
int faulty_run(faulty_use use, bool anew, int *throws);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
