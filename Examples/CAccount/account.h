/// A savings account: two properties, one line each.
///
/// The lines give the class a getter and a setter that key-value coding knows, and give callers
/// `account_balance(account)` and `account_setBalance(account, 10)`.
#ifndef ACCOUNT_H
#define ACCOUNT_H

#include <CKVORuntime.h>

typedef struct account {
  kvo_object object; // every object begins with one
  double balance;
  double interestRate;
} account;

#define ACCOUNT_PROPERTIES(PROPERTY)                  \
  PROPERTY(account, double, balance, Balance, ASSIGN) \
  PROPERTY(account, double, interestRate, InterestRate, ASSIGN)

KVO_CLASS_INTERFACE(account, ACCOUNT_PROPERTIES)

#endif
