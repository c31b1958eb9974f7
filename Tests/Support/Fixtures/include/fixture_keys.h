/// Keys that a macro line alone does not define: two keys with one setter, ivars without accessors, every spelling of
/// an accessor, and the hooks of key-value coding.
#ifndef FIXTURE_KEYS_H
#define FIXTURE_KEYS_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Keys `name` and `Name` share `setName:`; the second reads ten times the first. `änderung` begins with a letter
/// that is not upper-cased. `hollow` has a getter that returns void.
typedef struct spelled {
  kvo_object object;
  int name;
  int aenderung;
} spelled;

/// Keys without accessors: ivars `_secret`, `_isOpen`, `partner`, `isPlace`.
typedef struct plain {
  kvo_object object;
  double secret;
  bool open;
  tracked *KVO_NULLABLE partner;
  float place[2];
} plain;

const kvo_class *plain_class(void);

/// A class with `accessInstanceVariablesDirectly` off.
typedef struct sealed {
  kvo_object object;
  double secret;
  int counter;
} sealed;

/// Answers undefined keys: nil for `level` stores -1, and `ghost` uses a field that no ivar names. All other keys are
/// left to the superclass.
typedef struct forgiving {
  kvo_object object;
  double level;
  double other;
  double ghost_;
} forgiving;

/// The candidates for the key `value`, in search order.
typedef enum KVO_FLAG_ENUM search_candidates {
  SEARCH_GET_VALUE = 1,       ///< method `getValue`
  SEARCH_VALUE = 2,           ///< method `value`
  SEARCH_IS_VALUE = 4,        ///< method `isValue`
  SEARCH_LOW_VALUE = 8,       ///< method `_value`
  SEARCH_IVAR_LOW_VALUE = 16, ///< ivar `_value`
  SEARCH_IVAR_LOW_IS_VALUE = 32,
  SEARCH_IVAR_VALUE = 64,
  SEARCH_IVAR_IS_VALUE = 128,
  SEARCH_SET_VALUE = 256,     ///< method `setValue:`
  SEARCH_LOW_SET_VALUE = 512, ///< method `_setValue:`
} search_candidates;

/// The candidate of bit n returns or stores `fields[n]`.
typedef struct search {
  kvo_object object;
  double fields[10];
} search;

/// The class with exactly these candidates. Any thread.
const kvo_class *search_class(search_candidates candidates);
/// Adds candidates to a class in use.
void search_class_add(const kvo_class *cls, search_candidates candidates);

#define SPELLED_PROPERTIES(PROPERTY) PROPERTY(spelled, int, name, Name, ASSIGN)
#define SEALED_PROPERTIES(PROPERTY) PROPERTY(sealed, int, counter, Counter, ASSIGN)
#define FORGIVING_PROPERTIES(PROPERTY)              \
  PROPERTY(forgiving, double, level, Level, ASSIGN) \
  PROPERTY(forgiving, double, other, Other, ASSIGN)

KVO_CLASS_INTERFACE(spelled, SPELLED_PROPERTIES)
KVO_CLASS_INTERFACE(sealed, SEALED_PROPERTIES)
KVO_CLASS_INTERFACE(forgiving, FORGIVING_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
