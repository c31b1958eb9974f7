/// The examples of Apple's guide to key-value observing, as far as C can express them.
#ifndef FIXTURE_GUIDE_H
#define FIXTURE_GUIDE_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

// MARK: Observed classes

typedef struct guide_transaction {
  tracked tracked;
  double amount;
} guide_transaction;

typedef struct guide_account {
  kvo_object object;
  const char *KVO_NULLABLE name;
  double balance;
  double interestRate;
  int itemChanged;
  kvo_collection *KVO_NULLABLE transactions; ///< an array
} guide_account;

typedef struct guide_document {
  kvo_object object;
  guide_account *KVO_NULLABLE account;
} guide_document;

/// Balance always notifies manually, and so do the removals of `removeTransactionsAtIndexes:`.
typedef guide_account guide_ledger;
/// A ledger that notifies a balance only if it changed.
typedef guide_account guide_careful_ledger;
/// A ledger whose balance changes `itemChanged` as well.
typedef guide_account guide_counting_ledger;
/// A ledger whose transactions are not automatic either.
typedef guide_account guide_strict_ledger;

/// Calls `removeTransactionsAtIndexes:`, which ledgers have.
void guide_ledger_removeTransactions(guide_ledger *self, const kvo_index_set *indexes);

// MARK: Observers of an account

/// How a person distinguishes its notifications.
typedef enum KVO_CLOSED_ENUM guide_contexts {
  GUIDE_CONTEXT_PER_KEY,
  GUIDE_CONTEXT_PER_CLASS,
  GUIDE_NO_CONTEXT, ///< by the key path
} guide_contexts;

typedef struct guide_person {
  kvo_object object;
  guide_contexts contexts;
  char heard[512]; ///< lines such as "person: balance 0 to 10"
} guide_person;

/// A person whose class also observes the balance for itself.
typedef guide_person guide_child;

/// Starts and ends observing the account's balance and interest rate.
void guide_person_watch(guide_person *self, guide_account *account);
void guide_person_unwatch(guide_person *self, guide_account *account);
/// The child's own registration.
void guide_child_watch(guide_child *self, guide_account *account);
void guide_child_unwatch(guide_child *self, guide_account *account);

/// Has a property that depends on an account's balance, so it announces its own change in the prior notification.
typedef struct guide_investor {
  kvo_object object;
  double factor;
  double wealth; ///< factor times the balance
} guide_investor;

void guide_investor_watch(guide_investor *self, guide_account *account);

// MARK: Derived properties

typedef struct guide_named {
  kvo_object object;
  const char *KVO_NULLABLE title;
  const char *KVO_NULLABLE firstName;
  const char *KVO_NULLABLE lastName;
  char buffer[64]; ///< the last result of `fullName`
} guide_named;

/// `fullName` by the general hook; by the hook for the key; with a `title`, by a general hook that adds to the
/// superclass's answer. Plain `guide_named` has no `fullName`.
typedef guide_named guide_general_name;
typedef guide_named guide_hooked_name;
typedef guide_named guide_titled_name;

/// Another subclass of `guide_named`, with nothing of its own.
kvo_class *guide_named_subclass(const char *name);
/// Adds `fullName` and its hook to such a class, as a category does.
void guide_add_full_name(kvo_class *cls);

// MARK: A to-many relationship

typedef struct guide_employee {
  tracked tracked;
  double salary;
} guide_employee;

enum { GUIDE_DEPARTMENT_ROOM = 8 };

/// Observes the salary of each of its `employees`, an array, to update `totalSalary`. `payroll` does so by a declared
/// dependency.
typedef struct guide_department {
  kvo_object object;
  size_t count;
  guide_employee *KVO_NULLABLE employees[GUIDE_DEPARTMENT_ROOM]; ///< retained
  double totalSalary;
} guide_department;

void guide_department_insertEmployee(guide_department *self, guide_employee *employee,
    size_t index);
void guide_department_removeEmployee(guide_department *self, size_t index);

// MARK: Properties

#define GUIDE_TRANSACTION_PROPERTIES(PROPERTY) \
  PROPERTY(guide_transaction, double, amount, Amount, ASSIGN)
#define GUIDE_ACCOUNT_PROPERTIES(PROPERTY)                            \
  PROPERTY(guide_account, const char *KVO_NULLABLE, name, Name, COPY) \
  PROPERTY(guide_account, double, balance, Balance, ASSIGN)           \
  PROPERTY(guide_account, double, interestRate, InterestRate, ASSIGN) \
  PROPERTY(guide_account, int, itemChanged, ItemChanged, READONLY)    \
  PROPERTY(guide_account, kvo_collection *KVO_NULLABLE, transactions, Transactions, RETAIN)
#define GUIDE_DOCUMENT_PROPERTIES(PROPERTY) \
  PROPERTY(guide_document, guide_account *KVO_NULLABLE, account, Account, RETAIN)
#define GUIDE_INVESTOR_PROPERTIES(PROPERTY)                \
  PROPERTY(guide_investor, double, factor, Factor, ASSIGN) \
  PROPERTY(guide_investor, double, wealth, Wealth, READONLY)
#define GUIDE_NAMED_PROPERTIES(PROPERTY)                                      \
  PROPERTY(guide_named, const char *KVO_NULLABLE, title, Title, COPY)         \
  PROPERTY(guide_named, const char *KVO_NULLABLE, firstName, FirstName, COPY) \
  PROPERTY(guide_named, const char *KVO_NULLABLE, lastName, LastName, COPY)
#define GUIDE_EMPLOYEE_PROPERTIES(PROPERTY) PROPERTY(guide_employee, double, salary, Salary, ASSIGN)
#define GUIDE_DEPARTMENT_PROPERTIES(PROPERTY) \
  PROPERTY(guide_department, double, totalSalary, TotalSalary, CUSTOM)
#define GUIDE_NO_PROPERTIES(PROPERTY)

KVO_CLASS_INTERFACE(guide_transaction, GUIDE_TRANSACTION_PROPERTIES)
KVO_CLASS_INTERFACE(guide_account, GUIDE_ACCOUNT_PROPERTIES)
KVO_CLASS_INTERFACE(guide_document, GUIDE_DOCUMENT_PROPERTIES)
KVO_CLASS_INTERFACE(guide_ledger, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_careful_ledger, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_counting_ledger, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_strict_ledger, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_person, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_child, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_investor, GUIDE_INVESTOR_PROPERTIES)
KVO_CLASS_INTERFACE(guide_named, GUIDE_NAMED_PROPERTIES)
KVO_CLASS_INTERFACE(guide_general_name, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_hooked_name, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_titled_name, GUIDE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(guide_employee, GUIDE_EMPLOYEE_PROPERTIES)
KVO_CLASS_INTERFACE(guide_department, GUIDE_DEPARTMENT_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
