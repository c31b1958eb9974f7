// Interned strings are in one open-addressed set, written under a lock and read without one, as in map.c: a replaced
// array is kept for its readers. A string's length, hash and binding's cookie are stored before its text. The text's
// address is what the rest of the program sees.
//
// Names of classes, methods and keys belong to the program and are never freed. Other names are stored when they are
// observed or changed manually, and only as many of them as the program allows.
#include "base/kvo_intern.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "kvo_diagnostics.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  const void *cookie;
  uint32_t hash;
  uint32_t length : 31;
  uint32_t is_key : 1; // a path of one component: no dot, no operator, not `self`
  char text[];
} interned;

typedef struct set {
  struct set *previous;
  size_t mask;
  size_t count;
  interned *entries[];
} set;

static set *strings;

// FNV-1a: fast for short keys. Nearly all names are declared by the program itself, so it is not hardened against
// attacks.
static uint32_t intern_hash_of(const char *text, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  return hash;
}

// Returns the string or NULL, and its entry or, with the lock held, the entry where it would go. Without the lock, a
// free entry must not be read again: another thread may have filled it.
static interned *intern_find(set *set, const char *text, size_t length, uint32_t hash,
    interned ***entry) {
  for (size_t i = hash & set->mask;; i = (i + 1) & set->mask) {
    interned *found = __atomic_load_n(&set->entries[i], __ATOMIC_ACQUIRE);
    *entry = &set->entries[i];
    if (!found ||
        (found->hash == hash && found->length == length && !memcmp(found->text, text, length)))
      return found;
  }
}

static interned *look_up(const char *text, size_t length, uint32_t hash) {
  set *set = __atomic_load_n(&strings, __ATOMIC_ACQUIRE);
  interned **entry;
  return set ? intern_find(set, text, length, hash, &entry) : NULL;
}

static bool make_room_locked(void) {
  set *old = strings;
  if (old && (old->count + 1) * 4 <= (old->mask + 1) * 3) return true;
  size_t capacity = old ? (old->mask + 1) * 2 : 256;
  set *new = kvo_alloc_zeroed(sizeof *new + capacity * sizeof(interned *));
  if (!new) return false;
  new->previous = old;
  new->mask = capacity - 1;
  for (size_t i = 0; old && i <= old->mask; i++) {
    interned *string = old->entries[i], **entry;
    if (!string) continue;
    intern_find(new, string->text, string->length, string->hash, &entry);
    *entry = string;
  }
  new->count = old ? old->count : 0;
  __atomic_store_n(&strings, new, __ATOMIC_RELEASE);
  return true;
}

static bool intern_is_key(const char *text) {
  return *text && !strpbrk(text, ".@") && strcmp(text, "self");
}

static interned *intern_add_locked(const char *text, size_t length, uint32_t hash) {
  if (!make_room_locked()) return NULL;
  interned **entry, *string = intern_find(strings, text, length, hash, &entry);
  if (string) return string;
  string = kvo_alloc(sizeof *string + length + 1);
  if (!string) return NULL;
  *string = (interned){NULL, hash, (uint32_t)length, intern_is_key(text)};
  memcpy(string->text, text, length + 1);
  strings->count++;
  __atomic_store_n(entry, string, __ATOMIC_RELEASE);
  return string;
}

const char *kvo_key_find(const char *key) {
  size_t length = strlen(key);
  interned *found = look_up(key, length, intern_hash_of(key, length));
  return found ? found->text : NULL;
}

const char *kvo_key_intern(const char *key) {
  size_t length = strlen(key);
  uint32_t hash = intern_hash_of(key, length);
  interned *string = look_up(key, length, hash);
  if (!string) {
    KVO_LOCKED(&kvo_intern_lock);
    string = intern_add_locked(key, length, hash);
  }
  return string ? string->text : NULL;
}

bool kvo_text_add(const char *text) {
  size_t length = strlen(text);
  uint32_t hash = intern_hash_of(text, length);
  KVO_LOCKED(&kvo_intern_lock);
  return !look_up(text, length, hash) && intern_add_locked(text, length, hash);
}

// MARK: Names from outside

static size_t name_limit = KVO_DEFAULT_NAMES; // atomic
static size_t name_count;                     // atomic, written under the intern lock

