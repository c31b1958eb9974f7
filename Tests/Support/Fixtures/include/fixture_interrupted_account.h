/// An account whose setters of `balance`, `frozen` and `rate` call a function of the test before they store. The
/// getters are the macros', so changes can take the fast path.
#ifndef FIXTURE_INTERRUPTED_ACCOUNT_H
#define FIXTURE_INTERRUPTED_ACCOUNT_H

#include "fixture_account.h"

typedef struct interrupted_account {
  account account;
  void (*KVO_NULLABLE during)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
  double rate; ///< an ivar; the setter `setRate:` takes an int
} interrupted_account;

#define INTERLUDE_PROPERTIES(PROPERTY)

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
KVO_CLASS_INTERFACE(interrupted_account, INTERLUDE_PROPERTIES)

/// A subclass that a test may modify.
kvo_class *interrupted_account_subclass(const char *name);
/// Sets the rate by its method.
void interrupted_account_set_rate(interrupted_account *object, int rate);
/// Makes the class's getter of `balance` return a hundred times the stored value.
void interrupted_account_replace_getter(kvo_class *cls);
/// Makes the class's getter of `balance` call `during` first.
void interrupted_account_interrupt_getter(kvo_class *cls);
/// Gives the class a `getBalance`, which precedes `balance` and returns a thousand times the stored value.
void interrupted_account_add_getter(kvo_class *cls);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
