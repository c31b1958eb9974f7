// Maps a binding's token and a type to the key that the token denotes for objects of the type, so that observing it
// again needs no other look-up.
//
// A token has an entry for each type that it was used with. Entries are only added, under the class lock, and never
// freed: the number of tokens is limited by the program's text. An entry is valid until the class changes. A thread
// notes the class's change count before it looks a key up. So a result from before a change is not stored after it.
#include "base/kvo_lock.h"
#include "base/kvo_map.h"
#include "base/kvo_memory.h"
#include "coding/kvo_accessor_search.h"

typedef struct named_key {
  const struct named_key *next; // the entry of the same token for another type
  const void *type;
  const kvo_accessors *accessors; // atomic
} named_key;

static kvo_map by_token;

static const named_key *token_find(const void *token, const void *type) {
  const named_key *named = kvo_map_get(&by_token, token);
  while (named && named->type != type) named = named->next;
  return named;
}

const kvo_accessors *kvo_token_accessors(const void *token, const void *type) {
  const named_key *named = token_find(token, type);
  if (KVO_UNLIKELY(!named)) return NULL;
  const kvo_accessors *known = __atomic_load_n(&named->accessors, __ATOMIC_ACQUIRE);
  bool is_fresh = known->generation == __atomic_load_n(&known->cls->generation, __ATOMIC_ACQUIRE);
  return KVO_LIKELY(is_fresh) ? known : NULL;
}

uint32_t kvo_class_changes(const kvo_object *object) {
  return __atomic_load_n(&kvo_class_of(object)->generation, __ATOMIC_ACQUIRE);
}

// Without memory the entry is not stored, and the key is looked up again next time.
static void token_add_locked(const void *token, const void *type, const kvo_accessors *accessors) {
  named_key *made = kvo_alloc(sizeof *made);
  if (!made) return;
  *made = (named_key){kvo_map_get(&by_token, token), type, accessors};
  if (!kvo_map_set_locked(&by_token, token, made)) kvo_free(made);
}

void kvo_remember_token(const kvo_object *object, const void *type, const void *token,
    const char *key, uint32_t changes) {
  const kvo_accessors *known = kvo_class_known_accessors(kvo_class_of(object), key);
  bool is_ready = known && __atomic_load_n(&known->is_ready, __ATOMIC_ACQUIRE);
  if (!is_ready || known->generation != changes) return;
  KVO_LOCKED(&kvo_class_lock);
  named_key *named = (named_key *)(uintptr_t)token_find(token, type);
  if (named) __atomic_store_n(&named->accessors, known, __ATOMIC_RELEASE);
  else token_add_locked(token, type, known);
}
