// Encodings of types and methods, as text. Each is refused with a reason, or makes a type whose own encoding makes it
// again. The first byte says which allocation fails first, 0 for none.
#include "fuzz.h"

#include "types/kvo_call.h"
#include "types/kvo_encoding.h"

#include <stdlib.h>
#include <string.h>

static void check_layout(const kvo_type *type) {
  FUZZ_REQUIRE(type->size <= KVO_ENCODING_SIZE_LIMIT);
  FUZZ_REQUIRE(type->alignment && !(type->alignment & (type->alignment - 1)));
  FUZZ_REQUIRE(type->size % type->alignment == 0);
}

// Copies, compares, describes and destroys a value of zeros.
static void use_value(const kvo_type *type) {
  void *zeros = aligned_alloc(16, (type->size + 15) / 16 * 16);
  FUZZ_REQUIRE(zeros);
  memset(zeros, 0, type->size);
  kvo_value value, copy;
  char text[64];
  FUZZ_REQUIRE(!kvo_value_init(&value, type, zeros));
  FUZZ_REQUIRE(!kvo_value_copy(&copy, &value));
  FUZZ_REQUIRE(kvo_value_equal(&value, &copy));
  kvo_value_describe(&copy, text, sizeof text);
  FUZZ_REQUIRE(memchr(text, 0, sizeof text));
  kvo_value_destroy(&copy);
  kvo_value_destroy(&value);
  free(zeros);
}

static void try_type(const char *text, uint8_t allocations) {
  kvo_error error = {0};
  if (allocations) fuzz_limit_memory((uint8_t)(allocations - 1));
  const kvo_type *type = kvo_type_for_encoding(text, &error);
  fuzz_restore_memory();
  if (!type) {
    fuzz_check_error(error.status, &error);
    FUZZ_REQUIRE(error.status == KVO_INVALID_ENCODING ||
                 (error.status == KVO_NO_MEMORY && allocations));
    return;
  }
  check_layout(type);
  FUZZ_REQUIRE(kvo_type_for_encoding(type->encoding, NULL) == type);
  if (type->kind != KVO_KIND_VOID) use_value(type);
}

static void try_call(const char *text, uint8_t allocations) {
  kvo_error error = {0};
  if (allocations) fuzz_limit_memory((uint8_t)(allocations - 1));
  const kvo_call *call = kvo_call_for_encoding(text, &error);
  fuzz_restore_memory();
  if (!call) {
    fuzz_check_error(error.status, &error);
    return;
  }
  FUZZ_REQUIRE(call->argument_count >= 2);
  FUZZ_REQUIRE(call->arguments[0]->kind == KVO_KIND_OBJECT);
  FUZZ_REQUIRE(call->arguments[1]->kind == KVO_KIND_SELECTOR);
  for (uint32_t i = 0; i < call->argument_count; i++) check_layout(call->arguments[i]);
  FUZZ_REQUIRE(kvo_call_for_encoding(call->encoding, NULL) == call);
}

// Makes accessors of a property of that type, whose size the compiler knows.
static void try_accessors(const char *text, uint8_t size) {
  kvo_layout layout = {text, size, 8};
  kvo_error error = {0};
  const kvo_call *getter = kvo_call_for_signature((kvo_signature){KVO_FORM_GETTER, layout}, &error);
  if (!getter) fuzz_check_error(error.status, &error);
  const kvo_call *setter = kvo_call_for_signature((kvo_signature){KVO_FORM_SETTER, layout}, NULL);
  FUZZ_REQUIRE(!getter == !setter);
  if (!getter) return;
  FUZZ_REQUIRE(getter->result == setter->arguments[2]);
  FUZZ_REQUIRE(!size || getter->result->size == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz_input input = {data, size};
  uint8_t allocations = (uint8_t)fuzz_below(&input, 16);
  uint8_t compiled_size = fuzz_byte(&input);
  char *text = fuzz_rest(&input);
  try_type(text, allocations);
  try_call(text, allocations);
  try_accessors(text, compiled_size);
  free(text);
  return 0;
}
