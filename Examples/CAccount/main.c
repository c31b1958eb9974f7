/// A person observes an account: registration, changes, removal, and a mistake.
#include <stdio.h>
#include <stdlib.h>

#include "account.h"
#include "person.h"

static void stop_on_failure(kvo_status status, const kvo_error *error) {
  if (status == KVO_OK) return;
  fprintf(stderr, "%s: %s\n", kvo_status_name(status), error->message);
  exit(EXIT_FAILURE);
}

// Changes the same property with its setter, with its key, and manually.
static void change_balance(account *savings) {
  account_setBalance(savings, 100);

  kvo_value value = kvo_value_double(250);
  kvo_error error;
  stop_on_failure(kvo_set_value_for_key(&savings->object, "balance", &value, &error), &error);
  kvo_value_destroy(&value);

  kvo_will_change(&savings->object, "balance");
  savings->balance -= 50;
  kvo_did_change(&savings->object, "balance");
}

int main(void) {
  account *savings = (account *)kvo_object_create(account_class());
  person *ada = (person *)kvo_object_create(person_class());
  kvo_error error;
  person_setName(ada, "Ada");

  puts("Ada watches the account.");
  stop_on_failure(person_watch(ada, savings, &error), &error);
  change_balance(savings);
  account_setInterestRate(savings, 0.02);

  puts("Ada stops watching: she is not notified from now on.");
  stop_on_failure(person_stop_watching(ada, savings, &error), &error);
  account_setBalance(savings, 0);
  printf("The balance is %g.\n", account_balance(savings));

  puts("Stopping again is a mistake, which is reported and changes nothing.");
  kvo_status status = person_stop_watching(ada, savings, &error);
  printf("%s for \"%s\" of %s\n", kvo_status_name(status), error.key, error.class_name);

  // In either order: a registration retains neither object, and ends with the first of the two.
  kvo_object_release(&savings->object);
  kvo_object_release(&ada->object);
}
