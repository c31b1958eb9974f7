/// The observed class of the C cases: two scalar properties, defined by the macros.
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

/// Returns a subclass that adds nothing. Observing its objects does not affect the dispatch tables of
/// accounts, and vice versa. The class is created at the first call for a name and lives for ever.
const kvo_class *bench_account_subclass(const char *name);

/// Returns a new object of one of these classes. Stops the program if there is no memory.
account *bench_account_create(const kvo_class *cls);

#endif
