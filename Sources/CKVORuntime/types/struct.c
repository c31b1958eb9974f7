// Struct types: made from normalised encodings, interned by them, never freed.
//
// A struct type knows its members. So equality ignores padding, which is not passed on reliably, and values own the
// strings and objects inside. `types` maps the interned encoding to the type; it is read without a lock, and written
// under the struct lock. A type is made before the lock is taken, because its members may be structs as well. If two
// threads make the same type, the second one's is freed.
#include "types/kvo_type.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_map.h"
#include "base/kvo_memory.h"
#include "types/kvo_encoding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static kvo_map types;

static const kvo_struct_type *struct_of(const kvo_type *type) {
  return (const kvo_struct_type *)type;
}

static const void *struct_type_element(const kvo_struct_member *member, const void *value,
    size_t index) {
  return (const char *)value + member->offset + index * member->type->size;
}

// MARK: Members

typedef struct {
  const kvo_struct_type *type;
  void *value;
  size_t member, element;         // the next to be destroyed
  size_t end_member, end_element; // the first that is not
} destruction;

static size_t elements_to_destroy(const destruction *rest) {
  if (rest->member > rest->end_member) return 0;
  return rest->member < rest->end_member ? rest->type->members[rest->member].count
                                         : rest->end_element;
}

// Called again if an object that dies throws: each element is passed before it is destroyed.
static void destroy_rest(void *opaque) {
  destruction *rest = opaque;
  for (; rest->member < rest->type->member_count; rest->member++, rest->element = 0) {
    const kvo_struct_member *member = &rest->type->members[rest->member];
    while (member->type->destroy && rest->element < elements_to_destroy(rest)) {
      size_t index = rest->element++;
      member->type->destroy(member->type,
          (void *)(uintptr_t)struct_type_element(member, rest->value, index));
    }
  }
}

// Destroys the elements before one of a member, and all members before that.
static void destroy_before(const kvo_struct_type *type, void *value, size_t member,
    size_t element) {
  destruction all = {.type = type, .value = value, .end_member = member, .end_element = element};
  kvo_until_done(destroy_rest, &all);
}

// Returns the number of elements that were copied: all, or those before the first that failed.
static size_t copy_elements(const kvo_struct_member *member, void *target, const void *source) {
  for (size_t i = 0; member->type->copy && i < member->count; i++) {
    void *storage = (void *)(uintptr_t)struct_type_element(member, target, i);
    if (!kvo_type_copy(member->type, storage, struct_type_element(member, source, i))) return i;
  }
  return member->count;
}

bool kvo_struct_copy(const kvo_struct_type *type, void *target, const void *source) {
  if (target != source) memcpy(target, source, type->type.size);
  for (size_t i = 0; i < type->member_count; i++) {
    size_t copied = copy_elements(&type->members[i], target, source);
    if (copied == type->members[i].count) continue;
    destroy_before(type, target, i, copied);
    return false;
  }
  return true;
}

// For callers of `copy`, which can't report errors: without memory the value is all zeros, which own nothing.
static void copy_struct(const kvo_type *type, void *target, const void *source) {
  if (!kvo_struct_copy(struct_of(type), target, source)) memset(target, 0, type->size);
}

static void destroy_struct(const kvo_type *type, void *value) {
  destroy_before(struct_of(type), value, struct_of(type)->member_count, 0);
}

static bool equal_struct(const kvo_type *type, const void *a, const void *b) {
  const kvo_struct_type *whole = struct_of(type);
  for (size_t i = 0; i < whole->member_count; i++) {
    const kvo_struct_member *member = &whole->members[i];
    for (size_t j = 0; j < member->count; j++)
      if (!member->type->equal(member->type, struct_type_element(member, a, j),
              struct_type_element(member, b, j)))
        return false;
  }
  return true;
}

// MARK: Describing

// Text output that is cut at the end of the buffer, while its full length is counted.
typedef struct {
  char *buffer;
  size_t capacity;
  size_t length;
} output;

static char *struct_type_rest_of_buffer(const output *out, size_t *capacity) {
  size_t used = out->length < out->capacity ? out->length : out->capacity;
  *capacity = out->capacity - used;
  return used ? out->buffer + used : out->buffer;
}

__attribute__((format(printf, 2, 3))) static void struct_type_print(output *out, const char *format,
    ...) {
  size_t capacity;
  char *target = struct_type_rest_of_buffer(out, &capacity);
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(target, capacity, format, arguments);
  va_end(arguments);
  if (length > 0) out->length += (size_t)length;
}

