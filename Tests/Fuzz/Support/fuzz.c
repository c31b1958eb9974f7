#include "fuzz.h"

#include "base/kvo_memory.h"
#include "fixture_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint8_t fuzz_byte(fuzz_input *input) {
  if (!input->left) return 0;
  input->left--;
  return *input->next++;
}

size_t fuzz_below(fuzz_input *input, size_t limit) { return fuzz_byte(input) % limit; }

char *fuzz_rest(fuzz_input *input) {
  char *text = strndup((const char *)input->next, input->left);
  FUZZ_REQUIRE(text);
  input->left = 0;
  return text;
}

void fuzz_fail(const char *file, int line, const char *condition) {
  fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
  abort();
}

void fuzz_check_error(kvo_status status, const kvo_error *error) {
  FUZZ_REQUIRE(status != KVO_OK);
  FUZZ_REQUIRE(error->status == status);
  FUZZ_REQUIRE(*error->message);
}

void fuzz_limit_memory(uint8_t count) { kvo_allocations_left = count; }

void fuzz_restore_memory(void) { kvo_allocations_left = INT64_MAX; }

bool fuzz_memory_is_out(void) { return kvo_allocations_left < 0; }

kvo_collection *fuzz_collection_create(kvo_collection_kind kind, const kvo_value *elements,
    size_t count, kvo_error *error) {
  int64_t left = kvo_allocations_left;
  fuzz_restore_memory();
  kvo_collection *made = kvo_collection_create(kind, elements, count, error);
  kvo_allocations_left = left;
  return made;
}

static void make_proxy(kvo_object *node, const char *key,
    kvo_status (*make)(kvo_object *, const char *, kvo_collection **, kvo_error *)) {
  kvo_collection *proxy;
  kvo_value value;
  FUZZ_REQUIRE(!make(node, key, &proxy, NULL));
  FUZZ_REQUIRE(!kvo_value_for_key(node, key, &value, NULL));
  kvo_object_release((kvo_object *)kvo_collection_snapshot(proxy, NULL));
  kvo_object_release((kvo_object *)proxy);
  kvo_value_destroy(&value);
}

size_t fuzz_misuses;

static void count_misuse(const char *message) {
  (void)message;
  fuzz_misuses++;
}

// Makes the classes of the graph, of collections and of proxies. Like any class of a program, they stop it if memory
// is out when they are first used.
static void make_classes(void) {
  kvo_object *node = kvo_object_create(graph_node_class());
  FUZZ_REQUIRE(node);
  make_proxy(node, "items", kvo_mutable_array);
  make_proxy(node, "wares", kvo_mutable_ordered_set);
  make_proxy(node, "tags", kvo_mutable_set);
  kvo_object_release(node);
}

// libFuzzer writes failing inputs beside the program, not into the current folder, which may be the sources. Later
// arguments take precedence.
static void keep_failures_beside(int *argc, char ***argv) {
  static char prefix[4096];
  static char *arguments[64];
  FUZZ_REQUIRE(*argc + 2 <= (int)(sizeof arguments / sizeof *arguments));
  snprintf(prefix, sizeof prefix, "-artifact_prefix=%s-", (*argv)[0]);
  arguments[0] = (*argv)[0];
  arguments[1] = prefix;
  memcpy(arguments + 2, *argv + 1, (size_t)*argc * sizeof **argv); // including the terminator
  ++*argc;
  *argv = arguments;
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  keep_failures_beside(argc, argv);
  kvo_set_misuse_handler(count_misuse);
  make_classes();
  return 0;
}
