/// Definitions that the runtime must refuse: the first use of the class stops the program.
#ifndef FIXTURE_REFUSED_H
#define FIXTURE_REFUSED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
/// A packed struct whose encoding says it is not packed.
const kvo_class *refused_packed_class(void);
/// A struct property without an encoding.
const kvo_class *refused_nameless_class(void);
/// A property that the superclass has with another type.
const kvo_class *refused_override_class(void);
/// A setter that is not named after its key.
const kvo_class *refused_misnamed_class(void);
KVO_END_DECLS

#endif
