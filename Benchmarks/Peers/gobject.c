// GObject: properties with change notification, observed by handlers of `notify::NAME`.
#include <glib-object.h>

#include "peer.h"

enum { KEYS = 100 };

typedef struct {
  GObject parent;
  double values[KEYS];
} Account;
typedef GObjectClass AccountClass;
static GParamSpec *specs[KEYS + 1];
G_DEFINE_TYPE(Account, account, G_TYPE_OBJECT)

static void account_read(GObject *object, guint id, GValue *value, GParamSpec *spec) {
  (void)spec;
  g_value_set_double(value, ((Account *)object)->values[id - 1]);
}

static void account_init(Account *account) { (void)account; }

static void account_class_init(AccountClass *cls) {
  cls->get_property = account_read;
  for (guint i = 0; i < KEYS; i++) {
    char *name = g_strdup_printf("p%u", i);
    specs[i + 1] =
        g_param_spec_double(name, NULL, NULL, -G_MAXDOUBLE, G_MAXDOUBLE, 0, G_PARAM_READABLE);
    g_free(name);
  }
  g_object_class_install_properties(cls, KEYS + 1, specs);
}

static void __attribute__((noinline)) set(Account *account, int key, double value) {
  account->values[key] = value;
  g_object_notify_by_pspec((GObject *)account, specs[key + 1]);
}

static void notified(GObject *object, GParamSpec *spec, gpointer context) {
  (void)object, (void)spec, (void)context;
  peer_notified++;
}

static Account *account;

static gulong observe(Account *observed, int key) {
  char name[32];
  snprintf(name, sizeof name, "notify::p%d", key);
  return g_signal_connect(observed, name, G_CALLBACK(notified), NULL);
}

static void make(void) { account = g_object_new(account_get_type(), NULL); }
static void make_observed(void) { make(), observe(account, 0); }
static void make_ten(void) {
  make();
  for (int i = 0; i < 10; i++) observe(account, 0);
}
static void make_keys(void) {
  make();
  for (int i = 0; i < KEYS; i++) observe(account, i);
}

static void run_set(long n) {
  for (long i = 0; i < n; i++) set(account, 0, (double)i);
}
static void run_other(long n) {
  for (long i = 0; i < n; i++) set(account, 1, (double)i);
}
static void run_keys(long n) {
  for (long i = 0; i < n; i++) set(account, (int)(i * 37 % KEYS), (double)i);
}
static void run_register(long n) {
  for (long i = 0; i < n; i++) g_signal_handler_disconnect(account, observe(account, 0));
}
static void run_bytes(long n) {
  Account **accounts = calloc((size_t)n, sizeof *accounts);
  for (long i = 0; i < n; i++) make(), accounts[i] = account;
  double before = peer_memory();
  for (long i = 0; i < n; i++) observe(accounts[i], 0);
  peer_bytes = (peer_memory() - before) / (double)n;
}

static const peer_case cases[] = {
    {"plain", make, run_set, 0},
    {"observed", make_observed, run_set, 1},
    {"ten", make_ten, run_set, 10},
    {"keys", make_keys, run_keys, 1},
    {"otherkey", make_observed, run_other, 0},
    {"register", make, run_register, 0},
    {"bytes", NULL, run_bytes, -1},
};
PEER_MAIN(cases)
