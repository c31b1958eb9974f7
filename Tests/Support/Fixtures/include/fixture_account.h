/// The guide's account, with one property of each policy, and a subclass that overrides a setter and calls super.
#ifndef FIXTURE_ACCOUNT_H
#define FIXTURE_ACCOUNT_H

#include "fixture_tracked.h"

typedef struct location {
  double latitude;
  double longitude;
} location;

typedef struct account {
  kvo_object object;
  double balance;
  double interestRate;
  bool frozen;
  int number;
  const char *owner;
  tracked *branch;
  location place;
} account;

#define ACCOUNT_PROPERTIES(PROPERTY)                            \
  PROPERTY(account, double, balance, Balance, ASSIGN)           \
  PROPERTY(account, double, interestRate, InterestRate, ASSIGN) \
  PROPERTY(account, bool, frozen, Frozen, ASSIGN)               \
  PROPERTY(account, int, number, Number, READONLY)              \
  PROPERTY(account, const char *, owner, Owner, COPY)           \
  PROPERTY(account, tracked *, branch, Branch, RETAIN)          \
  PROPERTY(account, location, place, Place, ASSIGN, "{location=dd}")

/// Rounds a balance down to whole units, and counts its sets.
typedef struct savings {
  account account;
  int sets;
} savings;

#define SAVINGS_PROPERTIES(PROPERTY) PROPERTY(savings, int, sets, Sets, ASSIGN)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(account, ACCOUNT_PROPERTIES)
KVO_CLASS_INTERFACE(savings, SAVINGS_PROPERTIES)
KVO_END_DECLS

#endif
