/// An engine in C that owns accounts and changes them. It does not know about observers.
#ifndef ACCOUNT_ENGINE_H
#define ACCOUNT_ENGINE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct engine_account engine_account;

/// Returns an empty account. The caller owns it and ends it with `engine_account_close`.
engine_account *engine_account_open(void);
void engine_account_close(engine_account *account);

/// The account as an object with the keys `balance` and `interestRate`. It is valid until the
/// account is closed, or longer if the caller retains it.
kvo_object *engine_account_object(engine_account *account);

void engine_account_deposit(engine_account *account, double amount);
void engine_account_set_interest_rate(engine_account *account, double rate);
/// Adds a year's interest to the balance.
void engine_account_accrue_interest(engine_account *account);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
