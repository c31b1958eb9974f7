// Plain char has the compiler's signedness: getter, observer and key-value coding agree.
#include <CKVORuntime.h>
#include <limits.h>
#include <stdio.h>

typedef struct pixel {
  kvo_object object;
  char grey;
} pixel;

#define PIXEL_PROPERTIES(PROPERTY) PROPERTY(pixel, char, grey, Grey, ASSIGN)
KVO_CLASS_INTERFACE(pixel, PIXEL_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(pixel, "Pixel", kvo_root_class, PIXEL_PROPERTIES, NULL)

static void changed(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  int grey = pixel_grey((pixel *)object);
  kvo_value now;
  (void)context;
  kvo_value_for_key(object, key, &now, NULL);
  printf("%s: observer %s, key %s, sign %s\n", key,
      kvo_value_get_int(kvo_change_get_new(change)) == grey ? "agrees" : "differs",
      kvo_value_get_int(&now) == grey ? "agrees" : "differs",
      (grey < 0) == (CHAR_MIN < 0) ? "agrees" : "differs");
}

int main(void) {
  kvo_object *object = kvo_object_create(pixel_class());
  kvo_value light = kvo_value_int(210);
  kvo_handle *handle;
  if (kvo_add_callback(object, "grey", KVO_NEW, changed, NULL, NULL, &handle, NULL)) return 1;
  pixel_setGrey((pixel *)object, (char)200);
  kvo_set_value_for_key(object, "grey", &light, NULL);
  kvo_handle_release(handle);
  kvo_object_release(object);
}
