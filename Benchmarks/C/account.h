/// The observed class of the C cases: two scalar properties, made by the macros.
#ifndef BENCHMARK_ACCOUNT_H
#define BENCHMARK_ACCOUNT_H

#include "kvo_property.h"

typedef struct account {
  kvo_object object;
  double balance;
  double interestRate;
} account;

#define ACCOUNT_PROPERTIES(PROPERTY)                  \
  PROPERTY(account, double, balance, Balance, ASSIGN) \
  PROPERTY(account, double, interestRate, InterestRate, ASSIGN)
KVO_CLASS_INTERFACE(account, ACCOUNT_PROPERTIES)

/// A subclass that changes nothing: observing its objects leaves accounts' dispatch tables alone,
/// and the other way round. Made at the first call for a name, which lives for ever.
const kvo_class *bench_account_subclass(const char *name);

/// A new object of one of these classes; stops the program if there is no memory.
account *bench_account_create(const kvo_class *cls);

#endif
