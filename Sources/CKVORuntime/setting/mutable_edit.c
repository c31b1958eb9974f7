// Changes of mutable proxies. A request becomes an edit, which is checked as a whole before anything is changed. Then
// it is made by the class's methods (mutable_accessors.c) or by replacing the collection (mutable_fallback.c).
//
// All calls of the program's code are in one body, which an exception may leave; the edit's data are released in
// either case. An ordered collection only knows changes by index, so changes by element are translated into these
// here.
#include "kvo_mutable.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "setting/kvo_edit.h"
#include "values/kvo_hash.h"

// MARK: All edits

static const char *class_name(const kvo_edit *edit) {
  return kvo_class_name(kvo_class_of(kvo_edit_owner(edit)));
}

kvo_status kvo_edit_no_memory(const kvo_edit *edit) {
  return kvo_fail_no_memory(edit->error, "change", class_name(edit), edit->proxy->key);
}

static kvo_status edit_refuse(const kvo_edit *edit, const char *reason) {
  return kvo_fail(edit->error, KVO_INVALID_ARGUMENT, class_name(edit), edit->proxy->key,
      "\"%s\" of %s %s.", edit->proxy->key, class_name(edit), reason);
}

static kvo_change_kind edit_kind_of(const kvo_edit *edit) {
  return edit->set_mutation ? kvo_set_mutation_kind(edit->set_mutation) : edit->kind;
}

// The inserted element, if it is the only one and an object; else NULL.
static const kvo_object *inserted_by(const kvo_edit *edit) {
  bool is_one = edit_kind_of(edit) == KVO_INSERTION && edit->elements.count == 1;
  return is_one ? kvo_value_get_object(&edit->elements.values[0]) : NULL;
}

kvo_frame *kvo_edit_open(kvo_edit *edit, size_t calls) {
  if (!edit->accessors) return NULL;
  const kvo_mutation mutation = {.kind = edit_kind_of(edit),
      .indexes = edit->indexes,
      .set_mutation = edit->set_mutation,
      .objects = edit->set_mutation ? edit->objects : NULL,
      .inserted = inserted_by(edit)};
  bool is_setting = edit->kind == KVO_SETTING && !edit->set_mutation;
  kvo_frame *frame = kvo_change_open_mutation(kvo_edit_owner(edit), edit->accessors->id,
      is_setting ? NULL : &mutation);
  if (frame) kvo_change_expect_joins(frame, (uint32_t)calls);
  return frame;
}

kvo_status kvo_edit_close(kvo_frame *frame, kvo_status status) {
  if (frame && status) kvo_change_cancel(frame);
  else if (frame) kvo_change_close(frame);
  return status;
}

static void edit_drop(kvo_collection **slot) {
  kvo_collection *dropped = *slot;
  *slot = NULL;
  if (dropped) kvo_object_release(&dropped->object);
}

void kvo_edit_empty(kvo_set_step *step) {
  kvo_elements_empty(&step->elements);
  edit_drop(&step->all);
}

kvo_status kvo_edit_make_objects(kvo_edit *edit, kvo_collection_kind kind) {
  if (!edit->objects)
    edit->objects = kvo_collection_create(kind, edit->elements.values, edit->elements.count, NULL);
  return edit->objects ? KVO_OK : kvo_edit_no_memory(edit);
}

size_t kvo_edit_count(const kvo_edit *edit) {
  kvo_collection *collection = &edit->proxy->collection;
  return collection->methods->count(collection);
}

bool kvo_edit_has(const kvo_edit *edit, const kvo_value *element) {
  kvo_collection *collection = &edit->proxy->collection;
  return collection->methods->contains(collection, element);
}

kvo_status kvo_edit_read(kvo_edit *edit) {
  kvo_collection *collection = &edit->proxy->collection;
  kvo_elements_destroy(&edit->current);
  return collection->methods->pick(collection, NULL, &edit->current, edit->error);
}

// MARK: Checks

static kvo_status fail_bounds(const kvo_edit *edit, size_t index, size_t count) {
  return kvo_fail_index(edit->error, class_name(edit), edit->proxy->key, index, count);
}

