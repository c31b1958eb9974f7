// Hashes of values, and hash indexes of arrays.
//
// Equal values must have equal hashes, and values of different types can be equal: numbers by numeric value. So a
// number that is an integer within 64 bits is hashed as that integer, any other as a double, to which equal numbers
// round equally. A collection's hash is the sum of its elements' hashes, which works for any order. Collections
// nested deeper than a few levels all have the same hash.
//
// The table uses open addressing with linear probing, is at most three quarters full, and stores the hashes, so that
// growing does not hash values again. After the first value without a hash the table is dropped, and values are found
// by comparison.
#include "values/kvo_hash.h"

#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"
#include "values/kvo_number.h"

#include <string.h>

// Up to this number of values, a search is faster than hashing.
enum { COMPARED = 8 };

enum { HASHED_LEVELS = 8 };

static uint64_t hash_mixed(uint64_t bits) {
  bits = kvo_hash_word(bits ^ (bits >> 32));
  return bits ^ (bits >> 29);
}

// MARK: Hashes

static bool hash_real(long double real, uint64_t *hash) {
  if (real >= -0x1p63L && real < 0x1p63L && (long double)(int64_t)real == real) {
    *hash = hash_mixed((uint64_t)(int64_t)real);
  } else if (real >= 0x1p63L && real < 0x1p64L && (long double)(uint64_t)real == real) {
    *hash = hash_mixed((uint64_t)real);
  } else if (real != real) {
    *hash = hash_mixed(~(uint64_t)0); // all NaNs are equal, but have many bit patterns
  } else {
    double rounded = (double)real;
    memcpy(hash, &rounded, sizeof *hash);
    *hash = hash_mixed(*hash);
  }
  return true;
}

static bool hash_number(const kvo_type *type, const void *bytes, uint64_t *hash) {
  kvo_number number = kvo_number_read(type, bytes);
  if (number.form == KVO_NUMBER_REAL) return hash_real(number.real, hash);
  *hash = hash_mixed(number.form == KVO_NUMBER_SIGNED ? (uint64_t)number.integer : number.large);
  return true;
}

static bool hash_string(const char *string, uint64_t *hash) {
  uint64_t sum = 0xCBF29CE484222325u;
  for (; string && *string; string++) sum = (sum ^ (unsigned char)*string) * 0x100000001B3u;
  *hash = hash_mixed(sum);
  return true;
}

// Reading the elements may call the program's code, which may throw.
typedef struct {
  const kvo_value *value;
  uint32_t depth; // the number of collections around it
  kvo_elements elements;
  uint64_t sum;
  bool hashed;
} hashing;

static bool hash_nested(const kvo_value *value, uint32_t depth, uint64_t *hash);

static void add_hashes(void *opaque) {
  hashing *hashing = opaque;
  const kvo_elements *elements = &hashing->elements;
  hashing->hashed = !kvo_value_elements(hashing->value, NULL, &hashing->elements, NULL);
  for (size_t i = 0; hashing->hashed && i < elements->count; i++) {
    uint64_t one;
    hashing->hashed = hash_nested(&elements->values[i], hashing->depth + 1, &one);
    if (hashing->hashed) hashing->sum += hash_mixed(one);
  }
}

static void end_hashing(void *opaque) { kvo_elements_destroy(&((hashing *)opaque)->elements); }

static bool hash_elements(const kvo_value *value, uint32_t depth, uint64_t *hash) {
  hashing hashing = {.value = value, .depth = depth, .hashed = true};
  hashing.sum = hash_mixed(~(uint64_t)KVO_KIND_BINDING);
  if (depth < HASHED_LEVELS) kvo_finally(add_hashes, end_hashing, &hashing);
  *hash = hashing.sum;
  return hashing.hashed;
}

static bool hash_bytes(const kvo_type *type, const void *bytes, uint64_t *hash);

static bool hash_struct(const kvo_struct_type *type, const char *bytes, uint64_t *hash) {
  *hash = hash_mixed(type->member_count);
  for (size_t i = 0; i < type->member_count; i++) {
    const kvo_struct_member *member = &type->members[i];
    for (size_t element = 0; element < member->count; element++) {
      uint64_t one;
      const char *target = bytes + member->offset + element * member->type->size;
      if (!hash_bytes(member->type, target, &one)) return false;
      *hash = hash_mixed(*hash + one);
    }
  }
  return true;
}

static bool hash_equivalent(const kvo_type *type, const void *bytes, uint64_t *hash) {
  kvo_value equivalent;
  if (!type->operations->equivalent(type, bytes, &equivalent)) return false;
  bool hashed = kvo_value_hash(&equivalent, hash);
  kvo_value_destroy(&equivalent);
  return hashed;
}

