// Runs kept inputs without libFuzzer: each given file once.
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Exactly as large as the file.
static void run(const char *path) {
  FILE *file = fopen(path, "rb");
  FUZZ_REQUIRE(file != NULL);
  FUZZ_REQUIRE(fseek(file, 0, SEEK_END) == 0);
  long size = ftell(file);
  FUZZ_REQUIRE(size >= 0);
  rewind(file);
  uint8_t *data = malloc((size_t)size + !size);
  FUZZ_REQUIRE(data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size);
  fclose(file);
  LLVMFuzzerTestOneInput(data, (size_t)size);
  free(data);
}

int main(int count, char **arguments) {
  int own = 1; // where libFuzzer's options are added
  char **options = arguments;
  LLVMFuzzerInitialize(&own, &options);
  for (int i = 1; i < count; i++) {
    fprintf(stderr, "%s\n", arguments[i]);
    run(arguments[i]);
  }
  printf("%d inputs\n", count - 1);
}
