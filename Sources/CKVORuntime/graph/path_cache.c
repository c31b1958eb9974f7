// Path caches: from which places a tracked key path of stored properties was read.
//
// Such a path reads one property of each object along it, so where it leads depends only on the references stored
// there. Therefore it can be seen from memory whether a new reading would read the same properties. For each property
// but the last, a path cache has the address where it is stored and the reference that was found there. While all
// addresses hold the same references, a change of the last property needs no tracking. The path's observer is
// notified by single_recipient.c, or by general_delivery.c without reading the path again.
//
// A path cache is always checked against the current objects; it does not depend on the reading that built it. The
// caller retains the first object, and each reference that is still in its place keeps the next one. Only a thread
// that sets a property of the path checks the cache; it reads the addresses without a lock, as the getters do. The path
// cache holds the memory of the objects, so that an address can be read even if it holds no property any more. A class
// may declare other keys for properties of the path, so a path cache is valid only while none of its classes has
// changed.
#include "graph/kvo_path_cache.h"

#include "base/kvo_memory.h"

static bool reads_form_path(const kvo_dependent_key *dependent_key, const kvo_reads *reads) {
  const kvo_last_reads *sequence = reads->sequence;
  if (!sequence || !sequence->count || sequence->count != reads->path_length) return false;
  for (size_t i = 0; i < sequence->count; i++)
    if (!sequence->reads[i].storage) return false;
  return sequence->reads[0].object == dependent_key->object;
}

static uint32_t generation_of(const kvo_class *cls) {
  return __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
}

static kvo_path_cache_step make_step(const kvo_read *read) {
  const kvo_class *cls = kvo_class_of(read->object);
  read->operations->unowned_retain(read->object);
  return (kvo_path_cache_step){.storage = read->storage,
      .object = read->object,
      .operations = read->operations,
      .cls = cls,
      .generation = generation_of(cls)};
}

static kvo_path_cache *path_cache_make(const kvo_dependent_key *dependent_key,
    const kvo_reads *reads) {
  const kvo_last_reads *sequence = reads->sequence;
  kvo_path_cache *cache = kvo_alloc(sizeof *cache + sequence->count * sizeof *cache->steps);
  if (!cache) return NULL;
  *cache = (kvo_path_cache){
      .references = 1, .count = (uint32_t)sequence->count, .accessors = dependent_key->accessors};
  for (size_t i = 0; i < sequence->count; i++) {
    cache->steps[i] = make_step(&sequence->reads[i]);
    if (i)
      cache->steps[i - 1].reference =
          (uintptr_t)sequence->reads[i].object - (uintptr_t)reads->reference_offset;
  }
  return cache;
}

// NULL if out of memory or a class has changed since the reading began: then the path is read again after each
// change.
kvo_path_cache *kvo_path_cache_make(const kvo_dependent_key *dependent_key,
    const kvo_reads *reads) {
  // Without memory for a cache the path is read again, so the shortage does not count.
  uint64_t shortages = kvo_shortages;
  kvo_path_cache *cache =
      reads_form_path(dependent_key, reads) ? path_cache_make(dependent_key, reads) : NULL;
  kvo_shortages = shortages;
  if (reads->epoch == kvo_classes_now()) return cache;
  kvo_path_cache_release(cache);
  return NULL;
}

kvo_path_cache *kvo_path_cache_retain(kvo_path_cache *cache) {
  __atomic_fetch_add(&cache->references, 1, __ATOMIC_RELAXED);
  return cache;
}

void kvo_path_cache_release(kvo_path_cache *cache) {
  if (!cache || __atomic_sub_fetch(&cache->references, 1, __ATOMIC_ACQ_REL)) return;
  for (uint32_t i = 0; i < cache->count; i++)
    cache->steps[i].operations->unowned_release(cache->steps[i].object);
  kvo_free(cache);
}

// Makes the cache valid for the classes as they are now, unless one has changed since `epoch`.
void kvo_path_cache_renew(kvo_path_cache *cache, uint64_t epoch) {
  for (uint32_t i = 0; i < cache->count; i++) {
    kvo_path_cache_step *step = &cache->steps[i];
    uint32_t generation = generation_of(step->cls);
    if (epoch != kvo_classes_now()) return;
    __atomic_store_n(&step->generation, generation, __ATOMIC_RELEASE);
  }
}

static bool path_cache_class_is_unchanged(const kvo_path_cache_step *step) {
  return __atomic_load_n(&step->generation, __ATOMIC_ACQUIRE) == generation_of(step->cls);
}

static bool path_cache_reference_is_unchanged(const kvo_path_cache_step *step) {
  return __atomic_load_n(step->storage, __ATOMIC_RELAXED) == step->reference;
}

bool kvo_path_cache_is_current(const kvo_path_cache *cache) {
  for (uint32_t i = 0; i < cache->count; i++) {
    const kvo_path_cache_step *step = &cache->steps[i];
    if (!path_cache_class_is_unchanged(step) ||
        (i + 1 < cache->count && !path_cache_reference_is_unchanged(step)))
      return false;
  }
  return true;
}
