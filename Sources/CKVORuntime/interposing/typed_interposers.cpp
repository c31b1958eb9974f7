// The typed interposers, compiled as C++ so that their changes are undone when an exception passes. The warning is
// off because only C++ gives structs a visibility, and structs of the public headers have hidden members.
#pragma GCC diagnostic ignored "-Wattributes"

extern "C" {
#include "interposing/kvo_typed_interposers.h"
}
