// Qt's bindable properties, observed by `onValueChanged`.
#include <QProperty>
#include <memory>
#include <vector>

#include "peer.h"

namespace {

constexpr int keys = 100;

struct Account {
  QProperty<double> values[keys];
};

void __attribute__((noinline)) set(Account *account, int key, double value) {
  account->values[key] = value;
}

Account *account;
struct Notified {
  void operator()() const { peer_notified++; }
};
using Handler = QPropertyChangeHandler<Notified>;
std::vector<std::unique_ptr<Handler>> handlers;

void observe(int key) {
  handlers.push_back(std::make_unique<Handler>(account->values[key].onValueChanged(Notified())));
}
void make() { account = new Account; }
void make_observed() { make(), observe(0); }
void make_ten() {
  make();
  for (int i = 0; i < 10; i++) observe(0);
}
void make_keys() {
  make();
  for (int i = 0; i < keys; i++) observe(i);
}

// Each value is new, since setting an equal value is no change.
double next = 0;
void run_set(long n) {
  for (long i = 0; i < n; i++) set(account, 0, ++next);
}
void run_other(long n) {
  for (long i = 0; i < n; i++) set(account, 1, ++next);
}
void run_keys(long n) {
  for (long i = 0; i < n; i++) set(account, int(i * 37 % keys), ++next);
}
void run_register(long n) {
  for (long i = 0; i < n; i++) Handler handler = account->values[0].onValueChanged(Notified());
}
// The handlers belong to the observers, so their memory counts.
void run_bytes(long n) {
  std::vector<QProperty<double>> properties(n);
  double before = peer_memory();
  std::vector<std::unique_ptr<Handler>> kept;
  kept.reserve(n);
  for (auto &property : properties)
    kept.push_back(std::make_unique<Handler>(property.onValueChanged(Notified())));
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
