/// An engine of C that owns accounts and changes them. It knows nothing of who may be watching.
#ifndef ACCOUNT_ENGINE_H
#define ACCOUNT_ENGINE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct engine_account engine_account;

/// An account with nothing in it, owned by the caller, who ends it with `engine_account_close`.
engine_account *engine_account_open(void);
void engine_account_close(engine_account *account);

/// The account as an object with the keys `balance` and `interestRate`, for as long as it is open
/// or somebody retains the object.
kvo_object *engine_account_object(engine_account *account);

void engine_account_deposit(engine_account *account, double amount);
void engine_account_set_interest_rate(engine_account *account, double rate);
/// Adds a year's interest to the balance.
void engine_account_accrue_interest(engine_account *account);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
