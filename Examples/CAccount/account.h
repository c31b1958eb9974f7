/// A savings account: two properties, one line each.
///
/// Each line defines a getter and a setter that key-value coding finds, and functions that callers
/// use: `account_balance(account)` and `account_setBalance(account, 10)`.
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
