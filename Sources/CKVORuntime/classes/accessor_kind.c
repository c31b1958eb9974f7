// Kinds of accessors: the selectors of key-value coding that change a key, as a table.
//
// In a pattern `*` is the key, whose first letter is not a lower-case ASCII letter. The first matching pattern wins,
// so specific ones are listed first: `removeItemsObject:` removes an element of `items`, and does not set a key
// `ItemsObject`. The types of the arguments after self and _cmd must match as well: an index `i` is an integer,
// indexes `s` a pointer, elements `c` a collection, an element `e` anything.
#include "classes/kvo_accessor_kind.h"

#include "types/kvo_type.h"

#include <string.h>

static const struct pattern {
  const char *text;
  const char *shape;
  kvo_accessor_kind kind;
} patterns[] = {
    {"set*:", "e", KVO_ACCESSOR_SET},
    {"_set*:", "e", KVO_ACCESSOR_SET},
    {"insertObject:in*AtIndex:", "ei", KVO_ACCESSOR_INSERT},
    {"insert*:atIndexes:", "cs", KVO_ACCESSOR_INSERT_MANY},
    {"removeObjectFrom*AtIndex:", "i", KVO_ACCESSOR_REMOVE},
    {"remove*AtIndexes:", "s", KVO_ACCESSOR_REMOVE_MANY},
    {"replaceObjectIn*AtIndex:withObject:", "ie", KVO_ACCESSOR_REPLACE},
    {"replace*AtIndexes:with*:", "sc", KVO_ACCESSOR_REPLACE_MANY},
    {"add*Object:", "e", KVO_ACCESSOR_ADD},
    {"remove*Object:", "e", KVO_ACCESSOR_DROP},
    {"add*:", "c", KVO_ACCESSOR_ADD_MANY},
    {"remove*:", "c", KVO_ACCESSOR_DROP_MANY},
    {"intersect*:", "c", KVO_ACCESSOR_INTERSECT},
};

static bool fits_type(char shape, const kvo_type *type) {
  switch (shape) {
  case 'i': return kvo_type_is_number(type) && type->kind <= KVO_KIND_UINT64;
  case 's': return type->kind == KVO_KIND_POINTER;
  case 'c': return type->kind == KVO_KIND_OBJECT;
  default: return true;
  }
}

static bool accessor_kind_has_shape(const char *shape, const kvo_call *call) {
  if (call->argument_count != strlen(shape) + 2) return false;
  for (size_t i = 0; shape[i]; i++)
    if (!fits_type(shape[i], call->arguments[i + 2])) return false;
  return true;
}

// The length of the key at `name` if `rest`, the pattern after its first star, matches; otherwise 0.
static size_t key_length(const char *name, const char *rest) {
  const char *second = strchr(rest, '*');
  size_t total = strlen(name), after = strlen(rest);
  if (total <= after - (second != NULL)) return 0;
  size_t length = second ? (total - (after - 1)) / 2 : total - after;
  if (!length || memchr(name, ':', length)) return 0;
  if (!second) return strcmp(name + length, rest) ? 0 : length;
  size_t between = (size_t)(second - rest);
  bool same = total == 2 * length + after - 1 && !strncmp(name + length, rest, between) &&
              !strncmp(name + length + between, name, length) &&
              !strcmp(name + 2 * length + between, second + 1);
  return same ? length : 0;
}

static bool accessor_kind_fits(const struct pattern *pattern, const char *selector,
    const char **name, size_t *length) {
  const char *star = strchr(pattern->text, '*');
  size_t before = (size_t)(star - pattern->text);
  if (strncmp(selector, pattern->text, before)) return false;
  *name = selector + before;
  if (**name >= 'a' && **name <= 'z') return false;
  *length = key_length(*name, star + 1);
  return *length > 0;
}

kvo_accessor_kind kvo_accessor_kind_of(const char *selector, const kvo_call *call,
    const char **name, size_t *length) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (accessor_kind_fits(&patterns[i], selector, name, length) &&
        accessor_kind_has_shape(patterns[i].shape, call))
      return patterns[i].kind;
  return KVO_ACCESSOR_NONE;
}

// Writes as much of the key as there is room for. Returns its end.
static char *write_key(char *at, const char *end, const char *key) {
  size_t length = strnlen(key, (size_t)(end - at));
  memcpy(at, key, length);
  if (*key >= 'a' && *key <= 'z' && length) *at = (char)(*at - 'a' + 'A');
  return at + length;
}

bool kvo_accessor_kind_selector(size_t i, const char *key, char *selector, size_t capacity) {
  if (i >= sizeof patterns / sizeof *patterns) return false;
  const char *end = selector + capacity - 1;
  for (const char *from = patterns[i].text; *from && selector < end; from++) {
    if (*from == '*') selector = write_key(selector, end, key);
    else *selector++ = *from;
  }
  *selector = 0;
  return true;
}
