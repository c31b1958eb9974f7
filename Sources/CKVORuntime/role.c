// Roles of methods: the selectors of key-value coding that change a key, as a table.
//
// In a pattern `*` stands for the key, whose first letter is no lower-case ASCII letter. The first
// pattern that fits wins, so the more specific one stands first: removeItemsObject: takes one of
// `items`, it does not set a key `ItemsObject`. The shape of the arguments behind self and _cmd
// must fit as well: an index `i` is an integer, indexes `s` a pointer, elements `c` a collection,
// an element `e` anything.
#include "kvo_role.h"

#include "kvo_convert.h"

#include <string.h>

static const struct pattern {
  const char *text;
  const char *shape;
  kvo_role role;
} patterns[] = {
    {"set*:", "e", KVO_ROLE_SET},
    {"_set*:", "e", KVO_ROLE_SET},
    {"insertObject:in*AtIndex:", "ei", KVO_ROLE_INSERT},
    {"insert*:atIndexes:", "cs", KVO_ROLE_INSERT_MANY},
    {"removeObjectFrom*AtIndex:", "i", KVO_ROLE_REMOVE},
    {"remove*AtIndexes:", "s", KVO_ROLE_REMOVE_MANY},
    {"replaceObjectIn*AtIndex:withObject:", "ie", KVO_ROLE_REPLACE},
    {"replace*AtIndexes:with*:", "sc", KVO_ROLE_REPLACE_MANY},
    {"add*Object:", "e", KVO_ROLE_ADD},
    {"remove*Object:", "e", KVO_ROLE_DROP},
    {"add*:", "c", KVO_ROLE_ADD_MANY},
    {"remove*:", "c", KVO_ROLE_DROP_MANY},
    {"intersect*:", "c", KVO_ROLE_INTERSECT},
};

static bool fits_type(char shape, const kvo_type *type) {
  switch (shape) {
  case 'i': return kvo_type_is_number(type) && type->kind <= KVO_KIND_UINT64;
  case 's': return type->kind == KVO_KIND_POINTER;
  case 'c': return type->kind == KVO_KIND_OBJECT;
  default: return true;
  }
}

static bool has_shape(const char *shape, const kvo_call *call) {
  if (call->argument_count != strlen(shape) + 2) return false;
  for (size_t i = 0; shape[i]; i++)
    if (!fits_type(shape[i], call->arguments[i + 2])) return false;
  return true;
}

// The length of the key at `name` if `rest`, the pattern behind its first star, fits; 0 if not.
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

static bool fits(const struct pattern *pattern, const char *selector, const char **name,
    size_t *length) {
  const char *star = strchr(pattern->text, '*');
  size_t before = (size_t)(star - pattern->text);
  if (strncmp(selector, pattern->text, before)) return false;
  *name = selector + before;
  if (**name >= 'a' && **name <= 'z') return false;
  *length = key_length(*name, star + 1);
  return *length > 0;
}

kvo_role kvo_role_of(const char *selector, const kvo_call *call, const char **name,
    size_t *length) {
  for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
    if (fits(&patterns[i], selector, name, length) && has_shape(patterns[i].shape, call))
      return patterns[i].role;
  return KVO_ROLE_NONE;
}

// As much of the key as there is room for. Where it ends.
static char *write_key(char *at, const char *end, const char *key) {
  size_t length = strnlen(key, (size_t)(end - at));
  memcpy(at, key, length);
  if (*key >= 'a' && *key <= 'z' && length) *at = (char)(*at - 'a' + 'A');
  return at + length;
}

bool kvo_role_selector(size_t i, const char *key, char *selector, size_t capacity) {
  if (i >= sizeof patterns / sizeof *patterns) return false;
  const char *end = selector + capacity - 1;
  for (const char *from = patterns[i].text; *from && selector < end; from++) {
    if (*from == '*') selector = write_key(selector, end, key);
    else *selector++ = *from;
  }
  *selector = 0;
  return true;
}
