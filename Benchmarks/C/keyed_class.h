/// A class created at run time with any number of scalar properties, which share one getter and one setter.
#ifndef BENCHMARK_KEYED_CLASS_H
#define BENCHMARK_KEYED_CLASS_H

#include "kvo_class.h"

/// A key: its name and its setter's method handle.
typedef struct bench_key {
  const kvo_method *setter;
  char name[16];
} bench_key;

typedef struct bench_keyed_class {
  const kvo_class *cls;
  size_t count;
  bench_key *keys;
  /// Maps a method's slot to the cell of its property, for the shared accessors.
  const uint32_t *cell_of_slot;
} bench_keyed_class;

/// Returns the class with `count` keys. It is created at the first call for a name and lives for ever.
const bench_keyed_class *bench_keyed_class_make(const char *name, size_t count);

/// Returns a new instance, owned by the caller.
kvo_object *bench_keyed_object_create(const bench_keyed_class *keyed);

/// Sets a key through the dispatch table, as the inline callers of kvo_property.h do.
KVO_INLINE void bench_keyed_object_set(kvo_object *object, const kvo_method *setter, double value) {
  typedef void (*set)(kvo_object *, const kvo_method *, double);
  ((set)kvo_method_lookup(object, setter))(object, setter, value);
}

/// Fills `order` with the numbers from 0 up to `count`, shuffled in the same way in every run.
void bench_shuffle(uint32_t *order, size_t count);

#endif
