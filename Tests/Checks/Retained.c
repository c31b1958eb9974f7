// A class with a retained property of the type TYPE. It must compile only if TYPE may be an object. See
// Scripts/checks/runtime.
#include <CKVORuntime.h>

struct other;
typedef struct keeper {
  kvo_object object;
  TYPE kept;
} keeper;
#define KEEPER_PROPERTIES(PROPERTY) PROPERTY(keeper, TYPE, kept, Kept, RETAIN)
KVO_CLASS_INTERFACE(keeper, KEEPER_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(keeper, "Keeper", kvo_root_class, KEEPER_PROPERTIES, NULL)
