/// Classes that turn automatic notification off for some of their keys, in each of the three ways.
#ifndef FIXTURE_AUTOMATIC_H
#define FIXTURE_AUTOMATIC_H

#include <CKVORuntime.h>

/// By hooks for one key: `of`, `for_` and the ivar `bare` are off; `both` is on by `Of` and off by `For`.
typedef struct automatic_by_key {
  kvo_object object;
  int plain;
  int of;
  int for_;
  int both;
  int bare;
} automatic_by_key;

/// By the general hook: `quiet` is off, and so is `Loud`, which shares its setter with `loud`. `named` is on, though
/// a hook for the key says off. The calls for `counted` are counted. All other keys are left to the superclass, which
/// finds the hook of the key `left`: off.
typedef struct automatic_general {
  kvo_object object;
  int quiet;
  int named;
  int counted;
  int loud;
  int left;
} automatic_general;

/// Overrides the general hook only for `loud`, which it turns off. A hook for one key turns `other` off.
typedef struct automatic_sub {
  automatic_general general;
  int extra;
  int other;
} automatic_sub;

/// The guide's account: balance notifies manually, and only if it changes.
typedef struct hand {
  kvo_object object;
  double balance;
  double itself; ///< set by the same setter within balance's pair
} hand;

#define AUTOMATIC_BY_KEY_PROPERTIES(PROPERTY)           \
  PROPERTY(automatic_by_key, int, plain, Plain, ASSIGN) \
  PROPERTY(automatic_by_key, int, of, Of, ASSIGN)       \
  PROPERTY(automatic_by_key, int, for_, For_, ASSIGN)   \
  PROPERTY(automatic_by_key, int, both, Both, ASSIGN)
#define AUTOMATIC_GENERAL_PROPERTIES(PROPERTY)               \
  PROPERTY(automatic_general, int, quiet, Quiet, ASSIGN)     \
  PROPERTY(automatic_general, int, named, Named, ASSIGN)     \
  PROPERTY(automatic_general, int, counted, Counted, ASSIGN) \
  PROPERTY(automatic_general, int, loud, Loud, ASSIGN)       \
  PROPERTY(automatic_general, int, left, Left, ASSIGN)
#define AUTOMATIC_SUB_PROPERTIES(PROPERTY)           \
  PROPERTY(automatic_sub, int, extra, Extra, ASSIGN) \
  PROPERTY(automatic_sub, int, other, Other, ASSIGN)
#define HAND_PROPERTIES(PROPERTY)                  \
  PROPERTY(hand, double, balance, Balance, CUSTOM) \
  PROPERTY(hand, double, itself, Itself, ASSIGN)

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(automatic_by_key, AUTOMATIC_BY_KEY_PROPERTIES)
KVO_CLASS_INTERFACE(automatic_general, AUTOMATIC_GENERAL_PROPERTIES)
KVO_CLASS_INTERFACE(automatic_sub, AUTOMATIC_SUB_PROPERTIES)
KVO_CLASS_INTERFACE(hand, HAND_PROPERTIES)

/// The number of calls of `automatic_general` for `counted`.
int automatic_general_times_asked(void);
KVO_END_DECLS

#endif
