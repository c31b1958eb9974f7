/// The cases of libraries that have signals but no properties. An account has a signal for each value, and
/// its setter emits it. The including file must define `Signal` (callable with a value), `Connection` and
/// `connect`.
#include <memory>
#include <vector>

#include "peer.h"

namespace {

constexpr int keys = 100;

struct Account {
  double values[keys] = {};
  Signal changed[keys];
  void set(int key, double value);
};

void __attribute__((noinline)) Account::set(int key, double value) {
  values[key] = value;
  changed[key](value);
}

void notified(double) { peer_notified++; }

Account *account;

void make() { account = new Account; }
void make_observed() { make(), connect(account->changed[0]); }
void make_ten() {
  make();
  for (int i = 0; i < 10; i++) connect(account->changed[0]);
}
void make_keys() {
  make();
  for (auto &signal : account->changed) connect(signal);
}

void run_set(long n) {
  for (long i = 0; i < n; i++) account->set(0, double(i));
}
void run_other(long n) {
  for (long i = 0; i < n; i++) account->set(1, double(i));
}
void run_keys(long n) {
  for (long i = 0; i < n; i++) account->set(int(i * 37 % keys), double(i));
}
void run_register(long n) {
  for (long i = 0; i < n; i++) {
    auto connection = connect(account->changed[0]);
    connection.disconnect();
  }
}
// A signal allocates its memory at the first connection, so each object here has a signal of its own.
void run_bytes(long n) {
  std::vector<std::unique_ptr<Signal>> signals;
  for (long i = 0; i < n; i++) signals.push_back(std::make_unique<Signal>());
  double before = peer_memory();
  for (auto &signal : signals) connect(*signal);
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
