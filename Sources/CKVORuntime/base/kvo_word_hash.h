/// Multiplicative hashing, for tables of 2^n slots.
#ifndef KVO_WORD_HASH_H
#define KVO_WORD_HASH_H

#include "kvo_base.h"

KVO_ASSUME_NONNULL_BEGIN

/// Spreads a number or an address over all bits. The highest bits are the best.
KVO_INLINE uint64_t kvo_hash_word(uint64_t number) { return number * 0x9E3779B97F4A7C15u; }
KVO_INLINE uint64_t kvo_hash_pointer(const void *pointer) {
  return kvo_hash_word((uintptr_t)pointer);
}

KVO_ASSUME_NONNULL_END

#endif
