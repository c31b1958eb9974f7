// Errors that a sanitizer must report, one at a time, before the linked program begins. They prove that a check
// without findings would have found something (Scripts/variant.py). KVO_PLANTED names the error.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *write_shared(void *unused) {
  (void)unused;
  shared++;
  return NULL;
}

static void race(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, write_shared, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static int use_after_free(void) {
  volatile int *memory = malloc(sizeof *memory);
  *memory = 1;
  free((void *)memory);
  return *memory;
}

static int shift(volatile int places) { return 1 << places; }

__attribute__((constructor)) static void plant(void) {
  const char *error = getenv("KVO_PLANTED");
  if (!error) return;
  volatile int sum = 0;
  if (strcmp(error, "free") == 0) sum += use_after_free();
  if (strcmp(error, "shift") == 0) sum += shift(40);
  if (strcmp(error, "race") == 0) race();
  exit(0);
}
