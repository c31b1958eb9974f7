// Mutating a key by the class's own methods (B9, H2).
//
// Calls go through the dispatch table, where interposers notify the observers. A change is opened around them, which
// theirs join. So observers are notified once, also if one change takes several calls (no method for several elements,
// or none to replace). And if prior observers change the key themselves, the edit is checked and prepared again before
// the first call (D7).
#include "setting/kvo_edit.h"

#include "base/kvo_fail.h"
#include "base/kvo_memory.h"
#include "delivery/kvo_general_delivery.h"
#include "kvo_coding.h"
#include "types/kvo_type.h"

bool kvo_edit_has_methods(const kvo_edit *edit) {
  const kvo_collection_accessors *collection = edit->collection;
  if (!collection) return false;
  return edit->proxy->collection.kind == KVO_SET ? collection->mutates_set
                                                 : collection->mutates_ordered;
}

// MARK: Converting

// The type of the elements: the argument of a method for one element, or else the result of the reading method; NULL
// if there is neither.
static const kvo_type *ordered_type(const kvo_edit *edit) {
  const kvo_collection_accessors *methods = edit->collection;
  if (edit->kind == KVO_REPLACEMENT && methods->ordered.replace.one)
    return kvo_method_argument(methods->ordered.replace.one, 1);
  return methods->ordered.insert.one ? kvo_method_argument(methods->ordered.insert.one, 0)
                                     : methods->element_type;
}

static const kvo_type *set_type(const kvo_collection_accessors *methods) {
  const kvo_method *notifies = methods->set.add.one      ? methods->set.add.one
                               : methods->set.remove.one ? methods->set.remove.one
                                                         : methods->read.member;
  return notifies ? kvo_method_argument(notifies, 0) : methods->element_type;
}

static kvo_status fail_conversion(const kvo_edit *edit, kvo_status status, const kvo_type *type,
    const kvo_value *value) {
  if (status == KVO_NO_MEMORY) return kvo_edit_no_memory(edit);
  const char *name = kvo_class_name(kvo_class_of(kvo_edit_owner(edit)));
  return kvo_fail(edit->error, KVO_TYPE_MISMATCH, name, edit->proxy->key,
      "The elements of \"%s\" of %s have the type %s: one of type %s can't become one.",
      edit->proxy->key, name, kvo_type_name(type), kvo_type_name(value->type));
}

// A value that differs from its conversion (1.5 as an integer) may be added, but it can't be a member.
static bool concerns_members(const kvo_edit *edit) {
  return edit->set_mutation == KVO_MINUS || edit->set_mutation == KVO_INTERSECT;
}

static kvo_status convert_one(const kvo_edit *edit, const kvo_type *type, kvo_value *value,
    bool *belongs) {
  kvo_value converted;
  kvo_status status = kvo_value_convert(&converted, type, value);
  if (status) return fail_conversion(edit, status, type, value);
  *belongs = !concerns_members(edit) || kvo_value_equal(&converted, value);
  kvo_value_destroy(value);
  *value = converted;
  return KVO_OK;
}

kvo_status kvo_edit_convert(kvo_edit *edit) {
  bool is_set = edit->proxy->collection.kind == KVO_SET;
  const kvo_type *type = is_set ? set_type(edit->collection) : ordered_type(edit);
  kvo_value *values = edit->elements.values;
  size_t kept = 0;
  for (size_t i = 0; type && i < edit->elements.count; i++) {
    bool belongs = false;
    kvo_status status = convert_one(edit, type, &values[i], &belongs);
    if (status) return status;
    kvo_value value = values[i];
    values[i] = KVO_VALUE_NIL;
    if (belongs) values[kept++] = value;
    else kvo_value_destroy(&value);
  }
  if (type) edit->elements.count = kept;
  return KVO_OK;
}

// MARK: Calls

static const void *bytes_of(const kvo_value *value) {
  static const void *const none = NULL;
  const void *bytes = kvo_value_bytes(value);
  return bytes ? bytes : &none;
}

