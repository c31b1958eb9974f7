#include "fixture_scalars.h"

KVO_CLASS_IMPLEMENTATION(scalars, "CScalars", kvo_root_class, SCALARS_PROPERTIES, NULL)
