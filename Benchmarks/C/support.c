#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void bench_require(bool condition, const char *format, ...) {
  if (condition) return;
  va_list arguments;
  va_start(arguments, format);
  fputs("Benchmarks: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  abort();
}

void bench_require_ok(kvo_status status, const kvo_error *error) {
  bench_require(status == KVO_OK, "%s: %s", kvo_status_name(status), error->message);
}

void *bench_allocate(size_t count, size_t size) {
  void *memory = calloc(count, size);
  bench_require(memory != NULL, "out of memory");
  return memory;
}

static void count_delivery(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object;
  (void)key_path;
  (void)change;
  ++*(uint64_t *)context;
}

kvo_handle *bench_observe(kvo_object *object, const char *key, kvo_options options,
    uint64_t *deliveries) {
  kvo_handle *handle = NULL;
  kvo_error error;
  kvo_status status =
      kvo_add_callback(object, key, options, count_delivery, deliveries, NULL, &handle, &error);
  bench_require_ok(status, &error);
  return handle;
}