// Observers that another thread registered while the method ran are notified afterwards (unobserved_setters.c).
static void mutable_accessor_call(const kvo_edit *edit, const kvo_method *method, const void *first,
    const void *second) {
  kvo_object *owner = kvo_edit_owner(edit);
  void *arguments[] = {&owner, &method, (void *)(uintptr_t)first, (void *)(uintptr_t)second};
  uint64_t begun = kvo_setter_begins();
  kvo_imp imp = kvo_method_lookup(owner, method);
  kvo_call_drop(method->call, imp, arguments);
  kvo_setter_returned(owner, method, imp, begun);
}

static const kvo_method_pair *ordered_methods(const kvo_edit *edit, kvo_change_kind kind) {
  const kvo_collection_accessors *methods = edit->collection;
  switch (kind) {
  case KVO_INSERTION: return &methods->ordered.insert;
  case KVO_REMOVAL: return &methods->ordered.remove;
  default: return &methods->ordered.replace;
  }
}

// The method for many is used for more than one element, and for one if there is no method for one.
static bool by_many(const kvo_method_pair *methods, size_t count) {
  return methods->many && (count != 1 || !methods->one);
}

// MARK: By index

// In an insertion, the element is the argument before the index.
static void call_one(const kvo_edit *edit, kvo_change_kind kind, size_t n) {
  const kvo_method *method = ordered_methods(edit, kind)->one;
  bool inserts = kind == KVO_INSERTION;
  const kvo_index_argument index =
      kvo_method_index(method, inserts, kvo_index_set_index(edit->indexes, n));
  const void *element = kind == KVO_REMOVAL ? NULL : bytes_of(&edit->elements.values[n]);
  mutable_accessor_call(edit, method, inserts ? element : index.bytes,
      inserts ? index.bytes : element);
}

static void mutable_accessor_insert_all(const kvo_edit *edit) {
  const kvo_method_pair *methods = &edit->collection->ordered.insert;
  size_t count = edit->elements.count;
  if (by_many(methods, count))
    mutable_accessor_call(edit, methods->many, &edit->objects, &edit->indexes);
  else
    for (size_t n = 0; n < count; n++) call_one(edit, KVO_INSERTION, n);
}

// Starts at the last element, so that the others keep their indexes.
static void remove_all(const kvo_edit *edit) {
  const kvo_method_pair *methods = &edit->collection->ordered.remove;
  size_t count = kvo_index_set_count(edit->indexes);
  if (by_many(methods, count)) mutable_accessor_call(edit, methods->many, &edit->indexes, NULL);
  else
    while (count) call_one(edit, KVO_REMOVAL, --count);
}

static void replace_all(const kvo_edit *edit) {
  const kvo_method_pair *methods = &edit->collection->ordered.replace;
  if (by_many(methods, edit->elements.count)) {
    mutable_accessor_call(edit, methods->many, &edit->indexes, &edit->objects);
  } else if (methods->one) {
    for (size_t n = 0; n < edit->elements.count; n++) call_one(edit, KVO_REPLACEMENT, n);
  } else {
    remove_all(edit);
    mutable_accessor_insert_all(edit);
  }
}

// Whether some method takes the elements as a collection.
static bool passes_objects(const kvo_edit *edit) {
  return edit->kind != KVO_REMOVAL &&
         (!ordered_methods(edit, edit->kind)->one || edit->elements.count != 1);
}

static size_t count_calls(const kvo_method_pair *methods, size_t count) {
  return by_many(methods, count) ? 1 : count;
}

static size_t count_ordered_calls(const kvo_edit *edit) {
  const kvo_method_pair *methods = ordered_methods(edit, edit->kind);
  size_t count = kvo_index_set_count(edit->indexes);
  if (methods->many || methods->one) return count_calls(methods, count);
  return count_calls(ordered_methods(edit, KVO_REMOVAL), count) +
         count_calls(ordered_methods(edit, KVO_INSERTION), count);
}

