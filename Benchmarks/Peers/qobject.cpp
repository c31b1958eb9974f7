// Qt's object signals: a property with NOTIFY, connected directly. Benchmarks/compare generates
// `qobject_account.h` for moc, which does not expand macros that declare signals.
#include <memory>
#include <vector>

#include "peer.h"
#include "qobject_account.h"

namespace {

void notified() { peer_notified++; }

Account *account;

QMetaObject::Connection observe(Account *observed, int key) {
  return QObject::connect(observed, Account::signal(key), notified);
}
void make() { account = new Account; }
void make_observed() { make(), observe(account, 0); }
void make_ten() {
  make();
  for (int i = 0; i < 10; i++) observe(account, 0);
}
void make_keys() {
  make();
  for (int i = 0; i < Account::keys; i++) observe(account, i);
}

void run_set(long n) {
  for (long i = 0; i < n; i++) account->set(0, double(i));
}
void run_other(long n) {
  for (long i = 0; i < n; i++) account->set(1, double(i));
}
void run_keys(long n) {
  for (long i = 0; i < n; i++) account->set(int(i * 37 % Account::keys), double(i));
}
void run_register(long n) {
  for (long i = 0; i < n; i++) QObject::disconnect(observe(account, 0));
}
void run_bytes(long n) {
  std::vector<std::unique_ptr<Account>> accounts;
  for (long i = 0; i < n; i++) accounts.push_back(std::make_unique<Account>());
  double before = peer_memory();
  for (auto &each : accounts) observe(each.get(), 0);
  peer_bytes = (peer_memory() - before) / double(n);
}

const peer_case cases[] = {
    {"plain", make, run_set, 0},
    {"observed", make_observed, run_set, 1},
    {"ten", make_ten, run_set, 10},
    {"keys", make_keys, run_keys, 1},
    {"otherkey", make_observed, run_other, 0},
    {"register", make, run_register, 0},
    {"bytes", nullptr, run_bytes, -1},
};

} // namespace

PEER_MAIN(cases)
