// The work of every interposer: open the changes of the keys that the method changes, call the original, close the
// changes. Keys that share a method are changed together. They are opened in the order of their names and closed in
// reverse order, so that they nest.
//
// An accessor may accept a negative index, for example -1 for the end. A change record can't hold such an index (H6),
// but the accessor changes something, so observers are notified of a setting.
#include "interposing/kvo_interpose.h"

#include "base/kvo_memory.h"
#include "classes/kvo_accessor_kind.h"
#include "delivery/kvo_delivery.h"
#include "objects/kvo_class_internal.h"
#include "threads/kvo_thread.h"
#include "values/kvo_collection_internal.h"

// MARK: The mutation of an accessor

static const kvo_type *argument_type(const kvo_method *method, size_t i) {
  return method->call->arguments[i];
}

static size_t index_argument(const kvo_method *method, void **arguments, size_t i) {
  kvo_value value = KVO_VALUE_NIL;
  kvo_value_init(&value, argument_type(method, i), arguments[i]); // a number needs no memory
  return (size_t)kvo_value_get_int(&value);
}

static const kvo_index_set *indexes_argument(void **arguments, size_t i) {
  return *(const kvo_index_set **)arguments[i];
}

static kvo_collection *objects_argument(void **arguments, size_t i) {
  kvo_collection *objects = *(kvo_collection **)arguments[i];
  if (objects) kvo_object_retain(&objects->object);
  return objects;
}

static kvo_collection *object_argument(const kvo_method *method, void **arguments, size_t i) {
  kvo_value element;
  if (kvo_value_init(&element, argument_type(method, i), arguments[i])) return NULL;
  kvo_collection *objects = kvo_collection_create(KVO_SET, &element, 1, NULL);
  kvo_value_destroy(&element);
  return objects;
}

// A mutation that owns its indexes and objects.
typedef struct owned_mutation {
  kvo_mutation mutation;
  kvo_index_set *indexes;
} owned_mutation;

static owned_mutation make_setting(void) { return (owned_mutation){{.kind = KVO_SETTING}, NULL}; }

static owned_mutation make_indexed(kvo_change_kind kind, kvo_index_set *indexes) {
  return (owned_mutation){{.kind = kind, .indexes = indexes}, indexes};
}

static __attribute__((noinline)) owned_mutation refuse_index(void **arguments,
    const kvo_method *method, size_t index) {
  const kvo_object *self = *(kvo_object **)arguments[0];
  kvo_misuse("%s of %s was called with the index %td, which no element of \"%s\" can have. Its "
             "observers are notified that all of it was set.",
      method->selector, kvo_class_of(self)->name, (ptrdiff_t)index,
      (const char *)kvo_interpose_key(method));
  return make_setting();
}

static owned_mutation at_index(kvo_change_kind kind, const kvo_method *method, void **arguments,
    size_t i) {
  size_t index = index_argument(method, arguments, i);
  if (KVO_UNLIKELY(kvo_index_is_negative(index))) return refuse_index(arguments, method, index);
  return make_indexed(kind, kvo_index_set_create_range(index, 1));
}

static owned_mutation make_insertion(const kvo_method *method, void **arguments) {
  owned_mutation insertion = at_index(KVO_INSERTION, method, arguments, 3);
  if (argument_type(method, 2)->kind == KVO_KIND_OBJECT)
    insertion.mutation.inserted = *(kvo_object **)arguments[2];
  return insertion;
}

static owned_mutation at_indexes(kvo_change_kind kind, const kvo_method *method, void **arguments,
    size_t i) {
  const kvo_index_set *indexes = indexes_argument(arguments, i);
  if (!indexes || !kvo_index_set_count(indexes)) return make_indexed(kind, kvo_index_set_create());
  size_t last = kvo_index_set_last(indexes);
  if (KVO_UNLIKELY(kvo_index_is_negative(last))) return refuse_index(arguments, method, last);
  return make_indexed(kind, kvo_index_set_copy(indexes));
}

static owned_mutation of_set(kvo_set_mutation mutation, kvo_collection *objects) {
  return (owned_mutation){
      {.kind = kvo_set_mutation_kind(mutation), .set_mutation = mutation, .objects = objects},
      NULL};
}

