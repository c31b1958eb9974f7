/// An account whose setters of `balance`, `frozen` and `rate` do something of a test's before they store, while
/// their getters are the macros': changes of them can go the short way, and much may happen in them.
#ifndef FIXTURE_INTERLUDE_H
#define FIXTURE_INTERLUDE_H

#include "fixture_account.h"

typedef struct interlude {
  account account;
  void (*KVO_NULLABLE during)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE context;
  double rate; ///< an ivar; the setter `setRate:` takes an int
} interlude;

#define INTERLUDE_PROPERTIES(PROPERTY)

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN
KVO_CLASS_INTERFACE(interlude, INTERLUDE_PROPERTIES)

/// A subclass of it, of which a test may change what it likes.
kvo_class *interlude_subclass(const char *name);
/// Sets the rate by its method.
void interlude_set_rate(interlude *object, int rate);
/// Has the class's getter of `balance` answer a hundred times what is stored.
void interlude_replace_getter(kvo_class *cls);
/// Has the class's getter of `balance` call `during` first.
void interlude_play_in_getter(kvo_class *cls);
/// Gives the class a `getBalance`, which is found before `balance` and answers a thousand times what is
/// stored.
void interlude_add_getter(kvo_class *cls);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
