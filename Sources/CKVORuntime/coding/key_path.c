// Key paths: parsing, keeping and finding them (B5, B6).
//
// Texts may come from outside the program, in any number. So each path is a separate block of memory, and is freed
// when it is no longer referenced.
//
// | path | lifetime | found |
// |---|---|---|
// | named by classes, and the first read whose keys are known | permanent | in `kept`, by the interned text, without a lock |
// | of one key whose text would be parsed as another path | permanent | in `undivided`, by the interned text, without a lock |
// | of registrations | while a registration holds it | in `held`, a table by text, under the path lock |
// | other paths that are read | the duration of the call | not |
// | of a single known key | the duration of the call, on the caller's stack | not |
//
// A text has at most one path among the first two. If a held path becomes permanent, it moves. The registration of a
// single key needs no path after the call.
#include "coding/kvo_key_path.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_map.h"
#include "base/kvo_memory.h"
#include "kvo_class.h"

#include <stdio.h>
#include <string.h>

static kvo_map kept, undivided;
static uint32_t kept_count; // the number of permanent paths that were read; atomic

static const struct {
  const char *name;
  kvo_operator op;
} operators[] = {
    {"count", KVO_OP_COUNT},
    {"sum", KVO_OP_SUM},
    {"avg", KVO_OP_AVG},
    {"min", KVO_OP_MIN},
    {"max", KVO_OP_MAX},
    {"unionOfObjects", KVO_OP_UNION_OF_OBJECTS},
    {"distinctUnionOfObjects", KVO_OP_DISTINCT_UNION_OF_OBJECTS},
    {"unionOfArrays", KVO_OP_UNION_OF_ARRAYS},
    {"distinctUnionOfArrays", KVO_OP_DISTINCT_UNION_OF_ARRAYS},
    {"unionOfSets", KVO_OP_UNION_OF_SETS},
    {"distinctUnionOfSets", KVO_OP_DISTINCT_UNION_OF_SETS},
};

// A text that is being parsed, and the class for messages.
typedef struct request {
  const char *text;
  const kvo_class *cls;
  kvo_error *error;
} request;

enum { LONGEST_KEPT = 256 }; // the longest text of a read path that becomes permanent

// " of Account", or nothing.
static const char *key_path_of_class(const request *request) { return request->cls ? " of " : ""; }

static const char *key_path_class_name(const request *request) {
  return request->cls ? kvo_class_name(request->cls) : "";
}

static kvo_status key_path_no_memory(const request *request) {
  return kvo_fail(request->error, KVO_NO_MEMORY, key_path_class_name(request), request->text,
      "No memory for the key path \"%s\"%s%s.", request->text, key_path_of_class(request),
      key_path_class_name(request));
}

static kvo_status key_path_empty(const request *request) {
  return kvo_fail(request->error, KVO_INVALID_KEY_PATH, key_path_class_name(request), request->text,
      *request->text ? "The key path \"%s\"%s%s has an empty component."
                     : "The key path \"%s\"%s%s is empty.",
      request->text, key_path_of_class(request), key_path_class_name(request));
}

// "@count, @sum", and so on.
static void list_operators(char *buffer, size_t capacity) {
  size_t length = 0;
  for (size_t i = 0; i < sizeof operators / sizeof *operators && length < capacity; i++)
    length += (size_t)snprintf(buffer + length, capacity - length, "%s@%s", i ? ", " : "",
        operators[i].name);
}

static kvo_status key_path_unknown(const request *request, const char *component) {
  char known[192];
  list_operators(known, sizeof known);
  kvo_fail(request->error, KVO_INVALID_OPERATOR, key_path_class_name(request), request->text,
      "The key path \"%s\"%s%s has the unknown operator \"%s\". There are %s.", request->text,
      key_path_of_class(request), key_path_class_name(request), component, known);
  kvo_fail_component(request->error, "", component);
  return KVO_INVALID_OPERATOR;
}

static kvo_status key_path_incomplete(const request *request, const char *name) {
  kvo_fail(request->error, KVO_INVALID_OPERATOR, key_path_class_name(request), request->text,
      "The operator \"@%s\" in the key path \"%s\"%s%s needs a key path behind it, such as "
      "\"self\".",
      name, request->text, key_path_of_class(request), key_path_class_name(request));
  kvo_fail_component(request->error, "@", name);
  return KVO_INVALID_OPERATOR;
}

