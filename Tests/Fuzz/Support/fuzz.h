/// Shared by the fuzzers: reading an input, and stopping where the runtime breaks its contract.
#ifndef FUZZ_H
#define FUZZ_H

#include "CKVORuntime.h"

/// The unread bytes of an input. Reading past the end gives 0.
typedef struct fuzz_input {
  const uint8_t *next;
  size_t left;
} fuzz_input;

/// The next byte.
uint8_t fuzz_byte(fuzz_input *input);
/// A number below `limit`.
size_t fuzz_below(fuzz_input *input, size_t limit);
/// All unread bytes as a string, to be freed. It is allocated exactly, so that the address sanitizer sees its end.
char *fuzz_rest(fuzz_input *input);

/// Stops the program with a message: a crash, whose input libFuzzer keeps.
#define FUZZ_REQUIRE(condition) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition))
_Noreturn void fuzz_fail(const char *file, int line, const char *condition);

/// Requires that an error has the returned status and a message.
void fuzz_check_error(kvo_status status, const kvo_error *error);

/// Lets this thread's allocations fail after `count` of them, until `fuzz_restore_memory`.
void fuzz_limit_memory(uint8_t count);
void fuzz_restore_memory(void);
/// Whether an allocation has failed since then.
bool fuzz_memory_is_out(void);

/// `kvo_collection_create` for the fixtures, which don't expect memory to run out.
kvo_collection *fuzz_collection_create(kvo_collection_kind kind, const kvo_value *elements,
    size_t count, kvo_error *error);

/// The number of misuse reports. Inputs are full of misuse, so it is only counted.
extern size_t fuzz_misuses;

/// Called by libFuzzer once.
int LLVMFuzzerInitialize(int *argc, char ***argv);

/// Called by libFuzzer with each input. Each fuzzer defines it.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
