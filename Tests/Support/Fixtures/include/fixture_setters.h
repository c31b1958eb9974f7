/// Setters that do more than store their argument.
#ifndef FIXTURE_SETTERS_H
#define FIXTURE_SETTERS_H

#include <CKVORuntime.h>

typedef struct quirk {
  kvo_object object;
  double level;      ///< clamped to 0…100
  int fixed;         ///< its setter ignores its argument
  const char *label; ///< its setter overwrites the old string before it frees it
  int bracketed;     ///< its setter has a manual pair around the store
  int nested;        ///< its setter calls itself with each smaller number first
  int tally;         ///< `setTally:` returns the old value
} quirk;

#define QUIRK_PROPERTIES(PROPERTY)                    \
  PROPERTY(quirk, double, level, Level, CUSTOM)       \
  PROPERTY(quirk, int, fixed, Fixed, CUSTOM)          \
  PROPERTY(quirk, const char *, label, Label, CUSTOM) \
  PROPERTY(quirk, int, bracketed, Bracketed, CUSTOM)  \
  PROPERTY(quirk, int, nested, Nested, CUSTOM)        \
  PROPERTY(quirk, int, tally, Tally, READONLY)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(quirk, QUIRK_PROPERTIES)

/// Calls `setTally:` through the dispatch table.
int quirk_setTally(quirk *self, int value);
KVO_END_DECLS

#endif