// A binding's number or object can equal a value of another type, so it is hashed like that, and what has an equivalent is
// hashed as that. The exception is an object of a type with its own hash, which has its own equality too.
static bool hash_bound(const kvo_type *type, const void *bytes, uint64_t *hash) {
  const kvo_type_operations *operations = type->operations;
  kvo_value number;
  if (operations && operations->number && operations->number(type, bytes, &number)) {
    bool hashed = kvo_value_hash(&number, hash);
    kvo_value_destroy(&number);
    return hashed;
  }
  if (!operations) return false;
  if (operations->hash) *hash = operations->hash(type, bytes);
  else if (operations->equivalent) return hash_equivalent(type, bytes, hash);
  else if (operations->object) *hash = hash_mixed((uintptr_t)operations->object(type, bytes));
  else return false;
  return true;
}

static bool hash_bytes(const kvo_type *type, const void *bytes, uint64_t *hash) {
  if (kvo_type_is_number(type)) return hash_number(type, bytes, hash);
  if (type->kind == KVO_KIND_BINDING) return hash_bound(type, bytes, hash);
  if (type->kind == KVO_KIND_STRUCT) return hash_struct((const kvo_struct_type *)type, bytes, hash);
  const void *pointer;
  memcpy(&pointer, bytes, sizeof pointer);
  if (type->kind == KVO_KIND_STRING) return hash_string(pointer, hash);
  *hash = hash_mixed((uintptr_t)pointer);
  return true;
}

static bool hash_nested(const kvo_value *value, uint32_t depth, uint64_t *hash) {
  *hash = hash_mixed(0);
  if (kvo_value_is_nil(value)) return true;
  if (kvo_value_is_collection(value, NULL)) return hash_elements(value, depth, hash);
  return hash_bytes(value->type, kvo_value_bytes(value), hash);
}

bool kvo_value_hash(const kvo_value *value, uint64_t *hash) { return hash_nested(value, 0, hash); }

// MARK: Slots

struct hash_slot {
  uint64_t hash;
  size_t number; // the value's index plus 1; 0 for a free slot
};

static struct hash_slot *free_slot(const kvo_hash_index *index, uint64_t hash) {
  size_t i = hash & index->mask;
  while (index->slots[i].number) i = (i + 1) & index->mask;
  return &index->slots[i];
}

static size_t hash_index_scan(const kvo_hash_index *index, const kvo_value *values,
    const kvo_value *value) {
  for (size_t i = 0; i < index->count; i++)
    if (kvo_value_equal(&values[i], value)) return i;
  return SIZE_MAX;
}

size_t kvo_hash_index_find(const kvo_hash_index *index, const kvo_value *values,
    const kvo_value *value) {
  uint64_t hash;
  if (!index->slots || !kvo_value_hash(value, &hash)) return hash_index_scan(index, values, value);
  for (size_t i = hash & index->mask; index->slots[i].number; i = (i + 1) & index->mask) {
    const struct hash_slot *slot = &index->slots[i];
    if (slot->hash == hash && kvo_value_equal(&values[slot->number - 1], value))
      return slot->number - 1;
  }
  return SIZE_MAX;
}

static bool hash_index_grow(kvo_hash_index *index) {
  kvo_hash_index grown = *index;
  grown.mask = index->mask * 2 + 1;
  grown.slots = kvo_alloc_zeroed((grown.mask + 1) * sizeof *grown.slots);
  if (!grown.slots) return false;
  for (size_t i = 0; i <= index->mask; i++)
    if (index->slots[i].number) *free_slot(&grown, index->slots[i].hash) = index->slots[i];
  kvo_free(index->slots);
  *index = grown;
  return true;
}

static void do_without(kvo_hash_index *index) {
  kvo_free(index->slots);
  index->slots = NULL;
  index->unhashed = true;
}

static bool hash_index_put(kvo_hash_index *hash_index, const kvo_value *values, size_t index) {
  uint64_t hash;
  if (hash_index->unhashed) return true;
  if (!kvo_value_hash(&values[index], &hash)) {
    do_without(hash_index);
    return true;
  }
  if ((index + 1) * 4 > (hash_index->mask + 1) * 3 && !hash_index_grow(hash_index)) return false;
  *free_slot(hash_index, hash) = (struct hash_slot){hash, index + 1};
  return true;
}

// Starts hashing when there are too many values to compare.
static bool hash_start(kvo_hash_index *index, const kvo_value *values) {
  index->mask = COMPARED * 4 - 1;
  index->slots = kvo_alloc_zeroed((index->mask + 1) * sizeof *index->slots);
  if (!index->slots) return false;
  for (size_t i = 0; i < index->count; i++)
    if (!hash_index_put(index, values, i)) return false;
  return true;
}

bool kvo_hash_index_add(kvo_hash_index *index, const kvo_value *values) {
  bool hashing = index->slots || index->unhashed;
  if (!hashing && index->count >= COMPARED && !hash_start(index, values)) return false;
  if (index->slots && !hash_index_put(index, values, index->count)) return false;
  index->count++;
  return true;
}

void kvo_hash_index_destroy(kvo_hash_index *index) {
  kvo_free(index->slots);
  *index = (kvo_hash_index){0};
}
