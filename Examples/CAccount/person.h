/// Somebody who wants to know what becomes of an account.
#ifndef PERSON_H
#define PERSON_H

#include "account.h"

typedef struct person {
  kvo_object object;
  const char *name;
} person;

#define PERSON_PROPERTIES(PROPERTY) PROPERTY(person, const char *, name, Name, COPY)

KVO_CLASS_INTERFACE(person, PERSON_PROPERTIES)

/// Registers the person with the account, for both of its properties.
kvo_status person_watch(person *self, account *savings, kvo_error *error);

/// Takes both registrations away. KVO_NOT_REGISTERED if they are not there.
kvo_status person_stop_watching(person *self, account *savings, kvo_error *error);

#endif
