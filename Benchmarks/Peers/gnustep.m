// GNUstep Base: key-value observing in Objective-C.
#import <Foundation/Foundation.h>

#include "peer.h"

#define TEN(KEY, D) KEY(D##0) KEY(D##1) KEY(D##2) KEY(D##3) KEY(D##4) KEY(D##5) KEY(D##6) KEY(D##7) KEY(D##8) KEY(D##9)
#define HUNDRED(KEY) \
  TEN(KEY, 0) TEN(KEY, 1) TEN(KEY, 2) TEN(KEY, 3) TEN(KEY, 4) TEN(KEY, 5) TEN(KEY, 6) TEN(KEY, 7) TEN(KEY, 8) TEN(KEY, 9)

@interface Account : NSObject {
#define FIELD(N) double p##N;
  HUNDRED(FIELD)
}
#define DECLARE(N) -(double)p##N; -(void)setP##N : (double)value;
HUNDRED(DECLARE)
@end

@implementation Account
#define DEFINE(N) -(double)p##N { return p##N; } -(void)setP##N : (double)value { p##N = value; }
HUNDRED(DEFINE)
@end

#define NAME(N) @"p" #N,
static NSString *const names[] = {HUNDRED(NAME)};
#define SETTER(N) @selector(setP##N:),
enum { KEYS = sizeof names / sizeof *names };

@interface Observer : NSObject
@end
@implementation Observer
- (void)observeValueForKeyPath:(NSString *)path ofObject:(id)object change:(NSDictionary *)change context:(void *)context {
  peer_notified++;
}
@end

static Account *account;
static Observer *observer;

static void make(void) {
  account = [Account new];
  observer = [Observer new];
}
static void observe(int key, NSKeyValueObservingOptions options) {
  [account addObserver:observer forKeyPath:names[key] options:options context:NULL];
}
static void make_observed(void) { make(), observe(0, 0); }
static void make_old_new(void) { make(), observe(0, NSKeyValueObservingOptionOld | NSKeyValueObservingOptionNew); }
static void make_ten(void) {
  make();
  for (int i = 0; i < 10; i++) observer = [Observer new], observe(0, 0);
}
static void make_keys(void) {
  make();
  for (int i = 0; i < KEYS; i++) observe(i, 0);
}

// Drains the autorelease pool regularly, as a run loop does.
#define REPEAT(BODY)                                       \
  for (long i = 0; i < n;) {                               \
    NSAutoreleasePool *pool = [NSAutoreleasePool new];     \
    for (long end = i + 1000 < n ? i + 1000 : n; i < end; i++) BODY; \
    [pool release];                                        \
  }

static void run_set(long n) { REPEAT([account setP00:i]) }
static void run_other(long n) { REPEAT([account setP01:i]) }
static void run_keys(long n) {
  SEL setters[] = {HUNDRED(SETTER)};
  REPEAT({
    SEL setter = setters[i * 37 % KEYS];
    ((void (*)(id, SEL, double))[account methodForSelector:setter])(account, setter, i);
  })
}
static void run_register(long n) {
  REPEAT({
    observe(0, 0);
    [account removeObserver:observer forKeyPath:names[0]];
  })
}
static void run_bytes(long n) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  make_observed(); // Now everything that the class needs has been allocated.
  Account **accounts = calloc(n, sizeof *accounts);
  for (long i = 0; i < n; i++) accounts[i] = [Account new];
  double before = peer_memory();
  for (long i = 0; i < n; i++) account = accounts[i], observe(0, 0);
  peer_bytes = (peer_memory() - before) / n;
  [pool release];
}

static const peer_case cases[] = {
    {"plain", make, run_set, 0},
    {"observed", make_observed, run_set, 1},
    {"oldnew", make_old_new, run_set, 1},
    {"ten", make_ten, run_set, 10},
    {"keys", make_keys, run_keys, 1},
    {"otherkey", make_observed, run_other, 0},
    {"register", make, run_register, 0},
    {"bytes", NULL, run_bytes, -1},
};

int main(int count, char **arguments) {
  NSAutoreleasePool *pool = [NSAutoreleasePool new];
  int status = peer_main(count, arguments, cases, sizeof cases / sizeof *cases);
  [pool release];
  return status;
}