void kvo_set_name_limit(size_t limit) { __atomic_store_n(&name_limit, limit, __ATOMIC_RELAXED); }

size_t kvo_name_limit(void) { return __atomic_load_n(&name_limit, __ATOMIC_RELAXED); }

size_t kvo_name_count(void) { return __atomic_load_n(&name_count, __ATOMIC_RELAXED); }

__attribute__((constructor(101))) static void intern_read_environment(void) {
  size_t limit = KVO_DEFAULT_NAMES;
  kvo_read_number("KVO_NAMES", &limit);
  kvo_set_name_limit(limit);
}

static interned *intern_keep_locked(const char *key, size_t length, uint32_t hash, bool *is_full) {
  interned *string = look_up(key, length, hash);
  if (string) return string;
  *is_full = name_count >= kvo_name_limit();
  string = *is_full ? NULL : intern_add_locked(key, length, hash);
  if (string) __atomic_store_n(&name_count, name_count + 1, __ATOMIC_RELAXED);
  return string;
}

static interned *intern_keep(const char *key, size_t length, uint32_t hash, bool *is_full) {
  KVO_LOCKED(&kvo_intern_lock);
  return intern_keep_locked(key, length, hash, is_full);
}

const char *kvo_key_keep(const char *key, const char *class_name, kvo_error *error) {
  size_t length = strlen(key);
  uint32_t hash = intern_hash_of(key, length);
  bool is_full = false;
  interned *string = look_up(key, length, hash);
  if (!string) string = intern_keep(key, length, hash, &is_full);
  if (string) return string->text;
  if (is_full)
    kvo_fail(error, KVO_NOT_OBSERVABLE, class_name, key,
        "\"%s\" of %s can't be observed: %zu names are kept already that are not keys of a class. "
        "KVO_NAMES, kvo_set_name_limit and, in Swift, KVODiagnostics.nameLimit say how many may be.",
        key, class_name, kvo_name_count());
  else
    kvo_fail(error, KVO_NO_MEMORY, class_name, key, "No memory for the name \"%s\" of %s.", key,
        class_name);
  return NULL;
}

// MARK: Names

static interned *header_of(const char *text) {
  return (interned *)(uintptr_t)(text - offsetof(interned, text));
}

bool kvo_key_is_plain(const char *interned_key) { return header_of(interned_key)->is_key; }

size_t kvo_name_size(size_t length) { return sizeof(interned) + length + 1; }

const char *kvo_name_init(void *memory, const char *text, size_t length) {
  interned *name = memory;
  *name = (interned){NULL, 0, (uint32_t)length, false};
  return memcpy(name->text, text, length + 1);
}

static void (*cookie_end)(const void *cookie); // atomic

void kvo_set_cookie_end(void (*end)(const void *cookie)) {
  __atomic_store_n(&cookie_end, end, __ATOMIC_RELEASE);
}

void kvo_name_end(const char *name) {
  void (*end)(const void *) = __atomic_load_n(&cookie_end, __ATOMIC_ACQUIRE);
  const void *cookie = kvo_key_cookie(name);
  if (cookie && end) end(cookie);
}

const void *kvo_key_cookie(const char *interned_key) {
  return __atomic_load_n(&header_of(interned_key)->cookie, __ATOMIC_ACQUIRE);
}

const void *kvo_key_set_cookie(const char *interned_key, const void *cookie) {
  const void *expected = NULL;
  bool first = __atomic_compare_exchange_n(&header_of(interned_key)->cookie, &expected, cookie,
      false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  return first ? cookie : expected;
}

const char *kvo_accessor_name(const char *prefix, const char *key, bool capitalise,
    const char *suffix) {
  char name[KVO_SELECTOR_LIMIT];
  size_t before = strlen(prefix), length = strlen(key), after = strlen(suffix) + 1;
  if (length >= sizeof name || before + length + after > sizeof name) return NULL;
  char *first = name + before;
  memcpy(name, prefix, before);
  memcpy(first, key, length);
  memcpy(first + length, suffix, after);
  if (capitalise && *first >= 'a' && *first <= 'z') *first = (char)(*first - 'a' + 'A');
  return kvo_key_find(name);
}