// The operator with a name, with a name that is never freed.
static kvo_component operator_named(const char *name) {
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (!strcmp(operators[i].name, name))
      return (kvo_component){.key = operators[i].name, .op = operators[i].op};
  return (kvo_component){.key = name};
}

bool kvo_is_operator(const char *name) { return operator_named(name).op != KVO_OP_NONE; }

static kvo_status read_component(const request *request, const char *text,
    kvo_component *component) {
  if (!*text) return key_path_empty(request);
  if (*text == '@') {
    *component = operator_named(text + 1);
    return component->op ? KVO_OK : key_path_unknown(request, text);
  }
  *component = (kvo_component){.key = text, .op = strcmp(text, "self") ? KVO_OP_NONE : KVO_OP_SELF};
  return KVO_OK;
}

static size_t count_of(const char *text, const char *sought) {
  size_t count = 0;
  for (; (text = strstr(text, sought)); text++) count++;
  return count;
}

static size_t count_components(const char *text) { return count_of(text, ".") + 1; }

// Operators, and collections that contain themselves, are read recursively. A text from outside must not overflow the
// stack.
static kvo_status check_length(const request *request) {
  size_t components = count_components(request->text);
  size_t operators = count_of(request->text, ".@") + (*request->text == '@');
  if (components <= KVO_MOST_COMPONENTS && operators <= KVO_MOST_OPERATORS) return KVO_OK;
  bool is_long = components > KVO_MOST_COMPONENTS;
  return kvo_fail(request->error, KVO_INVALID_KEY_PATH, key_path_class_name(request), request->text,
      "A key path%s%s has %zu %s, of which there can be %d: \"%s\".", key_path_of_class(request),
      key_path_class_name(request), is_long ? components : operators,
      is_long ? "components" : "operators", is_long ? KVO_MOST_COMPONENTS : KVO_MOST_OPERATORS,
      request->text);
}

// The whole text is parsed, so that errors are found. Components after `@count` are dropped.
static kvo_status read_components(const request *request, char *text, kvo_key_path *path) {
  bool has_ended = false;
  for (char *next; text; text = next) {
    if ((next = strchr(text, '.'))) *next++ = 0;
    kvo_component component;
    kvo_status status = read_component(request, text, &component);
    if (status) return status;
    if (!has_ended) path->components[path->count++] = component;
    has_ended = has_ended || component.op == KVO_OP_COUNT;
  }
  const kvo_component *last = &path->components[path->count - 1];
  bool is_complete = has_ended || !kvo_operator_is_collective(last->op);
  return is_complete ? KVO_OK : key_path_incomplete(request, last->key);
}

// MARK: Making

// Allocates in one block: the path, its text, and a second copy of the text that is cut into components.
static kvo_key_path *key_path_make_room(const request *request, size_t length, char **text) {
  size_t size = sizeof(kvo_key_path) + count_components(request->text) * sizeof(kvo_component);
  kvo_key_path *path = kvo_alloc_zeroed(size + kvo_name_size(length) + length + 1);
  if (!path) return NULL;
  char *name = (char *)path + size;
  path->references = 1;
  path->text = kvo_name_init(name, request->text, length);
  *text = memcpy(name + kvo_name_size(length), request->text, length + 1);
  return path;
}

// Replaces known keys by their interned strings, which are found faster.
static void use_known_keys(kvo_key_path *path) {
  for (uint32_t i = 0; i < path->count; i++) {
    kvo_component *component = &path->components[i];
    const char *known = component->op == KVO_OP_NONE ? kvo_key_find(component->key) : NULL;
    if (known) component->key = known;
  }
}

static void note_what_follows(kvo_key_path *path) {
  uint32_t next_key = path->count;
  bool operates = false;
  for (uint32_t i = path->count; i-- > 0;) {
    kvo_component *component = &path->components[i];
    component->next_key = next_key;
    component->operates = operates;
    if (component->op == KVO_OP_NONE) next_key = i;
    if (component->op != KVO_OP_SELF) operates = kvo_operator_is_collective(component->op);
  }
  path->first_key = next_key;
  path->operates = operates;
}

