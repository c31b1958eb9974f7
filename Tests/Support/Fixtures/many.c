#include "fixture_many.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture_account.h"

typedef struct crowd {
  account **accounts;
  kvo_handle **handles;
  int count, notified;
} crowd;

static void count(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  ++*(int *)context;
}

static int set_all(crowd *crowd) {
  crowd->notified = 0;
  for (int i = 0; i < crowd->count; i++) account_setBalance(crowd->accounts[i], i);
  return crowd->notified;
}

static void end_from(crowd *crowd, int first) {
  for (int i = first; i < crowd->count; i += 2) kvo_handle_release(crowd->handles[i]);
}

static void gather(crowd *crowd) {
  for (int i = 0; i < crowd->count; i++) {
    crowd->accounts[i] = (account *)kvo_object_create(account_class());
    if (!crowd->accounts[i] || kvo_add_callback(&crowd->accounts[i]->object, "balance", 0, count,
                                   &crowd->notified, NULL, &crowd->handles[i], NULL))
      abort();
  }
}

many_notified many_objects(int count) {
  crowd crowd = {.accounts = calloc((size_t)count, sizeof(account *)),
      .handles = calloc((size_t)count, sizeof(kvo_handle *)),
      .count = count};
  if (!crowd.accounts || !crowd.handles) abort();
  gather(&crowd);
  many_notified notified = {.all = set_all(&crowd)};
  end_from(&crowd, 0);
  notified.half = set_all(&crowd);
  end_from(&crowd, 1);
  notified.none = set_all(&crowd);
  for (int i = 0; i < count; i++) kvo_object_release(&crowd.accounts[i]->object);
  free(crowd.accounts);
  free(crowd.handles);
  return notified;
}

int many_roots(kvo_error *error) {
  static kvo_class_operations operations[300];
  for (int i = 0; i < 300; i++) {
    char name[32];
    snprintf(name, sizeof name, "CManyRoots%d", i);
    if (!kvo_class_create_root(name, &operations[i], error)) return i;
  }
  return 300;
}
