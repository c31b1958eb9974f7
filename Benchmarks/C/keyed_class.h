/// A class made at run time with as many scalar properties as are asked for, which share one
/// getter and one setter.
#ifndef BENCHMARK_KEYED_CLASS_H
#define BENCHMARK_KEYED_CLASS_H

#include "kvo_class.h"

/// One key: its name and the handle of its setter.
typedef struct bench_key {
  const kvo_method *setter;
  char name[16];
} bench_key;

typedef struct bench_keyed_class {
  const kvo_class *cls;
  size_t count;
  bench_key *keys;
  /// By a method's slot, the property that it belongs to: how the shared accessors find the cell.
  const uint32_t *cell_of_slot;
} bench_keyed_class;

/// The class of so many keys; made at the first call for a name, kept for ever.
const bench_keyed_class *bench_keyed_class_make(const char *name, size_t count);

/// An instance, owned by the caller.
kvo_object *bench_keyed_object_create(const bench_keyed_class *keyed);

/// Sets a key through the dispatch table, as the inline callers of kvo_property.h do.
KVO_INLINE void bench_keyed_object_set(kvo_object *object, const kvo_method *setter, double value) {
  typedef void (*set)(kvo_object *, const kvo_method *, double);
  ((set)kvo_method_lookup(object, setter))(object, setter, value);
}

/// Fills `order` with 0 up to `count`, shuffled, the same in every run.
void bench_shuffle(uint32_t *order, size_t count);

#endif