static kvo_key_path *key_path_make(const request *request) {
  char *text;
  if (check_length(request)) return NULL;
  kvo_key_path *path = key_path_make_room(request, strlen(request->text), &text);
  if (!path) {
    key_path_no_memory(request);
    return NULL;
  }
  if (!read_components(request, text, path)) {
    use_known_keys(path);
    note_what_follows(path);
    return path;
  }
  kvo_free(path);
  return NULL;
}

static void key_path_destroy(kvo_key_path *path) {
  kvo_name_end(path->text);
  kvo_free(path);
}

// MARK: Held

static kvo_key_path **held; // chains, by hash; path lock
static uint32_t held_mask, held_count;

static uint32_t key_path_hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

static kvo_key_path **key_path_store_locked(const char *text, uint32_t hash) {
  kvo_key_path **link = &held[hash & held_mask];
  while (*link && ((*link)->hash != hash || strcmp((*link)->text, text))) link = &(*link)->next;
  return link;
}

// If there is no memory for more chains, they get longer.
static bool make_lists_locked(void) {
  if (held && held_count <= held_mask) return true;
  uint32_t count = held ? (held_mask + 1) * 2 : 64;
  kvo_key_path **lists = kvo_alloc_zeroed(count * sizeof *lists);
  if (!lists) return held;
  for (uint32_t i = 0; held && i <= held_mask; i++)
    for (kvo_key_path *next, *path = held[i]; path; path = next) {
      next = path->next;
      path->next = lists[path->hash & (count - 1)];
      lists[path->hash & (count - 1)] = path;
    }
  kvo_free(held);
  held = lists;
  held_mask = count - 1;
  return true;
}

static kvo_key_path *find_held_locked(const char *text, uint32_t hash) {
  return held ? *key_path_store_locked(text, hash) : NULL;
}

const kvo_key_path *kvo_key_path_permanent(const char *text) {
  const char *interned = kvo_key_find(text);
  return interned ? kvo_map_get(&kept, interned) : NULL;
}

static const kvo_key_path *make_single(kvo_single_path *room, const char *interned) {
  room->path = (kvo_key_path){.text = interned, .is_kept = true, .count = 1};
  room->path.components[0] = (kvo_component){.key = interned, .next_key = 1};
  return &room->path;
}

const kvo_key_path *kvo_key_path_known(const char *text, kvo_single_path *room) {
  const char *interned = kvo_key_find(text);
  if (!interned) return NULL;
  return kvo_key_is_plain(interned) ? make_single(room, interned) : kvo_map_get(&kept, interned);
}

static void key_path_enter_locked(kvo_key_path *path) {
  kvo_key_path **link = &held[path->hash & held_mask];
  path->is_held = true;
  path->next = *link;
  *link = path;
  held_count++;
}

static void take_out_locked(kvo_key_path *path) {
  *key_path_store_locked(path->text, path->hash) = path->next;
  path->is_held = false;
  held_count--;
}

static const kvo_key_path *hold_locked(kvo_key_path *path) {
  if (path->is_kept) return path;
  uint32_t hash = path->is_held ? path->hash : key_path_hash_of(path->text);
  const kvo_key_path *forever = path->is_held ? NULL : kvo_key_path_permanent(path->text);
  if (forever) return forever;
  kvo_key_path *found = path->is_held ? path : find_held_locked(path->text, hash);
  if (!found && !make_lists_locked()) return NULL;
  if (!found) {
    path->hash = hash;
    key_path_enter_locked(found = path);
  }
  found->references++;
  return found;
}

const kvo_key_path *kvo_key_path_retain_slow(const kvo_key_path *path) {
  KVO_LOCKED(&kvo_path_lock);
  return hold_locked((kvo_key_path *)(uintptr_t)path);
}

const kvo_key_path *kvo_key_path_find(const char *text) {
  const kvo_key_path *forever = kvo_key_path_permanent(text);
  if (forever) return forever;
  uint32_t hash = key_path_hash_of(text);
  KVO_LOCKED(&kvo_path_lock);
  kvo_key_path *found = find_held_locked(text, hash);
  if (found) found->references++;
  return found;
}

static bool key_path_release_locked(kvo_key_path *path) {
  if (path->is_kept || --path->references) return false;
  if (path->is_held) take_out_locked(path);
  return true;
}

