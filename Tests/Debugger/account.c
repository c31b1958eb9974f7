// The program of Scripts/checks/debugger: an observed account, an open manual change, and a misuse.
#include <CKVORuntime.h>

typedef struct account {
  kvo_object object;
  double balance;
  int64_t limit;
} account;
#define ACCOUNT_PROPERTIES(PROPERTY)                  \
  PROPERTY(account, double, balance, Balance, ASSIGN) \
  PROPERTY(account, int64_t, limit, Limit, ASSIGN)
KVO_CLASS_INTERFACE(account, ACCOUNT_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(account, "Account", kvo_root_class, ACCOUNT_PROPERTIES, NULL)

static void balance_changed(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  (void)context, (void)object, (void)key, (void)change;
}

// Where the debugger stops.
__attribute__((noinline)) void look_here(kvo_object *o, int what) {
  __asm__ volatile("" : : "r"(o), "r"(what) : "memory");
}

int main(void) {
  kvo_object *o = kvo_object_create(account_class());
  look_here(o, 0); // no observers
  kvo_handle *handle = NULL;
  if (kvo_add_callback(o, "balance", KVO_OLD | KVO_NEW, balance_changed, NULL, NULL, &handle, NULL))
    return 1;
  kvo_will_change(o, "limit");
  look_here(o, 1); // one observer, one open change
  account_setBalance((account *)o, 10);
  kvo_did_change(o, "limit");
  kvo_did_change(o, "limit"); // a did without a will: misuse
  kvo_handle_release(handle);
  look_here(o, 2); // no observers again
  kvo_object_release(o);
}