// If the key has no observer, a single call notifies those that other threads add in the meantime by itself.
static kvo_frame *open_calls(kvo_edit *edit, size_t calls) {
  kvo_frame *frame = kvo_edit_open(edit, calls);
  if (calls != 1 || !frame || frame->state != KVO_FRAME_UNOBSERVED) return frame;
  kvo_change_cancel(frame);
  return NULL;
}

static kvo_status prepare_ordered(kvo_edit *edit) {
  return passes_objects(edit) ? kvo_edit_make_objects(edit, KVO_ARRAY) : KVO_OK;
}

static void call_ordered(const kvo_edit *edit) {
  switch (edit->kind) {
  case KVO_INSERTION: mutable_accessor_insert_all(edit); break;
  case KVO_REMOVAL: remove_all(edit); break;
  default: replace_all(edit);
  }
}

kvo_status kvo_edit_call_ordered(kvo_edit *edit) {
  kvo_status status = prepare_ordered(edit);
  if (status) return status;
  kvo_frame *frame = open_calls(edit, count_ordered_calls(edit));
  if (frame && kvo_change_became_setting(frame)) {
    status = kvo_edit_check_again(edit);
    if (!status) status = prepare_ordered(edit);
  }
  if (!status && kvo_index_set_count(edit->indexes)) call_ordered(edit);
  return kvo_edit_close(frame, status);
}

static void call_all(kvo_edit *edit, size_t present) {
  if (present) remove_all(edit);
  edit->indexes = edit->later_indexes;
  if (edit->elements.count) mutable_accessor_insert_all(edit);
}

static kvo_status name_all(kvo_edit *edit, size_t count) {
  kvo_index_set_destroy(edit->own_indexes);
  edit->indexes = edit->own_indexes = kvo_index_set_create_range(0, count);
  return edit->indexes ? KVO_OK : kvo_edit_no_memory(edit);
}

// Removes all elements, then inserts the new ones. Everything needed for both is made before the first call. If prior
// observers have changed the number of elements, and memory runs out then, they are notified of that.
kvo_status kvo_edit_call_all(kvo_edit *edit) {
  size_t before = kvo_edit_count(edit);
  kvo_status status = kvo_edit_make_objects(edit, edit->proxy->collection.kind);
  if (status) return status;
  kvo_elements_destroy(&edit->elements); // an ordered set drops repeated elements
  status = edit->objects->methods->pick(edit->objects, NULL, &edit->elements, edit->error);
  if (status) return status;
  edit->later_indexes = kvo_index_set_create_range(0, edit->elements.count);
  status = edit->later_indexes ? name_all(edit, before) : kvo_edit_no_memory(edit);
  if (status) return status;
  kvo_frame *frame = kvo_edit_open(edit, 0);
  size_t present = frame ? kvo_edit_count(edit) : before;
  if (present != before) status = name_all(edit, present);
  if (!status) call_all(edit, present);
  if (frame) kvo_change_close(frame);
  return status;
}

// MARK: Sets

// Calls the method for one with each element, or the method for many with all of them.
static void call_with(const kvo_edit *edit, const kvo_method_pair *methods,
    const kvo_elements *elements, kvo_collection *all) {
  if (by_many(methods, elements->count)) mutable_accessor_call(edit, methods->many, &all, NULL);
  else
    for (size_t i = 0; i < elements->count; i++)
      mutable_accessor_call(edit, methods->one, bytes_of(&elements->values[i]), NULL);
}

static void call_step(const kvo_edit *edit, const kvo_method_pair *methods,
    const kvo_set_step *step) {
  if (step->elements.count) call_with(edit, methods, &step->elements, step->all);
}

static kvo_status mutable_accessor_make_all(const kvo_edit *edit, kvo_set_step *step,
    const kvo_method_pair *methods) {
  const kvo_elements *elements = &step->elements;
  if (!by_many(methods, elements->count)) return KVO_OK;
  step->all = kvo_collection_create(KVO_SET, elements->values, elements->count, NULL);
  return step->all ? KVO_OK : kvo_edit_no_memory(edit);
}

