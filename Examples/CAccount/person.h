/// A person who observes an account.
#ifndef PERSON_H
#define PERSON_H

#include "account.h"

typedef struct person {
  kvo_object object;
  const char *name;
} person;

#define PERSON_PROPERTIES(PROPERTY) PROPERTY(person, const char *, name, Name, COPY)

KVO_CLASS_INTERFACE(person, PERSON_PROPERTIES)

/// Registers the person as observer of both properties of the account.
kvo_status person_watch(person *self, account *savings, kvo_error *error);

/// Removes both registrations. Returns KVO_NOT_REGISTERED if there are none.
kvo_status person_stop_watching(person *self, account *savings, kvo_error *error);

#endif
