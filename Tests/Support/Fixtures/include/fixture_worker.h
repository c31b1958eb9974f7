/// Objects with links and collections, for key paths, operators, validation, and the hooks that read and set every
/// key.
#ifndef FIXTURE_WORKER_H
#define FIXTURE_WORKER_H

#include "fixture_tracked.h"

typedef struct grid {
  double cells[9];
} grid;

typedef struct badge {
  const char *text;
  int number;
} badge;

/// `überboss` is the boss's boss. `compare:` compares ages. Ivars without accessors: `_label`, a string, and
/// `_badge`, a struct with a string.
///
/// Validators: an `age` below 0 is refused with only a status; one above 150 becomes 150. An empty `name` is refused
/// with the class's own error, though the validator has replaced the value; nil becomes "anonymous".
typedef struct worker {
  tracked tracked;
  const char *name;
  int age;
  double wage;
  unsigned long points;
  struct worker *boss;
  kvo_collection *staff;
  grid grid;
  badge pin;
  const char *label;
  badge badge;
} worker;

#define WORKER_PROPERTIES(PROPERTY)                         \
  PROPERTY(worker, const char *, name, Name, COPY)          \
  PROPERTY(worker, int, age, Age, ASSIGN)                   \
  PROPERTY(worker, double, wage, Wage, ASSIGN)              \
  PROPERTY(worker, unsigned long, points, Points, ASSIGN)   \
  PROPERTY(worker, struct worker *, boss, Boss, RETAIN)     \
  PROPERTY(worker, kvo_collection *, staff, Staff, RETAIN)  \
  PROPERTY(worker, grid, grid, Grid, ASSIGN, "{grid=[9d]}") \
  PROPERTY(worker, badge, pin, Pin, READONLY, "{badge=*i}")

/// Overrides `valueForKey:` and `setValue:forKey:`. `fortune`, which has no accessor, uses the field `notified`. Ages
/// read a thousand years more. A `doom` can't be set, without a message. All other keys are left to super. Its own
/// validation makes any `fortune` 13 and refuses every `doom`.
typedef struct oracle {
  worker worker;
  double notified;
} oracle;

#define ORACLE_PROPERTIES(PROPERTY)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(worker, WORKER_PROPERTIES)
KVO_CLASS_INTERFACE(oracle, ORACLE_PROPERTIES)
KVO_END_DECLS

#endif
