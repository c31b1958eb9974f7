// Records first observations. A counter counts all of them. A small table, indexed by a hash, shows roughly whether
// one concerned a given object or method.
#include "objects/kvo_class_internal.h"

#include "base/kvo_word_hash.h"

uint64_t kvo_first_observations;

// For each hash of an object or method, the number of the last first observation that had this hash. Atomic; the
// numbers only grow.
enum { BUCKET_BITS = 8 };
static uint64_t last[1 << BUCKET_BITS];

static uint64_t *first_observation_bucket(const void *concerned) {
  return &last[kvo_hash_pointer(concerned) >> (64 - BUCKET_BITS)];
}

// A setter may see the new counter, but not yet the new table entry. That is safe: the registering thread then sees
// the value that the setter has stored, because it reads after a later fence.
void kvo_note_first_observation(const void *concerned) {
  uint64_t number = __atomic_add_fetch(&kvo_first_observations, 1, __ATOMIC_SEQ_CST);
  uint64_t *entry = first_observation_bucket(concerned),
           known = __atomic_load_n(entry, __ATOMIC_RELAXED);
  while (known < number && !__atomic_compare_exchange_n(entry, &known, number, true,
                               __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
}

bool kvo_first_observation_may_concern(const void *concerned, uint64_t begun) {
  return __atomic_load_n(first_observation_bucket(concerned), __ATOMIC_SEQ_CST) > begun;
}
