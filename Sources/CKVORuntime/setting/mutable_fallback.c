// Mutating a key without methods to mutate it: a new collection replaces the old one by key-value coding (a setter,
// an ivar).
//
// The new collection is made before anything is changed. Then a change is opened that names the removed and added
// elements; the setter's own change joins it. A setter may store another collection; then the change becomes a setting.
// So it does if prior observers change the key; then the new collection is made once more, from what they have left.
// If the key can't be set, no change is opened, and key-value coding produces the error (or a hook of the class handles
// it).
#include "setting/kvo_edit.h"

#include "base/kvo_fail.h"
#include "coding/kvo_field.h"
#include "delivery/kvo_general_delivery.h"
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
static kvo_status read_current(kvo_edit *edit) {
  kvo_value *value = &edit->value; // owned by the edit, because reading its elements may throw
  kvo_collection_kind kind = 0;
  kvo_status status = kvo_value_for_key(kvo_edit_owner(edit), edit->proxy->key, value, edit->error);
  edit->was_nil = kvo_value_is_nil(value);
  bool fits = edit->was_nil ||
              (kvo_value_is_collection(value, &kind) && kind == edit->proxy->collection.kind);
  if (!status && !fits) status = refuse_kind(edit);
  kvo_elements_destroy(&edit->current);
  if (!status && !edit->was_nil)
    status = kvo_value_elements(value, NULL, &edit->current, edit->error);
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

// MARK: Setters that store another collection

// Whether the field that the getter returns has the new value itself, as after a setter of the policy RETAIN.
static bool has_same_object(const kvo_edit *edit) {
  const kvo_accessors *accessors = edit->accessors;
  if (!kvo_field_answers(accessors, KVO_KIND_OBJECT)) return false;
  kvo_value field;
  (void)kvo_field_read(&field, accessors, kvo_edit_owner(edit), 0);
  return kvo_value_get_object(&field) == kvo_value_get_object(&edit->value);
}

// Elements of a type that can't be compared are taken for equal.
static bool may_be_equal(const kvo_value *a, const kvo_value *b) {
  const kvo_type *type = a->type;
  bool is_comparable = !type || type->equal || type->kind == KVO_KIND_OBJECT;
  return !is_comparable || kvo_value_equal(a, b);
}

// Whether the key has the elements of the new value. If memory runs out, it is taken to have. The edit owns what is
// read, because comparing elements may throw.
static bool has_new_elements(kvo_edit *edit) {
  kvo_elements *passed = &edit->passed, *stored = &edit->stored;
  kvo_value *value = &edit->stored_value;
  if (kvo_value_elements(&edit->value, NULL, passed, NULL)) return true;
  if (kvo_value_for_key(kvo_edit_owner(edit), edit->proxy->key, value, NULL)) return true;
  if (!kvo_value_is_nil(value) && kvo_value_elements(value, NULL, stored, NULL)) return true;
  bool are_equal = passed->count == stored->count;
  for (size_t i = 0; are_equal && i < passed->count; i++)
    are_equal = may_be_equal(&passed->values[i], &stored->values[i]);
  return are_equal;
}

// Adds the elements before the edit. Those that it has removed are still among the current ones.
static kvo_status fallback_undo(const kvo_edit *edit, kvo_elements *old) {
  const kvo_value *current = edit->current.values, *kept = edit->passed.values;
  const kvo_value *end =
      kept + edit->passed.count; // fewer, if the setter's type made some of them equal
  size_t count = edit->kind == KVO_INSERTION ? edit->passed.count : edit->current.count;
  kvo_status status = KVO_OK;
  for (size_t i = 0; !status && i < count; i++) {
    bool is_changed = kvo_index_set_contains(edit->indexes, i);
    if (!is_changed && kept < end) status = kvo_elements_add(old, kept);
    else if (is_changed && edit->kind != KVO_INSERTION) status = kvo_elements_add(old, &current[i]);
    if (!is_changed || edit->kind != KVO_REMOVAL) kept++;
  }
  return status;
}

// The edit owns what is made, because converting and comparing elements may throw.
static kvo_status make_old_value(kvo_edit *edit, kvo_value *value) {
  const kvo_type *type = edit->accessors->type;
  *value = KVO_VALUE_NIL;
  if (edit->was_nil) return KVO_OK;
  kvo_elements_destroy(&edit->stored);
  kvo_value_destroy(&edit->stored_value);
  kvo_status status = fallback_undo(edit, &edit->stored);
  if (!status)
    status =
        kvo_value_from_elements(&edit->stored_value, edit->proxy->collection.kind, &edit->stored);
  if (status) return status;
  return type->kind == KVO_KIND_OBJECT ? kvo_value_copy(value, &edit->stored_value)
                                       : kvo_value_convert(value, type, &edit->stored_value);
}

static void fallback_make_setting(kvo_edit *edit, bool is_first) {
  kvo_value old;
  kvo_status status = make_old_value(edit, &old);
  const kvo_value *known = status ? NULL : &old;
  kvo_change_becomes_setting(kvo_edit_owner(edit), edit->accessors->id, known, is_first);
  kvo_value_destroy(&old);
}

// If the setter has stored another collection than the new one, the change is not that of the named elements.
static void check_stored(kvo_edit *edit, bool is_first) {
  kvo_object *owner = kvo_edit_owner(edit);
  uintptr_t id = edit->accessors->id;
  uint64_t shortages = kvo_shortages;
  if (edit->accessors->setter != KVO_ACCESS_METHOD || !kvo_change_names_elements(owner, id)) return;
  if (!has_same_object(edit) && !has_new_elements(edit)) fallback_make_setting(edit, is_first);
  if (kvo_shortages != shortages) kvo_change_report_undelivered(owner, id);
}

// Sets the key to the new value, in a change that names the removed and added elements. `make_again` makes the value
// again from the present elements.
static kvo_status fallback_replace(kvo_edit *edit, kvo_status (*make_again)(kvo_edit *edit)) {
  kvo_frame *frame = is_settable(edit) ? kvo_edit_open(edit, 1) : NULL;
  kvo_status status = frame && kvo_change_became_setting(frame) ? make_again(edit) : KVO_OK;
  if (!status) status = fallback_set_value(edit);
  if (!status && edit->indexes && edit->accessors) check_stored(edit, frame);
  return kvo_edit_close(frame, status);
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
  if (index < count || index == KVO_NOT_FOUND) return KVO_OK;
  return kvo_fail_index(edit->error, kvo_class_name(kvo_class_of(kvo_edit_owner(edit))),
      edit->proxy->key, index, count);
}

static kvo_status make_ordered(kvo_edit *edit) {
  kvo_elements elements = {0};
  kvo_status status = read_current(edit);
  if (!status) status = check_agreement(edit);
  if (!status)
    status = edit->kind == KVO_INSERTION ? fallback_insert(edit, &elements)
                                         : remove_or_replace(edit, &elements);
  if (!status) status = make_value(edit, &elements);
  kvo_elements_destroy(&elements);
  return status;
}

// The new elements have been moved into the new value.
static kvo_status make_ordered_again(kvo_edit *edit) {
  kvo_elements_destroy(&edit->elements);
  kvo_status status = edit->kind == KVO_REMOVAL ? KVO_OK
                                                : kvo_value_elements(&edit->value, edit->indexes,
                                                      &edit->elements, edit->error);
  kvo_value_destroy(&edit->value);
  if (!status) status = kvo_edit_check_again(edit);
  return status ? status : make_ordered(edit);
}

kvo_status kvo_edit_replace_ordered(kvo_edit *edit) {
  kvo_status status = make_ordered(edit);
  return status ? status : fallback_replace(edit, make_ordered_again);
}

kvo_status kvo_edit_replace_all(kvo_edit *edit) {
  kvo_status status = read_current(edit);
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

// Nothing can be removed from nil. It stays nil, but observers are notified. The edit owns the new members: if comparing
// members throws, they are destroyed with the edit.
static kvo_status make_set(kvo_edit *edit) {
  kvo_elements *elements = &edit->addition.elements;
  bool takes = edit->set_mutation == KVO_MINUS || edit->set_mutation == KVO_INTERSECT;
  kvo_status status = read_current(edit);
  if (status || (edit->was_nil && takes)) return status;
  status = fallback_combine(edit, elements);
  return status ? status : make_value(edit, elements);
}

static kvo_status make_set_again(kvo_edit *edit) {
  kvo_value_destroy(&edit->value);
  return make_set(edit);
}

kvo_status kvo_edit_replace_set(kvo_edit *edit) {
  kvo_status status = kvo_edit_make_objects(edit, KVO_SET);
  if (!status) status = make_set(edit);
  return status ? status : fallback_replace(edit, make_set_again);
}
