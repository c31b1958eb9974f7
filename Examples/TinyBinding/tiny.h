/// Tiny: a language whose values are numbers, stored in slots of its objects.
#ifndef TINY_H
#define TINY_H

#include <CKVORuntime.h>

typedef struct tiny_object tiny_object;

// A property has either a slot or a getter that computes it. The language's nil is NAN.
typedef struct tiny_property {
  const char *name;
  double (*getter)(tiny_object *self);
  const char *key; // the name, interned
} tiny_property;

typedef struct tiny_class {
  const char *name;
  tiny_property *properties;
  size_t count;
  const kvo_class *known_as; // its runtime class
} tiny_class;

// The language's own fields come first, as they would in a real language.
struct tiny_object {
  const tiny_class *cls;
  uint32_t strong, unowned;
  kvo_object header;
  double slots[];
};

/// Registers the class with the runtime. Must be called before the class has objects.
void tiny_define(tiny_class *cls);

/// Returns an object with one reference, owned by the caller, and all slots 0.
tiny_object *tiny_create(const tiny_class *cls);

/// The compiled form of the language's `object.property` and `object.property = value`.
double tiny_get(tiny_object *self, size_t property);
void tiny_set(tiny_object *self, size_t property, double value);

#endif