static owned_mutation mutation_made_by(const kvo_method *method, void **arguments) {
  switch ((kvo_accessor_kind)method->accessor_kind) {
  case KVO_ACCESSOR_INSERT: return make_insertion(method, arguments);
  case KVO_ACCESSOR_INSERT_MANY: return at_indexes(KVO_INSERTION, method, arguments, 3);
  case KVO_ACCESSOR_REMOVE: return at_index(KVO_REMOVAL, method, arguments, 2);
  case KVO_ACCESSOR_REMOVE_MANY: return at_indexes(KVO_REMOVAL, method, arguments, 2);
  case KVO_ACCESSOR_REPLACE: return at_index(KVO_REPLACEMENT, method, arguments, 2);
  case KVO_ACCESSOR_REPLACE_MANY: return at_indexes(KVO_REPLACEMENT, method, arguments, 2);
  case KVO_ACCESSOR_ADD: return of_set(KVO_UNION, object_argument(method, arguments, 2));
  case KVO_ACCESSOR_ADD_MANY: return of_set(KVO_UNION, objects_argument(arguments, 2));
  case KVO_ACCESSOR_DROP: return of_set(KVO_MINUS, object_argument(method, arguments, 2));
  case KVO_ACCESSOR_DROP_MANY: return of_set(KVO_MINUS, objects_argument(arguments, 2));
  case KVO_ACCESSOR_INTERSECT: return of_set(KVO_INTERSECT, objects_argument(arguments, 2));
  case KVO_ACCESSOR_NONE:
  case KVO_ACCESSOR_SET: break;
  }
  return make_setting();
}

static void end_mutation(owned_mutation *owned) {
  kvo_index_set_destroy(owned->indexes);
  if (owned->mutation.objects) kvo_object_release(&owned->mutation.objects->object);
}

// MARK: Around the original

// A mutation whose changes are being opened. Their prior calls may throw.
typedef struct opening {
  kvo_interposition *interposition;
  kvo_object *self;
  const kvo_method *method;
  owned_mutation owned;
  bool ran_out_of_memory; // memory ran out
} opening;

// A method may change two keys; usually only one of them was ever observed.
static void open_keys(void *opaque) {
  const opening *opening = opaque;
  // If there is no memory, observers are notified of a setting: that is less detailed, but correct.
  bool is_setting = opening->ran_out_of_memory || opening->owned.mutation.kind == KVO_SETTING;
  const kvo_mutation *mutation = is_setting ? NULL : &opening->owned.mutation;
  for (uint32_t i = 0; i < KVO_KEYS_PER_METHOD; i++)
    if (opening->interposition->observed & (1u << i))
      opening->interposition->frames[i] =
          kvo_change_open_mutation(opening->self, (uintptr_t)opening->method->keys[i], mutation);
}

static void end_opening(void *opaque) { end_mutation(&((opening *)opaque)->owned); }

static void open_mutations(kvo_interposition *interposition, kvo_object *self,
    const kvo_method *method, void **arguments) {
  uint64_t shortages = kvo_shortages;
  opening opening = {interposition, self, method, mutation_made_by(method, arguments), false};
  opening.ran_out_of_memory = kvo_shortages != shortages;
  kvo_unwinding(open_keys, end_opening, &opening);
  for (uint32_t i = 0; KVO_UNLIKELY(opening.ran_out_of_memory) && i < method->key_count; i++)
    if (interposition->frames[i]) kvo_change_report_shortage(interposition->frames[i], shortages);
  end_opening(&opening);
}

static void open_settings(kvo_interposition *interposition, kvo_object *self,
    const kvo_method *method) {
  for (uint32_t i = 0; i < KVO_KEYS_PER_METHOD; i++)
    if (interposition->observed & (1u << i))
      interposition->frames[i] = kvo_change_open(self, (uintptr_t)method->keys[i]);
}

kvo_interposition kvo_interpose_begin(kvo_object *self, const kvo_method *method,
    void **arguments) {
  kvo_interposition interposition = {.original = kvo_interpose_original(self, method),
      .self = self,
      .method = method,
      .observed = kvo_interpose_observed(method)};
  if (KVO_LIKELY(method->accessor_kind == KVO_ACCESSOR_SET))
    open_settings(&interposition, self, method);
  else open_mutations(&interposition, self, method, arguments);
  return interposition;
}

void kvo_interpose_end(const kvo_interposition *interposition) {
  kvo_interpose_notify_late_observers(interposition->self, interposition->method,
      interposition->observed);
  if (interposition->frames[1]) kvo_change_close(interposition->frames[1]);
  if (interposition->frames[0]) kvo_change_close(interposition->frames[0]);
}
