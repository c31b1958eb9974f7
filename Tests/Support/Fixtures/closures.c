#include "fixture_closures.h"

/// The runtime's own switch. Private, but linked into the same program.
void kvo_ffi_set_closures_refused(bool refused);

void closures_refuse(bool refused) { kvo_ffi_set_closures_refused(refused); }