// An index of an insertion may be as high as the number of existing elements plus those that are inserted before it.
static kvo_status check_insertion(const kvo_edit *edit, size_t count) {
  size_t before = 0;
  for (size_t i = 0; i < kvo_index_set_range_count(edit->indexes); i++) {
    kvo_range range = kvo_index_set_range(edit->indexes, i);
    if (range.location > count + before) return fail_bounds(edit, range.location, count);
    before += range.length;
  }
  return KVO_OK;
}

static kvo_status check_bounds(const kvo_edit *edit) {
  size_t count = kvo_edit_count(edit);
  if (edit->kind == KVO_INSERTION) return check_insertion(edit, count);
  size_t index = kvo_index_set_last(edit->indexes);
  return index < count ? KVO_OK : fail_bounds(edit, index, count);
}

static void use_indexes(kvo_edit *edit, kvo_index_set *indexes) {
  kvo_index_set_destroy(edit->own_indexes);
  edit->indexes = edit->own_indexes = indexes;
}

// Prior observers may remove elements that are left out, so all `count` of them are kept.
static bool keep_request(kvo_edit *edit, size_t count) {
  if (edit->requested.count || edit->work_out) return true;
  if (!edit->own_indexes) edit->requested_indexes = edit->indexes;
  bool done = true;
  for (size_t i = 0; done && i < count; i++)
    done = !kvo_elements_add(&edit->requested, &edit->elements.values[i]);
  return done;
}

static void restore_request(kvo_edit *edit) {
  if (!edit->requested.count) return;
  kvo_elements_destroy(&edit->elements);
  edit->elements = edit->requested;
  edit->requested = (kvo_elements){0};
  if (edit->requested_indexes) edit->indexes = edit->requested_indexes;
}

// Removes elements of an insertion that are already in the ordered set, or repeated, and closes the gaps.
static kvo_status leave_out_present(kvo_edit *edit) {
  edit_drop(&edit->objects); // it has all elements
  kvo_elements *elements = &edit->elements;
  kvo_hash_index index = {0};
  kvo_index_set *indexes = kvo_index_set_create();
  size_t count = elements->count;
  bool done = indexes != NULL;
  elements->count = 0;
  for (size_t i = 0; i < count; i++) {
    kvo_value value = elements->values[i];
    bool known = kvo_hash_index_find(&index, elements->values, &value) != SIZE_MAX ||
                 kvo_edit_has(edit, &value);
    if (known) done = done && keep_request(edit, count);
    elements->values[known ? i : elements->count] = value;
    if (known) kvo_value_destroy(&elements->values[i]);
    else
      done = done && kvo_hash_index_add(&index, elements->values) &&
             kvo_index_set_add(indexes,
                 kvo_index_set_index(edit->indexes, i) - (i - elements->count++));
  }
  kvo_hash_index_destroy(&index);
  if (done) use_indexes(edit, indexes);
  else kvo_index_set_destroy(indexes);
  return done ? KVO_OK : kvo_edit_no_memory(edit);
}

// A replacement in an ordered set must leave each element once.
static kvo_status check_unique(kvo_edit *edit) {
  kvo_collection *collection = &edit->proxy->collection;
  kvo_hash_index hash_index = {0};
  kvo_status status = KVO_OK;
  for (size_t i = 0; !status && i < edit->elements.count; i++) {
    const kvo_value *value = &edit->elements.values[i];
    size_t index = collection->methods->index_of(collection, value);
    bool twice = kvo_hash_index_find(&hash_index, edit->elements.values, value) != SIZE_MAX ||
                 (index != KVO_NOT_FOUND && !kvo_index_set_contains(edit->indexes, index));
    if (twice) status = edit_refuse(edit, "is an ordered set and would have an element twice");
    else if (!kvo_hash_index_add(&hash_index, edit->elements.values))
      status = kvo_edit_no_memory(edit);
  }
  kvo_hash_index_destroy(&hash_index);
  return status;
}

