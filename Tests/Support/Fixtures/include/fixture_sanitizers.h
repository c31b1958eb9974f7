/// Which sanitizer the tests were built with, since some tests can't run under one.
#ifndef FIXTURE_SANITIZERS_H
#define FIXTURE_SANITIZERS_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS

/// Whether the tests were built with the thread sanitizer, which follows no forks, and takes the address of a Swift
/// property without a size, which may be anything, for one of memory.
bool fixture_has_thread_sanitizer(void);

/// Whether the tests were built with the address sanitizer, which reports a stack overflow itself.
bool fixture_has_address_sanitizer(void);

KVO_END_DECLS

#endif
