#include "fixture_refused.h"

#include "fixture_account.h"

typedef struct __attribute__((packed)) packed_pair {
  char first;
  double second;
} packed_pair;

typedef struct refused_packed {
  kvo_object object;
  packed_pair pair;
} refused_packed;

#define PACKED_PROPERTIES(PROPERTY) \
  PROPERTY(refused_packed, packed_pair, pair, Pair, ASSIGN, "{packed_pair=cd}")
KVO_CLASS_INTERFACE(refused_packed, PACKED_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(refused_packed, "CRefusedPacked", kvo_root_class, PACKED_PROPERTIES, NULL)

typedef struct refused_nameless {
  kvo_object object;
  location place;
} refused_nameless;

#define NAMELESS_PROPERTIES(PROPERTY) PROPERTY(refused_nameless, location, place, Place, ASSIGN)
KVO_CLASS_INTERFACE(refused_nameless, NAMELESS_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(refused_nameless, "CRefusedNameless", kvo_root_class, NAMELESS_PROPERTIES,
    NULL)

typedef struct refused_override {
  account account;
  const char *balance;
} refused_override;

#define OVERRIDE_PROPERTIES(PROPERTY) \
  PROPERTY(refused_override, const char *, balance, Balance, COPY)
KVO_CLASS_INTERFACE(refused_override, OVERRIDE_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(refused_override, "CRefusedOverride", account_class, OVERRIDE_PROPERTIES,
    NULL)

typedef struct refused_misnamed {
  kvo_object object;
  double balance;
} refused_misnamed;

#define MISNAMED_PROPERTIES(PROPERTY) PROPERTY(refused_misnamed, double, balance, Balanse, ASSIGN)
KVO_CLASS_INTERFACE(refused_misnamed, MISNAMED_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(refused_misnamed, "CRefusedMisnamed", kvo_root_class, MISNAMED_PROPERTIES,
    NULL)
