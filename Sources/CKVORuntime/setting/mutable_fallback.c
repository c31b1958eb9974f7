// Mutating a key without methods to mutate it: a new collection replaces the old one by key-value coding (a setter,
// an ivar).
//
// The new collection is made before anything is changed. Then a change is opened that names the removed and added
// elements; the setter's own change joins it. If the key can't be set, no change is opened, and key-value coding
// produces the error (or a hook of the class handles it).
#include "setting/kvo_edit.h"

#include "base/kvo_fail.h"
#include "kvo_coding.h"

// MARK: The current elements

static kvo_status refuse_kind(const kvo_edit *edit) {
  static const char *const kinds[] = {
      [KVO_ARRAY] = "array", [KVO_SET] = "set", [KVO_ORDERED_SET] = "ordered set"};
  const char *name = kvo_class_name(kvo_class_of(kvo_edit_owner(edit))), *key = edit->proxy->key;
  return kvo_fail(edit->error, KVO_TYPE_MISMATCH, name, key,
      "\"%s\" of %s holds no %s and can't be changed as one.", key, name,
      kinds[edit->proxy->collection.kind]);
}

// Reads the elements of the key's own value. Nil has no elements.
static kvo_status read_current(kvo_edit *edit, bool *is_nil) {
  kvo_value *value = &edit->value; // owned by the edit, because reading its elements may throw
  kvo_collection_kind kind = 0;
  kvo_status status = kvo_value_for_key(kvo_edit_owner(edit), edit->proxy->key, value, edit->error);
  *is_nil = kvo_value_is_nil(value);
  bool fits =
      *is_nil || (kvo_value_is_collection(value, &kind) && kind == edit->proxy->collection.kind);
  if (!status && !fits) status = refuse_kind(edit);
  kvo_elements_destroy(&edit->current);
  if (!status && !*is_nil) status = kvo_value_elements(value, NULL, &edit->current, edit->error);
  kvo_value_destroy(value);
  return status;
}

// MARK: Setting

static bool is_settable(const kvo_edit *edit) {
  const kvo_accessors *accessors = edit->accessors;
  if (!accessors || !accessors->setter) return false;
  const kvo_type *type = accessors->set_type;
  return type->kind == KVO_KIND_OBJECT || (type->operations && type->operations->collection);
}

static kvo_status fallback_set_value(const kvo_edit *edit) {
  return kvo_set_value_for_key(kvo_edit_owner(edit), edit->proxy->key, &edit->value, edit->error);
}

// Makes the new value from elements, which are consumed, in the type of the key.
static kvo_status make_value(kvo_edit *edit, kvo_elements *elements) {
  kvo_value made;
  if (kvo_value_from_elements(&made, edit->proxy->collection.kind, elements))
    return kvo_edit_no_memory(edit);
  kvo_value_destroy(&edit->value);
  edit->value = made;
  if (!is_settable(edit) || edit->accessors->set_type->kind == KVO_KIND_OBJECT) return KVO_OK;
  kvo_status status = kvo_value_convert(&edit->value, edit->accessors->set_type, &made);
  kvo_value_destroy(&made);
  return status == KVO_NO_MEMORY ? kvo_edit_no_memory(edit) : status ? refuse_kind(edit) : KVO_OK;
}

// Sets the key to the new value, in a change that names the removed and added elements.
static kvo_status fallback_replace(kvo_edit *edit) {
  kvo_frame *frame = is_settable(edit) ? kvo_edit_open(edit, 1) : NULL;
  kvo_status status = fallback_set_value(edit);
  if (frame && status) kvo_change_cancel(frame);
  else if (frame) kvo_change_close(frame);
  return status;
}

// MARK: By index

// Moves the elements from the two lists into a new one, in order.
static kvo_status fallback_insert(kvo_edit *edit, kvo_elements *elements) {
  size_t total = edit->current.count + edit->elements.count, old = 0, new = 0;
  if (!kvo_elements_reserve(elements, total)) return kvo_edit_no_memory(edit);
  for (size_t i = 0; i < total; i++) {
    bool comes = kvo_index_set_contains(edit->indexes, i);
    kvo_value *from = comes ? &edit->elements.values[new++] : &edit->current.values[old++];
    elements->values[elements->count++] = *from;
    *from = KVO_VALUE_NIL;
  }
  return KVO_OK;
}

