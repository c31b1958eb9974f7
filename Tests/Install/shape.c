// A struct that names its encoding, by value through the closure of a setter.
#include <CKVORuntime.h>
#include <stdio.h>

struct point {
  double x, y;
};

typedef struct shape {
  kvo_object object;
  struct point origin;
  int corners;
} shape;

#define SHAPE_PROPERTIES(PROPERTY)                                    \
  PROPERTY(shape, struct point, origin, Origin, ASSIGN, "{point=dd}") \
  PROPERTY(shape, int, corners, Corners, READONLY)
KVO_CLASS_INTERFACE(shape, SHAPE_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(shape, "Shape", kvo_root_class, SHAPE_PROPERTIES, NULL)

static void moved(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  struct point origin = shape_origin((shape *)object);
  (void)context, (void)change;
  printf("%s: %g, %g\n", key, origin.x, origin.y);
}

int main(void) {
  shape *square = (shape *)kvo_object_create(shape_class());
  kvo_handle *handle;
  kvo_error error;
  if (kvo_add_callback(&square->object, "origin", 0, moved, NULL, NULL, &handle, &error)) {
    puts(error.message);
    return 1;
  }
  shape_setOrigin(square, (struct point){3, 4});
  kvo_handle_release(handle);
  kvo_object_release(&square->object);
}