// If memory runs out, an element that is present may not be found.
static kvo_status check_ordered(kvo_edit *edit) {
  uint64_t shortages = kvo_shortages;
  kvo_status status = check_bounds(edit);
  bool is_set = edit->proxy->collection.kind == KVO_ORDERED_SET;
  if (!status && is_set && edit->kind == KVO_INSERTION) status = leave_out_present(edit);
  if (!status && is_set && edit->kind == KVO_REPLACEMENT) status = check_unique(edit);
  return !status && kvo_shortages != shortages ? kvo_edit_no_memory(edit) : status;
}

// MARK: Ordered collections

static kvo_status edit_prepare(kvo_edit *edit) {
  bool matches =
      edit->kind == KVO_REMOVAL || edit->elements.count == kvo_index_set_count(edit->indexes);
  if (!matches) return edit_refuse(edit, "needs as many elements as indexes");
  if (!kvo_index_set_count(edit->indexes)) return KVO_OK;
  bool converts = kvo_edit_has_methods(edit) && edit->kind != KVO_REMOVAL;
  kvo_status status = converts ? kvo_edit_convert(edit) : KVO_OK;
  return status ? status : check_ordered(edit);
}

static kvo_status run_ordered(kvo_edit *edit) {
  kvo_status status = edit_prepare(edit);
  if (status || !kvo_index_set_count(edit->indexes)) return status;
  return kvo_edit_has_methods(edit) ? kvo_edit_call_ordered(edit) : kvo_edit_replace_ordered(edit);
}

// Takes what the binding works out.
static kvo_status edit_work_out(kvo_edit *edit) {
  kvo_worked_out_change change = {.kind = KVO_REMOVAL};
  kvo_status status = edit->work_out(edit->context, &change, edit->error);
  if (status) return status;
  edit->kind = change.kind;
  use_indexes(edit, change.indexes);
  edit_drop(&edit->objects);
  kvo_elements_destroy(&edit->elements);
  bool has_all = change.indexes && (change.elements || change.kind == KVO_REMOVAL);
  if (change.elements)
    status = change.elements->methods->pick(change.elements, NULL, &edit->elements, edit->error);
  edit_drop(&change.elements);
  return has_all ? status : kvo_edit_no_memory(edit);
}

static kvo_status find_end(kvo_edit *edit) {
  size_t end = kvo_edit_count(edit);
  use_indexes(edit, kvo_index_set_create_range(end, edit->elements.count));
  return edit->indexes ? KVO_OK : kvo_edit_no_memory(edit);
}

// Finds the elements that are among the edit's, or those that are not.
static kvo_status find_members(kvo_edit *edit, bool members) {
  kvo_status status = kvo_edit_make_objects(edit, KVO_SET);
  if (!status) status = kvo_edit_read(edit);
  if (status) return status;
  kvo_index_set *indexes = kvo_index_set_create();
  bool done = indexes != NULL;
  for (size_t i = 0; done && i < edit->current.count; i++)
    if (kvo_collection_contains(edit->objects, &edit->current.values[i]) == members)
      done = kvo_index_set_add(indexes, i);
  use_indexes(edit, indexes);
  return done ? KVO_OK : kvo_edit_no_memory(edit);
}

static kvo_status find_indexes(kvo_edit *edit) {
  if (edit->work_out) return edit_work_out(edit);
  if (!edit->by_element) return KVO_OK;
  return edit->by_element == KVO_UNION ? find_end(edit)
                                       : find_members(edit, edit->by_element == KVO_MINUS);
}

kvo_status kvo_edit_check_again(kvo_edit *edit) {
  restore_request(edit);
  kvo_status status = find_indexes(edit);
  return status ? status : edit_prepare(edit);
}

static kvo_status set_all(kvo_edit *edit) {
  edit->kind = KVO_SETTING;
  bool by_setter = edit->accessors && edit->accessors->setter == KVO_ACCESS_METHOD;
  if (by_setter || !kvo_edit_has_methods(edit)) return kvo_edit_replace_all(edit);
  kvo_status status = kvo_edit_convert(edit);
  return status ? status : kvo_edit_call_all(edit);
}

static kvo_status find_and_run(kvo_edit *edit) {
  kvo_status status = find_indexes(edit);
  return status ? status : run_ordered(edit);
}

