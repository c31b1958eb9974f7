#include "fixture_guide.h"

#include <stdlib.h>
#include <string.h>

#include "require.h"

KVO_CLASS_IMPLEMENTATION(guide_transaction, "CGuideTransaction", tracked_class,
    GUIDE_TRANSACTION_PROPERTIES, NULL)
KVO_CLASS_IMPLEMENTATION(guide_account, "CGuideAccount", kvo_root_class, GUIDE_ACCOUNT_PROPERTIES,
    NULL)
KVO_CLASS_IMPLEMENTATION(guide_document, "CGuideDocument", kvo_root_class,
    GUIDE_DOCUMENT_PROPERTIES, NULL)

// ledger

static bool ledger_automatic(const kvo_class *cls, const char *key) {
  (void)cls;
  if (!strcmp(key, "balance")) return false;
  return kvo_class_automatically_notifies(guide_account_class(), key);
}

static void ledger_setBalance(kvo_object *self, const kvo_method *_cmd, double balance) {
  (void)_cmd;
  kvo_will_change(self, "balance");
  ((guide_ledger *)self)->balance = balance;
  kvo_did_change(self, "balance");
}

// The elements at none of the indexes, as a collection that the caller owns.
static kvo_collection *without(kvo_collection *all, const kvo_index_set *indexes) {
  size_t count = kvo_collection_count(all), kept = 0;
  kvo_value *values = calloc(count + 1, sizeof *values);
  if (!values) abort();
  for (size_t i = 0; i < count; i++)
    if (!kvo_index_set_contains(indexes, i)) kvo_collection_get(all, i, &values[kept++], NULL);
  kvo_collection *left = kvo_collection_create(KVO_ARRAY, values, kept, NULL);
  while (kept) kvo_value_destroy(&values[--kept]);
  free(values);
  return left;
}

static void ledger_removeTransactions(guide_ledger *self, const kvo_method *_cmd,
    const kvo_index_set *indexes) {
  (void)_cmd;
  kvo_will_change_indexes(&self->object, KVO_REMOVAL, indexes, "transactions");
  kvo_collection *left = without(self->transactions, indexes);
  kvo_store_retained_object(&self->transactions, left);
  kvo_object_release((kvo_object *)left);
  kvo_did_change_indexes(&self->object, KVO_REMOVAL, indexes, "transactions");
}

void guide_ledger_removeTransactions(guide_ledger *self, const kvo_index_set *indexes) {
  const kvo_method *method =
      kvo_class_method(kvo_class_of(&self->object), "removeTransactionsAtIndexes:");
  ((void (*)(guide_ledger *, const kvo_method *,
      const kvo_index_set *))kvo_method_lookup(&self->object, method))(self, method, indexes);
}

static void ledger_setup(kvo_class *cls) {
  require_class_method(cls, "automaticallyNotifiesObserversForKey:", (kvo_imp)ledger_automatic);
  require_method(cls, "setBalance:", (kvo_imp)ledger_setBalance, KVO_SETTER(double));
  require_method(cls, "removeTransactionsAtIndexes:", (kvo_imp)ledger_removeTransactions,
      KVO_ENCODED("v@:^v"));
}

KVO_CLASS_IMPLEMENTATION(guide_ledger, "CGuideLedger", guide_account_class, GUIDE_NO_PROPERTIES,
    ledger_setup)

// careful_ledger

static void careful_ledger_setBalance(kvo_object *self, const kvo_method *_cmd, double balance) {
  if (balance != ((guide_ledger *)self)->balance) ledger_setBalance(self, _cmd, balance);
}

static void careful_ledger_setup(kvo_class *cls) {
  require_method(cls, "setBalance:", (kvo_imp)careful_ledger_setBalance, KVO_SETTER(double));
}

KVO_CLASS_IMPLEMENTATION(guide_careful_ledger, "CGuideCarefulLedger", guide_ledger_class,
    GUIDE_NO_PROPERTIES, careful_ledger_setup)

// counting_ledger

static void counting_ledger_setBalance(kvo_object *self, const kvo_method *_cmd, double balance) {
  (void)_cmd;
  kvo_will_change(self, "balance");
  kvo_will_change(self, "itemChanged");
  ((guide_ledger *)self)->balance = balance;
  ((guide_ledger *)self)->itemChanged += 1;
  kvo_did_change(self, "itemChanged");
  kvo_did_change(self, "balance");
}

static void counting_ledger_setup(kvo_class *cls) {
  require_method(cls, "setBalance:", (kvo_imp)counting_ledger_setBalance, KVO_SETTER(double));
}

KVO_CLASS_IMPLEMENTATION(guide_counting_ledger, "CGuideCountingLedger", guide_ledger_class,
    GUIDE_NO_PROPERTIES, counting_ledger_setup)

// strict_ledger

static bool strict_ledger_automatic(const kvo_class *cls, const char *key) {
  (void)cls;
  if (!strcmp(key, "transactions")) return false;
  return kvo_class_automatically_notifies(guide_ledger_class(), key);
}

static void strict_ledger_setup(kvo_class *cls) {
  require_class_method(cls,
      "automaticallyNotifiesObserversForKey:", (kvo_imp)strict_ledger_automatic);
}

KVO_CLASS_IMPLEMENTATION(guide_strict_ledger, "CGuideStrictLedger", guide_ledger_class,
    GUIDE_NO_PROPERTIES, strict_ledger_setup)