static kvo_status remove_or_replace(kvo_edit *edit, kvo_elements *elements) {
  size_t count = edit->current.count, new = 0;
  if (!kvo_elements_reserve(elements, count)) return kvo_edit_no_memory(edit);
  for (size_t i = 0; i < count; i++) {
    bool goes = kvo_index_set_contains(edit->indexes, i);
    if (goes && edit->kind == KVO_REMOVAL) continue;
    kvo_value *from = goes ? &edit->elements.values[new++] : &edit->current.values[i];
    elements->values[elements->count++] = *from;
    *from = KVO_VALUE_NIL;
  }
  return KVO_OK;
}

// The bounds were checked against the proxy's count; the value itself must agree.
static kvo_status check_agreement(const kvo_edit *edit) {
  size_t count = edit->current.count + (edit->kind == KVO_INSERTION ? edit->elements.count : 0);
  size_t index = kvo_index_set_last(edit->indexes);
  if (index < count) return KVO_OK;
  return kvo_fail_index(edit->error, kvo_class_name(kvo_class_of(kvo_edit_owner(edit))),
      edit->proxy->key, index, count);
}

kvo_status kvo_edit_replace_ordered(kvo_edit *edit) {
  bool is_nil;
  kvo_elements elements = {0};
  kvo_status status = read_current(edit, &is_nil);
  if (!status) status = check_agreement(edit);
  if (!status)
    status = edit->kind == KVO_INSERTION ? fallback_insert(edit, &elements)
                                         : remove_or_replace(edit, &elements);
  if (!status) status = make_value(edit, &elements);
  kvo_elements_destroy(&elements);
  return status ? status : fallback_replace(edit);
}

kvo_status kvo_edit_replace_all(kvo_edit *edit) {
  bool is_nil;
  kvo_status status = read_current(edit, &is_nil);
  if (!status) status = make_value(edit, &edit->elements);
  return status ? status : fallback_set_value(edit);
}

// MARK: Sets

static kvo_status add_where(const kvo_edit *edit, bool among, kvo_elements *elements) {
  for (size_t i = 0; i < edit->current.count; i++)
    if (kvo_collection_contains(edit->objects, &edit->current.values[i]) == among &&
        kvo_elements_add(elements, &edit->current.values[i]))
      return kvo_edit_no_memory(edit);
  return KVO_OK;
}

static kvo_status fallback_add_all(const kvo_edit *edit, const kvo_elements *from,
    kvo_elements *elements) {
  for (size_t i = 0; i < from->count; i++)
    if (kvo_elements_add(elements, &from->values[i])) return kvo_edit_no_memory(edit);
  return KVO_OK;
}

static kvo_status fallback_combine(const kvo_edit *edit, kvo_elements *elements) {
  kvo_status status = KVO_OK;
  switch (edit->set_mutation) {
  case KVO_UNION: status = fallback_add_all(edit, &edit->current, elements); break;
  case KVO_MINUS: return add_where(edit, false, elements);
  case KVO_INTERSECT: return add_where(edit, true, elements);
  case KVO_SET_SET: break;
  }
  return status ? status : fallback_add_all(edit, &edit->elements, elements);
}

// The edit owns the new members: if comparing members throws, they are destroyed with the edit.
kvo_status kvo_edit_replace_set(kvo_edit *edit) {
  bool is_nil;
  kvo_elements *elements = &edit->comes.elements;
  kvo_status status = kvo_edit_make_objects(edit, KVO_SET);
  if (!status) status = read_current(edit, &is_nil);
  bool takes = edit->set_mutation == KVO_MINUS || edit->set_mutation == KVO_INTERSECT;
  // Nothing can be removed from nil. It stays nil, but observers are notified.
  if (!status && is_nil && takes) return fallback_replace(edit);
  if (!status) status = fallback_combine(edit, elements);
  if (!status) status = make_value(edit, elements);
  return status ? status : fallback_replace(edit);
}
