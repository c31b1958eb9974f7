#include "fixture_token.h"

static int64_t number_of(const void *value) { return *(const int64_t *)value; }

static bool equal(const kvo_type *type, const void *a, const void *b) {
  (void)type;
  return number_of(a) == number_of(b);
}

static uint64_t hash(const kvo_type *type, const void *value) {
  (void)type;
  return (uint64_t)number_of(value) % 16;
}

static bool number(const kvo_type *type, const void *value, kvo_value *number) {
  (void)type;
  *number = kvo_value_int(number_of(value));
  return true;
}

static const kvo_type_operations hashed = {.hash = hash};
static const kvo_type_operations numeric = {.number = number};

#define TOKEN(name, does)             \
  {.encoding = name,                  \
      .size = sizeof(int64_t),        \
      .alignment = _Alignof(int64_t), \
      .kind = KVO_KIND_BINDING,       \
      .equal = equal,                 \
      .operations = does}

const kvo_type *token_type(token_sort sort) {
  static const kvo_type types[] = {
      [TOKEN_BARE] = TOKEN("Bare", NULL),
      [TOKEN_HASHED] = TOKEN("Hashed", &hashed),
      [TOKEN_NUMBER] = TOKEN("Number", &numeric),
  };
  return &types[sort];
}
