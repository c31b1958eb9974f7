// The search for collection accessors: by selector and shape.
//
// One table lists the selectors and, in a letter for the result and for each argument, what their
// methods must look like; a method of another shape is none of them. All of a key's are searched at
// once: most keys have none, which shows soon, as nothing was ever named so.
#include "kvo_collection_accessors.h"

#include "kvo_intern.h"
#include "kvo_memory.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  size_t offset; // in kvo_collection_accessors
  const char *prefix;
  const char *suffix;
  const char *shape; // n integer, e element, m member or truth, o object, p pointer, v any simple
} form;

#define FORM(member, prefix, suffix, shape) \
  {offsetof(kvo_collection_accessors, member), prefix, suffix, shape}

static const form forms[] = {
    FORM(read.count, "countOf", "", "n"),
    FORM(read.object, "objectIn", "AtIndex:", "en"),
    FORM(read.range, "get", ":range:", "vpnn"),
    FORM(read.index, "indexIn", "OfObject:", "ne"),
    FORM(read.enumerator, "enumeratorOf", "", "o"),
    FORM(read.member, "memberOf", ":", "me"),
    FORM(ordered.insert, "insertObject:in", "AtIndex:", "ven"),
    FORM(ordered.insert_many, "insert", ":atIndexes:", "vop"),
    FORM(ordered.remove, "removeObjectFrom", "AtIndex:", "vn"),
    FORM(ordered.remove_many, "remove", "AtIndexes:", "vp"),
    FORM(ordered.replace, "replaceObjectIn", "AtIndex:withObject:", "vne"),
    FORM(set.add, "add", "Object:", "ve"),
    FORM(set.add_many, "add", ":", "vo"),
    FORM(set.remove, "remove", "Object:", "ve"),
    FORM(set.remove_many, "remove", ":", "vo"),
    FORM(set.intersect, "intersect", ":", "vo"),
};

static bool is_integer(const kvo_type *type) {
  return type->kind >= KVO_KIND_INT8 && type->kind <= KVO_KIND_UINT64;
}

// A result that says whether there is a member: a truth, or the member, which can be nil.
static bool tells_member(const kvo_type *type) {
  return type->kind == KVO_KIND_BOOL || is_integer(type) || type->kind == KVO_KIND_OBJECT ||
         type->kind == KVO_KIND_STRING || type->kind == KVO_KIND_POINTER;
}

static bool fits(const kvo_type *type, char letter) {
  switch (letter) {
  case 'n': return is_integer(type);
  case 'm': return tells_member(type);
  case 'o': return type->kind == KVO_KIND_OBJECT;
  case 'p': return type->kind == KVO_KIND_POINTER;
  case 'e': return type->kind != KVO_KIND_VOID;
  default: return type->kind != KVO_KIND_STRUCT;
  }
}

static bool has_shape(const kvo_method *method, const char *shape) {
  const kvo_call *call = method ? method->call : NULL;
  if (!call || call->argument_count != strlen(shape) + 1 || !fits(call->result, *shape))
    return false;
  for (uint32_t i = 2; i < call->argument_count; i++)
    if (!fits(call->arguments[i], shape[i - 1])) return false;
  return true;
}

static const kvo_method *find(const kvo_class *cls, const char *selector, const char *shape) {
  const kvo_method *method = selector ? kvo_class_find_method(cls, selector) : NULL;
  return has_shape(method, shape) ? method : NULL;
}

// replace<Key>AtIndexes:with<Key>:, which has the key twice.
static const kvo_method *find_replace_many(const kvo_class *cls, const char *key) {
  char suffix[KVO_SELECTOR_LIMIT];
  int length = snprintf(suffix, sizeof suffix, "AtIndexes:with%s:", key);
  if (length < 0 || (size_t)length >= sizeof suffix) return NULL;
  char *first = suffix + strlen("AtIndexes:with");
  if (*first >= 'a' && *first <= 'z') *first = (char)(*first - 'a' + 'A');
  return find(cls, kvo_accessor_name("replace", key, true, suffix), "vpo");
}

static void search(kvo_collection_accessors *found, const kvo_class *cls, const char *key) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const char *selector = kvo_accessor_name(forms[i].prefix, key, true, forms[i].suffix);
    const kvo_method *method = find(cls, selector, forms[i].shape);
    memcpy((char *)found + forms[i].offset, &method, sizeof method);
  }
  found->read.objects = find(cls, kvo_accessor_name("", key, false, "AtIndexes:"), "op");
  found->ordered.replace_many = find_replace_many(cls, key);
}

// As what the key reads: an ordered set, an array, a set, in this order.
static kvo_collection_kind kind_of(const kvo_collection_accessors *found) {
  if (!found->read.count) return 0;
  if (found->read.object || found->read.objects)
    return found->read.index ? KVO_ORDERED_SET : KVO_ARRAY;
  return found->read.enumerator && found->read.member ? KVO_SET : 0;
}

static void conclude(kvo_collection_accessors *found) {
  found->kind = kind_of(found);
  found->mutates_ordered = (found->ordered.insert || found->ordered.insert_many) &&
                           (found->ordered.remove || found->ordered.remove_many);
  found->mutates_set =
      (found->set.add || found->set.add_many) && (found->set.remove || found->set.remove_many);
  found->element_type = found->read.object ? found->read.object->call->result : NULL;
}

kvo_status kvo_collection_accessors_find(const kvo_class *cls, const char *key,
    kvo_collection_accessors **found) {
  kvo_collection_accessors result = {0};
  *found = NULL;
  search(&result, cls, key);
  conclude(&result);
  if (!result.kind && !result.mutates_ordered && !result.mutates_set) return KVO_OK;
  result.key = kvo_key_intern(key);
  *found = result.key ? kvo_alloc(sizeof result) : NULL;
  if (!*found) return KVO_NO_MEMORY;
  **found = result;
  return KVO_OK;
}
