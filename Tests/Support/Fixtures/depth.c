#include "fixture_depth.h"

#include <alloca.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_threads.h"

typedef struct {
  long last;
  size_t bytes_each;
  long reached;
} recursion;

static void set_next(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)key_path, (void)change;
  recursion *self = context;
  volatile char *own = alloca(self->bytes_each);
  memset((char *)own, 1, self->bytes_each);
  long value = gauge_first((gauge *)object);
  if (value < self->last) gauge_setFirst((gauge *)object, value + 1);
  else self->reached = value;
}

static void *begin(void *context) {
  kvo_object *object = kvo_object_create(gauge_class());
  kvo_handle *handle;
  if (!object || kvo_add_callback(object, "first", 0, set_next, context, NULL, &handle, NULL))
    abort();
  gauge_setFirst((gauge *)object, 1);
  kvo_handle_release(handle);
  kvo_object_release(object);
  return NULL;
}

long depth_set_until(long last, size_t stack_size, size_t bytes_each) {
  recursion self = {.last = last, .bytes_each = bytes_each};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, stack_size) ||
      pthread_create(&thread, &attributes, begin, &self))
    abort();
  fixture_join(thread);
  pthread_attr_destroy(&attributes);
  return self.reached;
}