static kvo_status run_by_element(kvo_edit *edit) {
  kvo_set_mutation mutation = edit->set_mutation;
  edit->set_mutation = 0;
  if (mutation == KVO_SET_SET) return set_all(edit);
  edit->by_element = mutation;
  edit->kind = mutation == KVO_UNION ? KVO_INSERTION : KVO_REMOVAL;
  return find_and_run(edit);
}

// MARK: Sets

static kvo_status run_set(kvo_edit *edit) {
  if (!kvo_edit_has_methods(edit)) return kvo_edit_replace_set(edit);
  kvo_status status = kvo_edit_convert(edit);
  return status ? status : kvo_edit_call_set(edit);
}

// MARK: Running

static void edit_run(void *context) {
  kvo_edit *edit = context;
  const kvo_class *cls = kvo_class_of(kvo_edit_owner(edit));
  edit->accessors = kvo_class_accessors(cls, edit->proxy->key, NULL);
  edit->collection = edit->accessors ? edit->accessors->collection : NULL;
  bool is_set = edit->proxy->collection.kind == KVO_SET;
  if (!is_set) edit->status = edit->set_mutation ? run_by_element(edit) : find_and_run(edit);
  else if (edit->set_mutation) edit->status = run_set(edit);
  else edit->status = edit_refuse(edit, "is a set and has no indexes");
}

// Called again if an object that dies throws: nothing is released twice.
static void edit_give_back(void *context) {
  kvo_edit *edit = context;
  kvo_index_set_destroy(edit->own_indexes);
  kvo_index_set_destroy(edit->later_indexes);
  edit->own_indexes = edit->later_indexes = NULL;
  kvo_elements_empty(&edit->elements);
  kvo_elements_empty(&edit->requested);
  kvo_elements_empty(&edit->current);
  kvo_elements_empty(&edit->passed);
  kvo_elements_empty(&edit->stored);
  kvo_edit_empty(&edit->removal);
  kvo_edit_empty(&edit->addition);
  edit_drop(&edit->objects);
  kvo_value_destroy(&edit->value);
  kvo_value_destroy(&edit->stored_value);
  kvo_proxy *proxy = edit->proxy;
  edit->proxy = NULL;
  if (proxy) kvo_object_release(&proxy->collection.object);
}

static void edit_run_and_give_back(void *context) {
  edit_run(context);
  edit_give_back(context);
}

static void edit_end(void *context) {
  const kvo_edit *edit = context;
  if (edit->proxy) kvo_until_done(edit_give_back, context);
}

// Only a mutable proxy can be changed.
static kvo_status check_mutable(const kvo_collection *collection, kvo_error *error) {
  if (collection->methods == &kvo_mutable_methods) return KVO_OK;
  return kvo_fail(error, KVO_READ_ONLY, kvo_class_name(kvo_class_of(&collection->object)), NULL,
      "A collection does not change: ask its owner for a mutable proxy, as kvo_mutable_array is.");
}

// Runs the edit with copies of one element, or of all elements of a collection.
static kvo_status edit_make(kvo_collection *proxy, kvo_edit edit, const kvo_value *element,
    kvo_collection *elements) {
  kvo_status status = check_mutable(proxy, edit.error);
  if (status) {
    kvo_index_set_destroy(edit.own_indexes);
    return status;
  }
  if (element && kvo_elements_add(&edit.elements, element)) status = KVO_NO_MEMORY;
  if (elements) status = elements->methods->pick(elements, NULL, &edit.elements, edit.error);
  edit.proxy = kvo_proxy_of(proxy);
  kvo_object_retain(&proxy->object);
  if (status) {
    edit_end(&edit);
    return status == KVO_NO_MEMORY ? kvo_fail_collection_memory(edit.error) : status;
  }
  kvo_finally(edit_run_and_give_back, edit_end, &edit);
  return edit.status;
}

// MARK: By index

// Fails for the index KVO_NOT_FOUND, which no index set can contain.
static kvo_status fail_not_found(kvo_collection *proxy, kvo_error *error) {
  kvo_status status = check_mutable(proxy, error);
  if (status) return status;
  const kvo_proxy *own = kvo_proxy_of(proxy);
  return kvo_fail_index(error, kvo_class_name(kvo_class_of(own->owner)), own->key, KVO_NOT_FOUND,
      kvo_collection_count(proxy));
}

