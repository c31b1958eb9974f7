/// CKVORuntime: key-value coding and key-value observing for C, and the core of the language bindings.
///
/// Read in this order: kvo_object.h (objects), kvo_class.h (classes, methods, dispatch), kvo_property.h (a class in a
/// few lines), kvo_coding.h (values by key), kvo_observing.h (notification of changes), kvo_collection.h and
/// kvo_mutable.h (to-many properties), kvo_diagnostics.h (dumps, logs, limits), kvo_binding.h (only for language
/// bindings). kvo_deprecated.h has old spellings.
#ifndef CKVORUNTIME_H
#define CKVORUNTIME_H

#include "kvo_base.h"
#include "kvo_binding.h"
#include "kvo_class.h"
#include "kvo_coding.h"
#include "kvo_collection.h"
#include "kvo_cplusplus.h"
#include "kvo_deprecated.h"
#include "kvo_diagnostics.h"
#include "kvo_error.h"
#include "kvo_index_set.h"
#include "kvo_mutable.h"
#include "kvo_object.h"
#include "kvo_observing.h"
#include "kvo_property.h"
#include "kvo_value.h"

#endif
