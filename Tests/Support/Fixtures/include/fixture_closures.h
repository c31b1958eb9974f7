/// A system that refuses executable memory, and one that does not.
#ifndef FIXTURE_CLOSURES_H
#define FIXTURE_CLOSURES_H

#include "kvo_base.h"

KVO_BEGIN_DECLS

/// Makes the runtime behave as if the system refused new closures, from now on, everywhere: for
/// tests in processes of their own.
void closures_refuse(bool refused);

KVO_END_DECLS

#endif