static void print_member(output *out, const kvo_struct_member *member, const void *value) {
  if (member->count > 1) struct_type_print(out, "[");
  for (size_t i = 0; i < member->count; i++) {
    if (i) struct_type_print(out, ", ");
    size_t capacity;
    char *target = struct_type_rest_of_buffer(out, &capacity);
    out->length += member->type->describe(member->type, struct_type_element(member, value, i),
        target, capacity);
  }
  if (member->count > 1) struct_type_print(out, "]");
}

static size_t describe_struct(const kvo_type *type, const void *value, char *buffer,
    size_t capacity) {
  const kvo_struct_type *whole = struct_of(type);
  output out = {buffer, capacity, 0};
  struct_type_print(&out, "%.*s{", (int)strcspn(type->encoding + 1, "="), type->encoding + 1);
  for (size_t i = 0; i < whole->member_count; i++) {
    if (i) struct_type_print(&out, ", ");
    print_member(&out, &whole->members[i], value);
  }
  struct_type_print(&out, "}");
  return out.length;
}

// MARK: Making

// The encoding was read before, so reading it again can't fail.
static kvo_encoding_reader members_of(const char *encoding) {
  kvo_encoding_reader reader = kvo_encoding_start(encoding, NULL, NULL);
  kvo_encoding_enter_struct(&reader);
  return reader;
}

static size_t count_members(const char *encoding) {
  kvo_encoding_reader reader = members_of(encoding);
  kvo_encoding_item item;
  size_t count = 0;
  while (!kvo_encoding_next_member(&reader, &item) && item.kind) count++;
  return count;
}

static bool add_members(kvo_struct_type *type, kvo_error *error) {
  kvo_encoding_reader reader = members_of(type->type.encoding);
  kvo_encoding_item whole = {.alignment = 1}, item;
  while (!kvo_encoding_next_member(&reader, &item) && item.kind) {
    const kvo_type *element = kvo_type_for_normal(item.kind, item.text, item.length, error);
    if (!element) return false;
    size_t offset = kvo_encoding_add_member(&whole, &item);
    type->members[type->member_count++] = (kvo_struct_member){element, offset, item.count};
    if (element->copy) type->type.copy = copy_struct, type->type.destroy = destroy_struct;
  }
  kvo_encoding_close_struct(&whole);
  type->type.size = whole.size;
  type->type.alignment = whole.alignment;
  type->shape = kvo_struct_shape(type);
  return true;
}

static const kvo_type *struct_type_no_memory(const char *text, kvo_error *error) {
  kvo_fail(error, KVO_NO_MEMORY, NULL, NULL, "no memory for the type \"%.100s\"", text);
  return NULL;
}

static kvo_struct_type *struct_type_make(const char *encoding, kvo_error *error) {
  size_t count = count_members(encoding);
  kvo_struct_type *type = kvo_alloc_zeroed(sizeof *type + count * sizeof *type->members);
  if (!type) {
    struct_type_no_memory(encoding, error);
    return NULL;
  }
  type->type.encoding = encoding;
  type->type.kind = KVO_KIND_STRUCT;
  type->type.equal = equal_struct;
  type->type.describe = describe_struct;
  if (add_members(type, error)) return type;
  kvo_free(type);
  return NULL;
}

// Returns the stored type, which may be another thread's; NULL if out of memory.
static const kvo_type *struct_type_keep(kvo_struct_type *made) {
  KVO_LOCKED(&kvo_struct_lock);
  kvo_struct_type *kept = kvo_map_get(&types, made->type.encoding);
  if (!kept && kvo_map_set_locked(&types, made->type.encoding, made)) kept = made;
  if (kept != made) kvo_free(made);
  return kept ? &kept->type : NULL;
}

static const char *struct_type_intern(const char *text, size_t length) {
  char *copy = kvo_alloc(length + 1);
  if (!copy) return NULL;
  memcpy(copy, text, length);
  copy[length] = 0;
  const char *interned = kvo_key_intern(copy);
  kvo_free(copy);
  return interned;
}

const kvo_type *kvo_struct_type_for_normal(const char *text, size_t length, kvo_error *error) {
  const char *encoding = struct_type_intern(text, length);
  if (!encoding) return struct_type_no_memory(text, error);
  kvo_struct_type *type = kvo_map_get(&types, encoding);
  if (type) return &type->type;
  type = struct_type_make(encoding, error);
  if (!type) return NULL;
  const kvo_type *kept = struct_type_keep(type);
  return kept ? kept : struct_type_no_memory(text, error);
}