static kvo_status edit_at(kvo_collection *proxy, kvo_change_kind kind, size_t index,
    const kvo_value *element, kvo_error *error) {
  if (index == KVO_NOT_FOUND) return fail_not_found(proxy, error);
  kvo_index_set *one = kvo_index_set_create_range(index, 1);
  if (!one) return kvo_fail_collection_memory(error);
  const kvo_edit what = {.error = error, .kind = kind, .indexes = one, .own_indexes = one};
  return edit_make(proxy, what, element, NULL);
}

kvo_status kvo_collection_insert(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *error) {
  return edit_at(proxy, KVO_INSERTION, index, element, error);
}

kvo_status kvo_collection_remove_at(kvo_collection *proxy, size_t index, kvo_error *error) {
  return edit_at(proxy, KVO_REMOVAL, index, NULL, error);
}

kvo_status kvo_collection_replace_at(kvo_collection *proxy, size_t index, const kvo_value *element,
    kvo_error *error) {
  return edit_at(proxy, KVO_REPLACEMENT, index, element, error);
}

kvo_status kvo_collection_insert_many(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *error) {
  const kvo_edit what = {.error = error, .kind = KVO_INSERTION, .indexes = indexes};
  return edit_make(proxy, what, NULL, elements);
}

kvo_status kvo_collection_remove_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_error *error) {
  const kvo_edit what = {.error = error, .kind = KVO_REMOVAL, .indexes = indexes};
  return edit_make(proxy, what, NULL, NULL);
}

kvo_status kvo_collection_replace_indexes(kvo_collection *proxy, const kvo_index_set *indexes,
    kvo_collection *elements, kvo_error *error) {
  const kvo_edit what = {.error = error, .kind = KVO_REPLACEMENT, .indexes = indexes};
  return edit_make(proxy, what, NULL, elements);
}

kvo_status kvo_collection_append(kvo_collection *proxy, const kvo_value *element,
    kvo_error *error) {
  // A set can't be appended to; this fails.
  if (proxy->kind == KVO_SET) return edit_at(proxy, KVO_INSERTION, 0, element, error);
  return kvo_collection_add(proxy, element, error);
}

kvo_status kvo_collection_change(kvo_collection *proxy,
    kvo_status (*work_out)(void *context, kvo_worked_out_change *change, kvo_error *error),
    void *context, kvo_error *error) {
  const kvo_edit what = {.error = error, .work_out = work_out, .context = context};
  return edit_make(proxy, what, NULL, NULL);
}

// MARK: By element

static kvo_status edit_by_element(kvo_collection *proxy, kvo_set_mutation mutation,
    const kvo_value *element, kvo_collection *elements, kvo_error *error) {
  const kvo_edit what = {.error = error, .set_mutation = mutation};
  return edit_make(proxy, what, element, elements);
}

kvo_status kvo_collection_add(kvo_collection *proxy, const kvo_value *element, kvo_error *error) {
  return edit_by_element(proxy, KVO_UNION, element, NULL, error);
}

kvo_status kvo_collection_remove(kvo_collection *proxy, const kvo_value *element,
    kvo_error *error) {
  return edit_by_element(proxy, KVO_MINUS, element, NULL, error);
}

kvo_status kvo_collection_union(kvo_collection *proxy, kvo_collection *elements, kvo_error *error) {
  return edit_by_element(proxy, KVO_UNION, NULL, elements, error);
}

kvo_status kvo_collection_minus(kvo_collection *proxy, kvo_collection *elements, kvo_error *error) {
  return edit_by_element(proxy, KVO_MINUS, NULL, elements, error);
}

kvo_status kvo_collection_intersect(kvo_collection *proxy, kvo_collection *elements,
    kvo_error *error) {
  return edit_by_element(proxy, KVO_INTERSECT, NULL, elements, error);
}

kvo_status kvo_collection_set(kvo_collection *proxy, kvo_collection *elements, kvo_error *error) {
  return edit_by_element(proxy, KVO_SET_SET, NULL, elements, error);
}
