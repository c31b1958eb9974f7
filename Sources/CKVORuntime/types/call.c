// Calls, interned by their normalised encodings, as struct types are (struct.c). `calls` maps the interned text to
// the call. It is read without a lock, and written under the call lock. If another thread made the same call first,
// ours is freed.
#include "types/kvo_call.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_map.h"
#include "base/kvo_memory.h"
#include "types/kvo_encoding.h"
#include "types/kvo_ffi.h"
#include "types/kvo_type.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENT_LIMIT = 64 };

static kvo_map calls;

static void *call_no_memory(const char *encoding, kvo_error *error) {
  kvo_fail(error, KVO_NO_MEMORY, NULL, NULL, "no memory for methods of the encoding \"%.100s\"",
      encoding);
  return NULL;
}

// MARK: Reading

static kvo_status read_type(kvo_encoding_reader *reader, kvo_encoding_role role,
    kvo_encoding_item *item) {
  kvo_status status = kvo_encoding_read(reader, role, item);
  if (!status) kvo_encoding_skip_offset(reader);
  return status;
}

static kvo_status refuse_arguments(const char *encoding, kvo_error *error, const char *cause) {
  return kvo_fail(error, KVO_INVALID_ENCODING, NULL, NULL,
      "the encoding \"%.100s\" is not a method's: %s", encoding, cause);
}

// Checks a method's whole encoding, and writes it in normalised form.
static kvo_status call_normalise(const char *encoding, char *normal, kvo_error *error) {
  static const kvo_kind first_kinds[] = {KVO_KIND_OBJECT, KVO_KIND_SELECTOR};
  kvo_encoding_reader reader = kvo_encoding_start(encoding, normal, error);
  kvo_encoding_item item;
  size_t count = 0;
  if (read_type(&reader, KVO_ENCODING_OF_RESULT, &item)) return KVO_INVALID_ENCODING;
  for (; !kvo_encoding_at_end(&reader); count++) {
    if (read_type(&reader, KVO_ENCODING_OF_VALUE, &item)) return KVO_INVALID_ENCODING;
    if (count < 2 && item.kind != first_kinds[count]) break;
    if (count == ARGUMENT_LIMIT) return refuse_arguments(encoding, error, "too many arguments");
  }
  if (count < 2)
    return refuse_arguments(encoding, error,
        "after the result, its first two arguments must be the object and the method, \"@:\"");
  return kvo_encoding_finish(&reader);
}

// MARK: Making

// The argument types follow the call in one block.
typedef struct {
  kvo_call call;
  const kvo_type *arguments[];
} block;

static size_t count_types(const char *normal) {
  kvo_encoding_reader reader = kvo_encoding_start(normal, NULL, NULL);
  kvo_encoding_item item;
  size_t count = 0;
  for (; !kvo_encoding_at_end(&reader); count++)
    kvo_encoding_read(&reader, KVO_ENCODING_OF_RESULT, &item);
  return count;
}

static bool add_types(block *made, kvo_error *error) {
  kvo_encoding_reader reader = kvo_encoding_start(made->call.encoding, NULL, NULL);
  kvo_encoding_item item;
  while (!kvo_encoding_at_end(&reader)) {
    kvo_encoding_read(&reader, KVO_ENCODING_OF_RESULT, &item);
    const kvo_type *type = kvo_type_for_normal(item.kind, item.text, item.length, error);
    if (!type) return false;
    if (made->call.result) made->arguments[made->call.argument_count++] = type;
    else made->call.result = type;
  }
  made->call.arguments = made->arguments;
  return true;
}

static kvo_call *call_make(const char *interned, kvo_error *error) {
  block *made = kvo_alloc_zeroed(sizeof *made + count_types(interned) * sizeof *made->arguments);
  if (!made) return call_no_memory(interned, error);
  made->call.encoding = interned;
  if (add_types(made, error) && !kvo_ffi_prepare(&made->call, error)) return &made->call;
  kvo_free(made);
  return NULL;
}

// Returns the stored call, which may be another thread's; NULL if out of memory.
static const kvo_call *call_keep(kvo_call *made) {
  KVO_LOCKED(&kvo_call_lock);
  kvo_call *kept = kvo_map_get(&calls, made->encoding);
  if (!kept && kvo_map_set_locked(&calls, made->encoding, made)) kept = made;
  if (kept != made) {
    kvo_ffi_discard(made);
    kvo_free(made);
  }
  return kept;
}

static const kvo_call *call_for_normal(const char *normal, kvo_error *error) {
  const char *interned = kvo_key_intern(normal);
  if (!interned) return call_no_memory(normal, error);
  kvo_call *call = kvo_map_get(&calls, interned);
  if (call) return call;
  call = call_make(interned, error);
  if (!call) return NULL;
  const kvo_call *kept = call_keep(call);
  return kept ? kept : call_no_memory(normal, error);
}

const kvo_call *kvo_call_for_encoding(const char *encoding, kvo_error *error) {
  char *normal = kvo_alloc(strlen(encoding) + 1);
  if (!normal) return call_no_memory(encoding, error);
  bool readable = !call_normalise(encoding, normal, error);
  const kvo_call *call = readable ? call_for_normal(normal, error) : NULL;
  kvo_free(normal);
  return call;
}

// MARK: Signatures

const kvo_type *kvo_type_for_layout(kvo_layout layout, kvo_error *error) {
  const kvo_type *type = kvo_type_for_encoding(layout.encoding, error);
  if (!type || !layout.size) return type;
  if (type->size == layout.size && type->alignment == layout.alignment) return type;
  kvo_fail(error, KVO_LAYOUT_MISMATCH, NULL, NULL,
      "the encoding \"%.100s\" describes %zu bytes aligned to %zu, but the compiler's type has %zu "
      "bytes aligned to %zu; no encoding describes types that are packed or over-aligned, vectors, "
      "unions, bit-fields or __int128",
      layout.encoding, type->size, type->alignment, layout.size, layout.alignment);
  return NULL;
}

static const kvo_call *accessor_call(kvo_layout layout, const char *before, const char *after,
    kvo_error *error) {
  const kvo_type *type = kvo_type_for_layout(layout, error);
  if (!type) return NULL;
  size_t size = strlen(before) + strlen(type->encoding) + strlen(after) + 1;
  char *normal = kvo_alloc(size);
  if (!normal) return call_no_memory(type->encoding, error);
  snprintf(normal, size, "%s%s%s", before, type->encoding, after);
  const kvo_call *call = call_for_normal(normal, error);
  kvo_free(normal);
  return call;
}

const kvo_call *kvo_call_for_signature(kvo_signature signature, kvo_error *error) {
  switch (signature.form) {
  case KVO_FORM_GETTER: return accessor_call(signature.layout, "", "@:", error);
  case KVO_FORM_SETTER: return accessor_call(signature.layout, "v@:", "", error);
  case KVO_FORM_ENCODED: return kvo_call_for_encoding(signature.layout.encoding, error);
  case KVO_FORM_HOOK: break;
  }
  kvo_fail(error, KVO_INVALID_ARGUMENT, NULL, NULL, "a hook has no encoding to be called by");
  return NULL;
}
