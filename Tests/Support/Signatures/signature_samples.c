// Descriptions of the types, and values made and compared by them.
#include "signature_types.h"

#include <float.h>
#include <math.h>
#include <string.h>

// MARK: Descriptions

#define MEMBER_LEAF(type, name, dimensions, elements) \
  {LEAF_KIND(type), offsetof(whole, name), sizeof(type), elements, NULL},
#define STRUCT_LEAF(tag, name, dimensions, elements) \
  {LEAF_STRUCT, offsetof(whole, name), sizeof(sample_##tag), elements, describe_##tag},
#define DESCRIBE(id, ...)                                                                      \
  const description *describe_##id(void) {                                                     \
    typedef sample_##id whole;                                                                 \
    static const leaf leaves[] = {__VA_ARGS__};                                                \
    static const description result = {sizeof(whole), sizeof leaves / sizeof *leaves, leaves}; \
    return &result;                                                                            \
  }
#define DESCRIBE_STRUCT(tag, encoding) DESCRIBE(tag, MEMBERS_##tag(MEMBER_LEAF, STRUCT_LEAF))
#define DESCRIBE_BYTES(size, encoding) DESCRIBE(bytes##size, {LEAF_BITS, 0, 1, size, NULL})
#define DESCRIBE_SCALAR(id, type) DESCRIBE(id, {LEAF_KIND(type), 0, sizeof(whole), 1, NULL})
#define DESCRIBE_NAMED_SCALAR(id, type, encoding) DESCRIBE_SCALAR(id, type)

MIXED_STRUCTS(DESCRIBE_STRUCT)
BYTE_STRUCTS(DESCRIBE_BYTES)
SCALARS(DESCRIBE_SCALAR)
NAMED_SCALARS(DESCRIBE_NAMED_SCALAR)

// MARK: Values

// A fixed random sequence, so that failures repeat.
static uint64_t random_bits(void) {
  static uint64_t state = 0x2545F4914F6CDD1Du;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void fill_random(unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(random_bits() >> 32);
}

enum { EXTREMES = 8 };

// Zero, -1 or the unsigned maximum, the signed minimum and maximum; the other half is random.
static void fill_bits(unsigned char *bytes, size_t size, unsigned which) {
  static const unsigned char first[] = {0, 0xff, 0x80, 0x7f}, others[] = {0, 0xff, 0, 0xff};
  if (which >= sizeof first) {
    fill_random(bytes, size);
    return;
  }
  memset(bytes, others[which], size);
  uint16_t probe = 1;
  bool is_little = *(unsigned char *)&probe;
  bytes[is_little ? size - 1 : 0] = first[which];
}

#define FILL_REAL(type, value, which, PREFIX)                                                  \
  do {                                                                                         \
    const type extremes[EXTREMES] = {0, -(type)0.0, PREFIX##_MAX, -PREFIX##_MAX, PREFIX##_MIN, \
        (type)INFINITY, (type)NAN, (type)(int64_t)random_bits() / 3};                          \
    memcpy(value, &extremes[which], sizeof(type));                                             \
  } while (0)

static void fill_string(void *value, unsigned which) {
  static const char *const strings[EXTREMES] = {
      NULL, "", "a", "äöü", "a string that is longer than three words", "b", NULL, "\x01\x7f"};
  memcpy(value, &strings[which], sizeof strings[which]);
}

static void fill_object(void *value, unsigned which) {
  static kvo_object *objects[2];
  kvo_object **object = &objects[which & 1];
  if (!*object) *object = kvo_object_create(kvo_root_class());
  kvo_object *filled = which < 2 ? NULL : *object;
  memcpy(value, &filled, sizeof filled);
}

static void fill_leaf(const leaf *leaf, void *value, unsigned round) {
  unsigned which = round % EXTREMES;
  switch (leaf->kind) {
  case LEAF_BITS: fill_bits(value, leaf->size, which); break;
  case LEAF_BOOL: *(bool *)value = round & 1; break;
  case LEAF_FLOAT: FILL_REAL(float, value, which, FLT); break;
  case LEAF_DOUBLE: FILL_REAL(double, value, which, DBL); break;
  case LEAF_LONG_DOUBLE: FILL_REAL(long double, value, which, LDBL); break;
  case LEAF_STRING: fill_string(value, which); break;
  case LEAF_OBJECT: fill_object(value, which); break;
  case LEAF_STRUCT: sample_fill(leaf->nested(), value, round); break;
  }
}

void sample_fill(const description *description, void *value, unsigned round) {
  fill_random(value, description->size);
  for (size_t i = 0; i < description->leaf_count; i++) {
    const leaf *leaf = &description->leaves[i];
    for (size_t j = 0; j < leaf->count; j++)
      fill_leaf(leaf, (char *)value + leaf->offset + j * leaf->size, round + (unsigned)(i + j));
  }
}

static bool same_string(const void *a, const void *b) {
  const char *left, *right;
  memcpy(&left, a, sizeof left);
  memcpy(&right, b, sizeof right);
  return left && right ? !strcmp(left, right) : left == right;
}

// x86 stores ten bytes of a number in sixteen.
static size_t significant_size(const leaf *leaf) {
  return leaf->kind == LEAF_LONG_DOUBLE && LDBL_MANT_DIG == 64 ? 10 : leaf->size;
}

static bool same_leaf(const leaf *leaf, const void *a, const void *b) {
  if (leaf->kind == LEAF_STRUCT) return sample_same(leaf->nested(), a, b);
  if (leaf->kind == LEAF_STRING) return same_string(a, b);
  return !memcmp(a, b, significant_size(leaf));
}

bool sample_same(const description *description, const void *a, const void *b) {
  for (size_t i = 0; i < description->leaf_count; i++) {
    const leaf *leaf = &description->leaves[i];
    for (size_t j = 0; j < leaf->count; j++) {
      size_t offset = leaf->offset + j * leaf->size;
      if (!same_leaf(leaf, (const char *)a + offset, (const char *)b + offset)) return false;
    }
  }
  return true;
}