// Finds the current elements that are not among the edit's.
static kvo_status find_others(kvo_edit *edit) {
  kvo_status status = kvo_edit_read(edit);
  if (status) return status;
  for (size_t i = 0; i < edit->current.count; i++)
    if (!kvo_collection_contains(edit->objects, &edit->current.values[i]) &&
        kvo_elements_add(&edit->removal.elements, &edit->current.values[i]))
      return kvo_edit_no_memory(edit);
  return mutable_accessor_make_all(edit, &edit->removal, &edit->collection->set.remove);
}

static kvo_status find_missing(kvo_edit *edit) {
  uint64_t shortages = kvo_shortages;
  for (size_t i = 0; i < edit->elements.count; i++)
    if (!kvo_edit_has(edit, &edit->elements.values[i]) &&
        kvo_elements_add(&edit->addition.elements, &edit->elements.values[i]))
      return kvo_edit_no_memory(edit);
  if (kvo_shortages != shortages) return kvo_edit_no_memory(edit);
  return mutable_accessor_make_all(edit, &edit->addition, &edit->collection->set.add);
}

static bool has_setter(const kvo_edit *edit) {
  return edit->accessors->setter == KVO_ACCESS_METHOD &&
         edit->accessors->set_type->kind == KVO_KIND_OBJECT;
}

// If the methods need to know which elements are removed and added, this is determined before the first call.
static kvo_status prepare_set(kvo_edit *edit) {
  kvo_edit_empty(&edit->removal);
  kvo_edit_empty(&edit->addition);
  kvo_status status = kvo_edit_make_objects(edit, KVO_SET);
  bool sets = edit->set_mutation == KVO_SET_SET && !has_setter(edit);
  bool intersects = edit->set_mutation == KVO_INTERSECT && !edit->collection->set.intersect;
  if (!status && (sets || intersects)) status = find_others(edit);
  if (!status && sets) status = find_missing(edit);
  return status;
}

static kvo_status mutable_accessor_set_elements(kvo_edit *edit) {
  if (has_setter(edit)) {
    const kvo_value value = kvo_value_borrowing(&edit->objects->object);
    return kvo_set_value_for_key(kvo_edit_owner(edit), edit->proxy->key, &value, edit->error);
  }
  call_step(edit, &edit->collection->set.remove, &edit->removal);
  call_step(edit, &edit->collection->set.add, &edit->addition);
  return KVO_OK;
}

static kvo_status call_set(kvo_edit *edit) {
  const kvo_collection_accessors *methods = edit->collection;
  switch (edit->set_mutation) {
  case KVO_UNION: call_with(edit, &methods->set.add, &edit->elements, edit->objects); break;
  case KVO_MINUS: call_with(edit, &methods->set.remove, &edit->elements, edit->objects); break;
  case KVO_INTERSECT:
    if (methods->set.intersect)
      mutable_accessor_call(edit, methods->set.intersect, &edit->objects, NULL);
    else call_step(edit, &methods->set.remove, &edit->removal);
    break;
  case KVO_SET_SET: return mutable_accessor_set_elements(edit);
  }
  return KVO_OK;
}

static size_t count_set_calls(const kvo_edit *edit) {
  const kvo_collection_accessors *methods = edit->collection;
  switch (edit->set_mutation) {
  case KVO_UNION: return count_calls(&methods->set.add, edit->elements.count);
  case KVO_MINUS: return count_calls(&methods->set.remove, edit->elements.count);
  case KVO_INTERSECT: return methods->set.intersect ? 1 : edit->removal.elements.count;
  case KVO_SET_SET: break; // a setter reports a setting
  }
  return 0;
}

kvo_status kvo_edit_call_set(kvo_edit *edit) {
  kvo_status status = prepare_set(edit);
  if (status) return status;
  kvo_frame *frame = open_calls(edit, count_set_calls(edit));
  if (frame && kvo_change_became_setting(frame)) status = prepare_set(edit);
  if (!status) status = call_set(edit);
  return kvo_edit_close(frame, status);
}
