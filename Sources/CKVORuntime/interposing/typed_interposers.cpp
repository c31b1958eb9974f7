// The typed interposers, compiled so that exceptions find what they pass undone.
// Structures are visible or not only in C++, where those of the public headers have parts that are not.
#pragma GCC diagnostic ignored "-Wattributes"

extern "C" {
#include "interposing/kvo_typed_interposers.h"
}
