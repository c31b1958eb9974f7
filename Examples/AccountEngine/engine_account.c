#include <stdio.h>
#include <stdlib.h>

#include "AccountEngine.h"

struct engine_account {
  kvo_object object;
  double balance;
  double interestRate;
};

#define ENGINE_ACCOUNT_PROPERTIES(PROPERTY)                  \
  PROPERTY(engine_account, double, balance, Balance, ASSIGN) \
  PROPERTY(engine_account, double, interestRate, InterestRate, ASSIGN)

KVO_CLASS_INTERFACE(engine_account, ENGINE_ACCOUNT_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(engine_account, "EngineAccount", kvo_root_class, ENGINE_ACCOUNT_PROPERTIES,
    NULL)

engine_account *engine_account_open(void) {
  kvo_object *object = kvo_object_create(engine_account_class());
  if (!object) {
    fputs("No memory for an account.\n", stderr);
    abort();
  }
  return (engine_account *)object;
}

void engine_account_close(engine_account *account) { kvo_object_release(&account->object); }

kvo_object *engine_account_object(engine_account *account) { return &account->object; }

void engine_account_deposit(engine_account *account, double amount) {
  engine_account_setBalance(account, engine_account_balance(account) + amount);
}

void engine_account_set_interest_rate(engine_account *account, double rate) {
  engine_account_setInterestRate(account, rate);
}

void engine_account_accrue_interest(engine_account *account) {
  double interest = engine_account_balance(account) * engine_account_interestRate(account);
  engine_account_deposit(account, interest);
}
