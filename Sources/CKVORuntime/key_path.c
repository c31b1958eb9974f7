// Key paths, interned by their text, as calls are by their encodings (call.c): `paths` maps the
// interned text to the parsed path, read without a lock, written under the path lock. A path that
// another thread made meanwhile is given up. Only what parses is kept.
#include "kvo_key_path.h"

#include "kvo_class.h"
#include "kvo_fail.h"
#include "kvo_intern.h"
#include "kvo_lock.h"
#include "kvo_map.h"
#include "kvo_memory.h"

#include <string.h>

static kvo_map paths;

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

// What is being parsed, and for whom.
typedef struct {
  const char *text;
  const kvo_class *cls;
  kvo_error *error;
} request;

// " of Account", or nothing.
static const char *of(const request *request) { return request->cls ? " of " : ""; }

static const char *owner(const request *request) {
  return request->cls ? kvo_class_name(request->cls) : "";
}

static kvo_status no_memory(const request *request) {
  return kvo_fail(request->error, KVO_NO_MEMORY, owner(request), request->text,
      "No memory for the key path \"%s\"%s%s.", request->text, of(request), owner(request));
}

static kvo_status empty(const request *request) {
  return kvo_fail(request->error, KVO_INVALID_KEY_PATH, owner(request), request->text,
      *request->text ? "The key path \"%s\"%s%s has an empty component."
                     : "The key path \"%s\"%s%s is empty.",
      request->text, of(request), owner(request));
}

static kvo_status unknown(const request *request, const char *component) {
  kvo_fail(request->error, KVO_INVALID_OPERATOR, owner(request), request->text,
      "The key path \"%s\"%s%s has the unknown operator \"%s\".", request->text, of(request),
      owner(request), component);
  kvo_fail_component(request->error, "", component);
  return KVO_INVALID_OPERATOR;
}

static kvo_status incomplete(const request *request, const char *name) {
  kvo_fail(request->error, KVO_INVALID_OPERATOR, owner(request), request->text,
      "The operator \"@%s\" in the key path \"%s\"%s%s needs a key path behind it, such as "
      "\"self\".",
      name, request->text, of(request), owner(request));
  kvo_fail_component(request->error, "@", name);
  return KVO_INVALID_OPERATOR;
}

static kvo_operator operator_named(const char *name) {
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
    if (!strcmp(operators[i].name, name)) return operators[i].op;
  return KVO_OP_NONE;
}

static kvo_status read_component(const request *request, const char *text,
    kvo_component *component) {
  if (!*text) return empty(request);
  bool is_operator = *text == '@';
  component->op = is_operator            ? operator_named(text + 1)
                  : strcmp(text, "self") ? KVO_OP_NONE
                                         : KVO_OP_SELF;
  if (is_operator && !component->op) return unknown(request, text);
  component->key = kvo_key_intern(text + is_operator);
  return component->key ? KVO_OK : no_memory(request);
}

static size_t count_components(const char *text) {
  size_t count = 1;
  while ((text = strchr(text, '.'))) count++, text++;
  return count;
}

// Everything is read, so that it is well-formed; what follows `@count` is not kept.
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
  return is_complete ? KVO_OK : incomplete(request, last->key);
}

static kvo_key_path *make(const request *request) {
  size_t count = count_components(request->text);
  kvo_key_path *path = kvo_alloc_zeroed(sizeof *path + count * sizeof *path->components);
  char *copy = kvo_alloc_string(request->text);
  kvo_status status = path && copy ? read_components(request, copy, path) : no_memory(request);
  if (!status && !(path->text = kvo_key_intern(request->text))) status = no_memory(request);
  kvo_free(copy);
  if (!status) return path;
  kvo_free(path);
  return NULL;
}

// Gives the path that is kept, which may be another thread's; NULL if memory is out.
static const kvo_key_path *keep(kvo_key_path *made) {
  KVO_LOCKED(&kvo_path_lock);
  kvo_key_path *kept = kvo_map_get(&paths, made->text);
  if (!kept && kvo_map_set_locked(&paths, made->text, made)) kept = made;
  if (kept != made) kvo_free(made);
  return kept;
}

const kvo_key_path *kvo_key_path_parse(const char *text, const kvo_class *cls, kvo_error *error) {
  const char *interned = kvo_key_find(text);
  const kvo_key_path *known = interned ? kvo_map_get(&paths, interned) : NULL;
  if (known) return known;
  request request = {text, cls, error};
  kvo_key_path *made = make(&request);
  if (!made) return NULL;
  const kvo_key_path *kept = keep(made);
  if (!kept) no_memory(&request);
  return kept;
}
