/// What the fuzzers share: reading an input, and stopping where the runtime breaks its word.
#ifndef FUZZ_H
#define FUZZ_H

#include "CKVORuntime.h"

/// The bytes of an input that are left. At the end they are 0.
typedef struct fuzz_input {
  const uint8_t *next;
  size_t left;
} fuzz_input;

/// The next byte.
uint8_t fuzz_byte(fuzz_input *input);
/// A number below `limit`.
size_t fuzz_below(fuzz_input *input, size_t limit);
/// All that is left as a string, to be freed, in as many bytes as it needs, so that the address
/// sanitizer sees where it ends.
char *fuzz_rest(fuzz_input *input);

/// Stops the program with a message, as a crash that libFuzzer keeps.
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/// That an error says of itself what the call returned, and why.
void fuzz_check_error(kvo_status status, const kvo_error *error);

/// From here on this thread's memory is out after `count` allocations, until `fuzz_restore_memory`.
void fuzz_limit_memory(uint8_t count);
void fuzz_restore_memory(void);
/// Whether an allocation has been refused since then.
bool fuzz_memory_is_out(void);

/// `kvo_collection_create` as the fixtures call it, which don't expect memory to be out.
kvo_collection *fuzz_collection_create(kvo_collection_kind kind, const kvo_value *elements,
    size_t count, kvo_error *error);

/// How much misuse has been reported: of it inputs are full, and it is not told otherwise.
extern size_t fuzz_misuses;

/// libFuzzer's, called once.
int LLVMFuzzerInitialize(int *argc, char ***argv);

/// libFuzzer's, called with each input: what a fuzzer is.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
