/// Memory used by observations: all memory in use afterwards, minus that before. Each observer is called once
/// in between, so that memory allocated late counts, too.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "BenchmarkC.h"
#include "account.h"
#include "keyed_class.h"
#include "support.h"

static uint64_t executable_bytes(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  bench_require(maps != NULL, "/proc/self/maps can't be read");
  char line[512];
  uint64_t bytes = 0;
  while (fgets(line, sizeof line, maps)) {
    unsigned long long start, end;
    char permissions[5];
    if (sscanf(line, "%llx-%llx %4s", &start, &end, permissions) == 3 && permissions[2] == 'x')
      bytes += end - start;
  }
  fclose(maps);
  return bytes;
}

uint64_t bench_memory_in_use(void) {
  uint64_t executable = executable_bytes();
  struct mallinfo2 info = mallinfo2();
  return executable + info.uordblks + info.hblkhd;
}

static double per_observation(uint64_t before, uint64_t after, uint64_t deliveries, size_t count) {
  bench_require(deliveries == count, "c.bytes: %llu of %zu observers were notified",
      (unsigned long long)deliveries, count);
  return ((double)after - (double)before) / (double)count;
}

static void release_handles(kvo_handle **handles, size_t count) {
  for (size_t i = 0; i < count; i++) kvo_handle_release(handles[i]);
  free(handles);
}

static double bytes_for_keys(const bench_keyed_class *keyed) {
  size_t count = keyed->count;
  kvo_object *object = bench_keyed_object_create(keyed);
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  (void)bench_memory_in_use(); // The measurement's own allocations are done now.
  uint64_t before = bench_memory_in_use();
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(object, keyed->keys[i].name, 0, &deliveries);
  for (size_t i = 0; i < count; i++) bench_keyed_object_set(object, keyed->keys[i].setter, 1);
  double bytes = per_observation(before, bench_memory_in_use(), deliveries, count);
  release_handles(handles, count);
  kvo_object_release(object);
  return bytes;
}

// A new class for each count, so that either nothing of it exists yet, or all that one object needed does.
double bench_bytes_for_keys(size_t count, bool are_known) {
  const bench_keyed_class *keyed =
      bench_keyed_class_make(are_known ? "BenchmarkKnownBytes" : "BenchmarkBytes", count);
  if (are_known) bytes_for_keys(keyed);
  return bytes_for_keys(keyed);
}

double bench_bytes_for_objects(size_t count) {
  account **accounts = bench_allocate(count, sizeof *accounts);
  kvo_handle **handles = bench_allocate(count, sizeof *handles);
  uint64_t deliveries = 0;
  for (size_t i = 0; i < count; i++) accounts[i] = bench_account_create(account_class());
  (void)bench_memory_in_use();
  uint64_t before = bench_memory_in_use();
  for (size_t i = 0; i < count; i++)
    handles[i] = bench_observe(&accounts[i]->object, "balance", 0, &deliveries);
  for (size_t i = 0; i < count; i++) account_setBalance(accounts[i], 1);
  double bytes = per_observation(before, bench_memory_in_use(), deliveries, count);
  release_handles(handles, count);
  for (size_t i = 0; i < count; i++) kvo_object_release(&accounts[i]->object);
  free(accounts);
  return bytes;
}