void kvo_key_path_free(const kvo_key_path *constant) {
  kvo_key_path *path = (kvo_key_path *)(uintptr_t)constant;
  bool is_last;
  {
    KVO_LOCKED(&kvo_path_lock);
    is_last = key_path_release_locked(path);
  }
  if (is_last) key_path_destroy(path);
}

// MARK: Kept

// Replaces the path's keys by interned strings. Paths that are held already have other readers, so they are left
// unchanged.
static bool intern_keys(kvo_key_path *path) {
  for (uint32_t i = 0; i < path->count; i++) {
    kvo_component *component = &path->components[i];
    if (component->op != KVO_OP_NONE) continue;
    const char *interned = kvo_key_intern(component->key);
    if (!interned) return false;
    component->key = interned;
  }
  return true;
}

// The permanent path of the text, new or existing; NULL if out of memory.
static kvo_key_path *key_path_keep_locked(kvo_key_path *made, const char *text) {
  kvo_key_path *known = kvo_map_get(&kept, text);
  if (known) return known;
  kvo_key_path *path = find_held_locked(text, key_path_hash_of(text));
  if (!path) path = made;
  if (!kvo_map_set_locked(&kept, text, path)) return NULL;
  if (path->is_held) take_out_locked(path);
  __atomic_store_n(&path->is_kept, true, __ATOMIC_RELEASE);
  return path;
}

// Replaces a path that was just made by the permanent one.
static const kvo_key_path *key_path_keep(kvo_key_path *made) {
  const char *text = intern_keys(made) ? kvo_key_intern(made->text) : NULL;
  if (!text) return NULL;
  kvo_key_path *path;
  {
    KVO_LOCKED(&kvo_path_lock);
    path = key_path_keep_locked(made, text);
  }
  if (path && path != made) key_path_destroy(made);
  return path;
}

const kvo_key_path *kvo_key_path_parse(const char *text, const kvo_class *cls, kvo_error *error) {
  const kvo_key_path *known = kvo_key_path_permanent(text);
  if (KVO_LIKELY(known != NULL)) return known;
  const request request = {text, cls, error};
  kvo_key_path *made = key_path_make(&request);
  if (!made) return NULL;
  const kvo_key_path *path = key_path_keep(made);
  if (path) return path;
  key_path_destroy(made);
  key_path_no_memory(&request);
  return NULL;
}

static bool is_divided(const char *text) { return !*text || *text == '@' || strchr(text, '.'); }

static const kvo_key_path *keep_undivided_locked(const char *key) {
  const kvo_key_path *known = kvo_map_get(&undivided, key);
  kvo_single_path *made = known ? NULL : kvo_alloc(sizeof *made);
  if (!made) return known;
  if (kvo_map_set_locked(&undivided, key, (void *)(uintptr_t)make_single(made, key)))
    return &made->path;
  kvo_free(made);
  return NULL;
}

const kvo_key_path *kvo_key_path_of_key(const char *key) {
  if (KVO_LIKELY(!is_divided(key))) return kvo_key_path_parse(key, NULL, NULL);
  const kvo_key_path *known = kvo_map_get(&undivided, key);
  if (known) return known;
  KVO_LOCKED(&kvo_path_lock);
  return keep_undivided_locked(key);
}

static bool are_known(const kvo_key_path *path) {
  for (uint32_t i = 0; i < path->count; i++)
    if (path->components[i].op == KVO_OP_NONE && !kvo_key_find(path->components[i].key))
      return false;
  return true;
}

static bool is_worth_keeping(const kvo_key_path *path) {
  return __atomic_load_n(&kept_count, __ATOMIC_RELAXED) < KVO_MOST_PERMANENT_PATHS &&
         strlen(path->text) <= LONGEST_KEPT && are_known(path);
}

// If there is no memory to make the path permanent, it is used for this call only.
const kvo_key_path *kvo_key_path_read(const char *text, const kvo_class *cls, kvo_error *error) {
  const request request = {text, cls, error};
  kvo_key_path *made = key_path_make(&request);
  if (!made || !is_worth_keeping(made)) return made;
  const kvo_key_path *path = key_path_keep(made);
  if (path) __atomic_add_fetch(&kept_count, 1, __ATOMIC_RELAXED);
  return path ? path : made;
}
