// Objects with a single registration, whose word points directly at it, without a table.
//
// To find such objects by address, or all of them for a class, each object lock has a hash table of chains of these
// registrations. A registration of an observer object can't be in a chain, because it is in the observer's list
// already. It is stored in a table, and so is a node. The hash tables never shrink.
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "tables/kvo_table.h"

typedef struct {
  kvo_registration **buckets;
  uint32_t mask; // the number of buckets, a power of two, less one
  uint32_t count;
} chains;

static chains all[KVO_OBJECT_LOCKS]; // indexed by the object's lock, which protects them

enum { FIRST_BUCKETS = 8, CHAIN_LENGTH = 2 };

static chains *chains_of(const kvo_object *object) { return &all[kvo_object_lock_index(object)]; }

// The highest bits of the hash select the lock, so we use lower ones.
static kvo_registration **inline_registration_bucket(const chains *chains,
    const kvo_object *object) {
  return &chains->buckets[(kvo_hash_pointer(object) >> 24) & chains->mask];
}

static void inline_registration_enter(const chains *chains, kvo_registration *registration) {
  kvo_registration **first = inline_registration_bucket(chains, registration->object);
  registration->next_inline = *first;
  *first = registration;
}

// If there is no memory for more buckets, the chains get longer.
static bool inline_registration_make_room(chains *chains) {
  uint32_t buckets = chains->buckets ? chains->mask + 1 : 0;
  if (chains->count < buckets * CHAIN_LENGTH) return true;
  uint32_t larger = buckets ? buckets * 2 : FIRST_BUCKETS;
  kvo_registration **made = kvo_alloc_zeroed(larger * sizeof *made), **old = chains->buckets;
  if (!made) return old;
  chains->buckets = made;
  chains->mask = larger - 1;
  for (uint32_t i = 0; i < buckets; i++) {
    for (kvo_registration *next, *one = old[i]; one; one = next) {
      next = one->next_inline;
      inline_registration_enter(chains, one);
    }
  }
  kvo_free(old);
  return true;
}

bool kvo_inline_registration_insert_locked(kvo_object *object, kvo_registration *registration) {
  if (registration->options & (KVO_PATH_NODE | KVO_BY_OBSERVER)) return false;
  chains *chains = chains_of(object);
  if (!inline_registration_make_room(chains)) return false;
  inline_registration_enter(chains, registration);
  chains->count++;
  kvo_object_set_observation_word(object, kvo_observers_of(registration) | KVO_OBSERVERS_INLINE);
  return true;
}

void kvo_inline_registration_unlist_locked(kvo_registration *registration) {
  chains *chains = chains_of(registration->object);
  kvo_registration **link = inline_registration_bucket(chains, registration->object);
  while (*link != registration) link = &(*link)->next_inline;
  *link = registration->next_inline;
  registration->next_inline = NULL;
  chains->count--;
}

void kvo_inline_registration_remove_locked(kvo_object *object, kvo_registration *registration) {
  kvo_inline_registration_unlist_locked(registration);
  kvo_object_set_observation_word(object, 0);
}

kvo_registration *kvo_inline_registration_find_locked(const kvo_object *address) {
  const chains *chains = chains_of(address);
  kvo_registration *found = chains->buckets ? *inline_registration_bucket(chains, address) : NULL;
  while (found && found->object != address) found = found->next_inline;
  return found;
}

void kvo_inline_registration_visit_locked(size_t lock,
    void (*visit)(void *context, kvo_object *object), void *context) {
  const chains *chains = &all[lock];
  for (uint32_t i = 0; chains->buckets && i <= chains->mask; i++)
    for (kvo_registration *one = chains->buckets[i]; one; one = one->next_inline)
      visit(context, one->object);
}
