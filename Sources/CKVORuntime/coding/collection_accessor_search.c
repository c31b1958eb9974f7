// The search for collection accessors: by selector and shape (B1, B9).
//
// A table lists the selectors of the reading accessors. A letter for the result and for each argument describes the
// shape of the method; a method of another shape does not count. accessor_kind.c lists the methods that change the
// key. All accessors of a key are searched for at once. Most keys have none, which shows quickly because no method
// was ever named so.
#include "coding/kvo_collection_accessors.h"

#include "base/kvo_intern.h"
#include "base/kvo_memory.h"
#include "classes/kvo_accessor_kind.h"

#include <string.h>

typedef struct {
  size_t offset; // in kvo_collection_accessors
  const char *prefix;
  const char *suffix;
  const char *
      shape; // n integer, e element, m member or truth, o object, p pointer, v anything, which is dropped
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
};

static bool is_integer(const kvo_type *type) {
  return type->kind >= KVO_KIND_INT8 && type->kind <= KVO_KIND_UINT64;
}

// Whether a result can show if there is a member: a truth value, or the member itself, which can be nil.
static bool can_answer_membership(const kvo_type *type) {
  return type->kind == KVO_KIND_BOOL || is_integer(type) || type->kind == KVO_KIND_OBJECT ||
         type->kind == KVO_KIND_STRING || type->kind == KVO_KIND_POINTER;
}

static bool collection_search_fits(const kvo_type *type, char letter) {
  switch (letter) {
  case 'n': return is_integer(type);
  case 'm': return can_answer_membership(type);
  case 'o': return type->kind == KVO_KIND_OBJECT;
  case 'p': return type->kind == KVO_KIND_POINTER;
  case 'e': return type->kind != KVO_KIND_VOID;
  default: return true;
  }
}

static bool collection_search_has_shape(const kvo_method *method, const char *shape) {
  const kvo_call *call = method ? method->call : NULL;
  if (!call || call->argument_count != strlen(shape) + 1 ||
      !collection_search_fits(call->result, *shape))
    return false;
  for (uint32_t i = 2; i < call->argument_count; i++)
    if (!collection_search_fits(call->arguments[i], shape[i - 1])) return false;
  return true;
}

static const kvo_method *collection_search_find(const kvo_class *cls, const char *selector,
    const char *shape) {
  const kvo_method *method = selector ? kvo_class_find_method(cls, selector) : NULL;
  return collection_search_has_shape(method, shape) ? method : NULL;
}

// The offset of the field for each kind of method that changes the key.
#define FIELD(member) offsetof(kvo_collection_accessors, member)
static const size_t mutating_fields[] = {
    [KVO_ACCESSOR_INSERT] = FIELD(ordered.insert.one),
    [KVO_ACCESSOR_INSERT_MANY] = FIELD(ordered.insert.many),
    [KVO_ACCESSOR_REMOVE] = FIELD(ordered.remove.one),
    [KVO_ACCESSOR_REMOVE_MANY] = FIELD(ordered.remove.many),
    [KVO_ACCESSOR_REPLACE] = FIELD(ordered.replace.one),
    [KVO_ACCESSOR_REPLACE_MANY] = FIELD(ordered.replace.many),
    [KVO_ACCESSOR_ADD] = FIELD(set.add.one),
    [KVO_ACCESSOR_ADD_MANY] = FIELD(set.add.many),
    [KVO_ACCESSOR_DROP] = FIELD(set.remove.one),
    [KVO_ACCESSOR_DROP_MANY] = FIELD(set.remove.many),
    [KVO_ACCESSOR_INTERSECT] = FIELD(set.intersect),
};

static void search_mutating(kvo_collection_accessors *found, const kvo_class *cls,
    const char *key) {
  char name[KVO_SELECTOR_LIMIT];
  for (size_t i = 0; kvo_accessor_kind_selector(i, key, name, sizeof name); i++) {
    const char *selector = kvo_key_find(name);
    const kvo_method *method = selector ? kvo_class_find_method(cls, selector) : NULL;
    if (method && method->accessor_kind > KVO_ACCESSOR_SET)
      memcpy((char *)found + mutating_fields[method->accessor_kind], &method, sizeof method);
  }
}

static void collection_search_run(kvo_collection_accessors *found, const kvo_class *cls,
    const char *key) {
  for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
    const char *selector = kvo_accessor_name(forms[i].prefix, key, true, forms[i].suffix);
    const kvo_method *method = collection_search_find(cls, selector, forms[i].shape);
    memcpy((char *)found + forms[i].offset, &method, sizeof method);
  }
  found->read.objects =
      collection_search_find(cls, kvo_accessor_name("", key, false, "AtIndexes:"), "op");
  search_mutating(found, cls, key);
}

// The kind of collection that the key reads as: an ordered set, an array or a set, tried in this order.
static kvo_collection_kind collection_search_kind_of(const kvo_collection_accessors *found) {
  if (!found->read.count) return 0;
  if (found->read.object || found->read.objects)
    return found->read.index ? KVO_ORDERED_SET : KVO_ARRAY;
  return found->read.enumerator && found->read.member ? KVO_SET : 0;
}

static bool has_any(kvo_method_pair pair) { return pair.one || pair.many; }

static void collection_search_conclude(kvo_collection_accessors *found) {
  found->kind = collection_search_kind_of(found);
  found->mutates_ordered = has_any(found->ordered.insert) && has_any(found->ordered.remove);
  found->mutates_set = has_any(found->set.add) && has_any(found->set.remove);
  found->element_type = found->read.object ? found->read.object->call->result : NULL;
}

kvo_status kvo_collection_accessors_find(const kvo_class *cls, const char *key,
    kvo_collection_accessors **found) {
  kvo_collection_accessors result = {0};
  *found = NULL;
  collection_search_run(&result, cls, key);
  collection_search_conclude(&result);
  if (!result.kind && !result.mutates_ordered && !result.mutates_set) return KVO_OK;
  result.key = kvo_key_intern(key);
  *found = result.key ? kvo_alloc(sizeof result) : NULL;
  if (!*found) return KVO_NO_MEMORY;
  **found = result;
  return KVO_OK;
}
