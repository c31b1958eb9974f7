// Suggests the key that is probably meant by an undefined one, for messages.
//
// For a C class, candidates are the names of getters and ivars of the class and its superclasses. The nearest one is
// searched for as any key is, so that the suggested key can be read. Bindings compare their own candidates.
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "classes/kvo_accessors.h"
#include "coding/kvo_accessor_search.h"
#include "coding/kvo_key_path.h"
#include "kvo_binding.h"
#include "objects/kvo_class_internal.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 64 };

typedef struct {
  const kvo_class *cls;
  const char *name;
  uint32_t distance;         // that of the nearest so far
  char nearest[LONGEST + 1]; // empty: none
} search;

static char key_suggestion_lower(char letter) {
  return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static size_t key_suggestion_least(size_t one, size_t other) { return one < other ? one : other; }

// The edit distance of two words: insertions, deletions, substitutions and swaps of neighbours, computed row by row.
// It ignores case.
static size_t key_suggestion_faults(const char *word, size_t length, const char *other,
    size_t other_length) {
  uint8_t rows[3][LONGEST + 3];
  for (size_t j = 0; j <= other_length; j++) rows[0][j] = (uint8_t)j;
  for (size_t i = 1; i <= length; i++) {
    uint8_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
    row[0] = (uint8_t)i;
    for (size_t j = 1; j <= other_length; j++) {
      char here = key_suggestion_lower(word[i - 1]), there = key_suggestion_lower(other[j - 1]);
      size_t count = key_suggestion_least(last[j - 1] + (here != there),
          key_suggestion_least(last[j], row[j - 1]) + 1u);
      bool are_exchanged = i > 1 && j > 1 && here == key_suggestion_lower(other[j - 2]) &&
                           there == key_suggestion_lower(word[i - 2]);
      if (are_exchanged) count = key_suggestion_least(count, earlier[j - 2] + 1u);
      row[j] = (uint8_t)count;
    }
  }
  return rows[length % 3][other_length];
}

uint32_t kvo_name_distance(const char *name, const char *other) {
  size_t length = strlen(name), other_length = strlen(other);
  size_t most = length < 3 ? 0 : length < 6 ? 1 : 2;
  bool is_near = length <= LONGEST - 2 && other_length <= length + most &&
                 length <= other_length + most && strcmp(name, other);
  size_t count = is_near ? key_suggestion_faults(name, length, other, other_length) : SIZE_MAX;
  return count <= most ? (uint32_t)count : UINT32_MAX;
}

static bool key_suggestion_is_key(const kvo_class *cls, const char *name) {
  uint64_t shortages = kvo_shortages;
  const kvo_accessors *accessors = kvo_class_accessors(cls, name, NULL);
  kvo_shortages = shortages; // lack of memory for a message must not fail the caller
  return accessors && accessors->getter;
}

// If two names are equally near, the alphabetically first one is chosen.
static void key_suggestion_consider(search *search, const char *name) {
  uint32_t distance = kvo_name_distance(search->name, name);
  bool is_nearer = distance < search->distance ||
                   (distance == search->distance && strcmp(name, search->nearest) < 0);
  if (distance == UINT32_MAX || !is_nearer || !key_suggestion_is_key(search->cls, name)) return;
  search->distance = distance;
  memcpy(search->nearest, name, strlen(name) + 1);
}

// Considers the rest of a name after a prefix, with its first letter in lower case.
static void consider_behind(search *search, const char *prefix, const char *name) {
  size_t length = strlen(prefix), rest = strlen(name);
  if (rest <= length || rest - length > LONGEST || strncmp(name, prefix, length)) return;
  char key[LONGEST + 1];
  memcpy(key, name + length, rest - length + 1);
  *key = key_suggestion_lower(*key);
  if (*key != name[length]) key_suggestion_consider(search, key);
}

static void consider_name(search *search, const char *name) {
  if (*name == '_') name++;
  key_suggestion_consider(search, name);
  consider_behind(search, "get", name);
  consider_behind(search, "is", name);
  consider_behind(search, "countOf", name);
}

static void consider_method(void *context, const void *selector, void *value) {
  const kvo_method *method = value;
  if (method->call && method->call->argument_count == 2) consider_name(context, selector);
}

static void consider_ivar(void *context, const void *name, void *ivar) {
  (void)ivar;
  consider_name(context, name);
}

void kvo_suggest_key(const kvo_class *cls, const char *key, kvo_error *error) {
  if (!error || cls->is_bound) return;
  search search = {.cls = cls, .name = key, .distance = UINT32_MAX};
  bool is_operator = kvo_is_operator(key);
  if (is_operator) snprintf(search.nearest, sizeof search.nearest, "@%s", key);
  for (const kvo_class *at = is_operator ? NULL : cls; at; at = at->superclass) {
    kvo_map_each(&at->methods, consider_method, &search);
    kvo_map_each(&at->ivars, consider_ivar, &search);
  }
  size_t used = strlen(error->message);
  if (*search.nearest)
    snprintf(error->message + used, sizeof error->message - used, " Did you mean \"%s\"?",
        search.nearest);
}
