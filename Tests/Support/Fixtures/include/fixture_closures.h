/// Systems that refuse executable memory, wholly or in part. For tests in processes of their own.
#ifndef FIXTURE_CLOSURES_H
#define FIXTURE_CLOSURES_H

#include "kvo_base.h"

KVO_BEGIN_DECLS

/// Makes the runtime behave as if the system refused new closures, from now on, everywhere.
void closures_refuse(bool refused);

/// Whether the kernel can refuse to make writable memory executable (PR_SET_MDWE, Linux 6.3), and to give any new
/// executable memory (seccomp).
bool system_can_harden(void);
/// Asks the kernel for the former, permanently. False if the kernel can't.
bool system_deny_write_execute(void);
/// Asks the kernel for the latter, permanently. False if the kernel can't.
bool system_deny_execute(void);

KVO_END_DECLS

#endif
