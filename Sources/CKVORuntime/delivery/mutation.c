// Reads the elements that a change of a to-many key adds and removes (H1, H4).
//
// For an ordered key, the removed elements are those at the indexes before the change, the added ones those at the
// indexes after it. A set is copied before the change and compared with the set after it. So the delivery is right
// even if an accessor adds nothing, or something other than its argument.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_forward.h"
#include "base/kvo_memory.h"
#include "values/kvo_collection_internal.h"

static bool copy_objects(kvo_mutation_record *record, const kvo_mutation *mutation) {
  if (mutation->members) return kvo_value_copy(&record->objects, mutation->members) == KVO_OK;
  record->objects = kvo_value_object((kvo_object *)mutation->objects);
  return true;
}

// Copies the elements that the binding names. False if out of memory.
static bool copy_given(kvo_mutation_record *record, const kvo_mutation *mutation) {
  record->elements_are_given = mutation->goes || mutation->comes;
  record->has_predicted =
      mutation->goes && kvo_value_copy(&record->predicted, mutation->goes) == KVO_OK;
  record->has_new =
      mutation->comes && kvo_value_copy(&record->new_value, mutation->comes) == KVO_OK;
  return (!mutation->goes || record->has_predicted) && (!mutation->comes || record->has_new);
}

bool kvo_mutation_begin(kvo_mutation_record *record, const kvo_mutation *mutation) {
  *record = (kvo_mutation_record){.kind = mutation->kind,
      .set_mutation = mutation->set_mutation,
      .inserted = mutation->inserted,
      .is_exact = mutation->is_exact};
  if (mutation->indexes) record->indexes = kvo_index_set_copy(mutation->indexes);
  if (mutation->indexes && !record->indexes) return false;
  return copy_objects(record, mutation) && copy_given(record, mutation);
}

static void free_replaced(kvo_replaced_value *replaced) {
  while (replaced) {
    kvo_replaced_value *next = replaced->next;
    kvo_value_destroy(&replaced->value);
    kvo_free(replaced);
    replaced = next;
  }
}

void kvo_mutation_destroy(kvo_mutation_record *record) {
  if (record->has_predicted) kvo_value_destroy(&record->predicted);
  if (record->has_old) kvo_value_destroy(&record->old_value);
  if (record->has_new) kvo_value_destroy(&record->new_value);
  if (record->has_before) kvo_value_destroy(&record->before);
  kvo_value_destroy(&record->objects);
  kvo_index_set_destroy(record->indexes);
  free_replaced(record->replaced);
  *record = (kvo_mutation_record){0};
}

void kvo_mutation_free(kvo_mutation_record *record) {
  kvo_mutation_destroy(record);
  kvo_free(record);
}

// The elements that an intersection removes are not named, nor those that setting a set adds and removes.
bool kvo_mutation_name_elements(const kvo_mutation_record *record, kvo_named_elements *named) {
  if (record->kind == KVO_REPLACEMENT && !record->indexes) return false;
  *named = (kvo_named_elements){.kind = record->kind,
      .indexes = record->indexes,
      .inserted = record->inserted,
      .is_exact = record->is_exact};
  if (record->set_mutation == KVO_UNION) named->comes = &record->objects;
  else if (record->set_mutation == KVO_MINUS) named->goes = &record->objects;
  else if (record->elements_are_given && record->has_predicted) named->goes = &record->predicted;
  if (record->elements_are_given && record->has_new) named->comes = &record->new_value;
  return named->indexes || named->goes || named->comes;
}

static bool gives_old_elements(const kvo_mutation_record *record) {
  return record->kind != KVO_INSERTION;
}
static bool gives_new_elements(const kvo_mutation_record *record) {
  return record->kind != KVO_REMOVAL;
}

static void mutation_read_key(kvo_object *object, uintptr_t id, kvo_value *value) {
  const kvo_accessors *accessors = kvo_change_accessors(object, id);
  *value = KVO_VALUE_NIL;
  if (accessors) kvo_accessors_read(accessors, object, value);
}

// State for reading elements of the key's value, which may be a proxy whose accessors throw.
typedef struct {
  kvo_value all;
  const kvo_index_set *indexes;
  kvo_value *picked;
  bool done;
} picking;

static void pick_from_all(void *opaque) {
  picking *picking = opaque;
  picking->done = kvo_value_pick(&picking->all, picking->indexes, picking->picked) == KVO_OK;
}

static void end_picking(void *opaque) { kvo_value_destroy(&((picking *)opaque)->all); }

static bool mutation_pick(kvo_object *object, uintptr_t id, const kvo_index_set *indexes,
    kvo_value *picked) {
  const kvo_accessors *accessors = kvo_change_accessors(object, id);
  const kvo_property_description *property = accessors ? kvo_accessors_property(accessors) : NULL;
  if (property && property->pick) {
    property->pick(object, property->binding, indexes, picked);
    return true;
  }
  picking picking = {.indexes = indexes, .picked = picked};
  mutation_read_key(object, id, &picking.all);
  kvo_unwinding(pick_from_all, end_picking, &picking);
  end_picking(&picking);
  return picking.done;
}

// Predicts the members that a set will lose: minus removes the operand's members, the other operations keep only the
// operand's.
static bool mutation_predict(kvo_mutation_record *record) {
  kvo_status status =
      record->set_mutation == KVO_MINUS
          ? kvo_value_intersection(&record->before, &record->objects, &record->predicted)
          : kvo_value_difference(&record->before, &record->objects, &record->predicted);
  return status == KVO_OK;
}

static void read_set_before(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options) {
  if (!(options & (KVO_OLD | KVO_NEW))) return;
  mutation_read_key(object, id, &record->before);
  record->has_before = kvo_value_snapshot(&record->before) == KVO_OK;
  kvo_value_detach(&record->before);
  if (record->has_before && options & KVO_OLD && gives_old_elements(record))
    record->has_predicted = mutation_predict(record);
}

void kvo_mutation_read_before(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options) {
  if (record->elements_are_given) return;
  if (record->set_mutation) read_set_before(record, object, id, options);
  else if (options & KVO_OLD && gives_old_elements(record) && record->indexes)
    record->has_predicted = mutation_pick(object, id, record->indexes, &record->predicted);
}

typedef struct {
  kvo_mutation_record *record;
  kvo_value after;
} difference;

static void find_difference(void *opaque) {
  difference *difference = opaque;
  kvo_mutation_record *record = difference->record;
  const kvo_value *before = &record->before, *after = &difference->after;
  // An observer asked for the removed members exactly if they were predicted.
  record->has_old =
      record->has_predicted && kvo_value_difference(before, after, &record->old_value) == KVO_OK;
  record->has_new = gives_new_elements(record) &&
                    kvo_value_difference(after, before, &record->new_value) == KVO_OK;
}

static void end_difference(void *opaque) { kvo_value_destroy(&((difference *)opaque)->after); }

static void read_set_after(kvo_mutation_record *record, kvo_object *object, uintptr_t id) {
  if (!record->has_before) return;
  difference difference = {.record = record};
  mutation_read_key(object, id, &difference.after);
  kvo_unwinding(find_difference, end_difference, &difference);
  end_difference(&difference);
}

void kvo_mutation_read_after(kvo_mutation_record *record, kvo_object *object, uintptr_t id,
    uint32_t options) {
  if (record->set_mutation && !record->elements_are_given) {
    read_set_after(record, object, id);
    return;
  }
  record->has_old =
      record->has_predicted && kvo_value_copy(&record->old_value, &record->predicted) == KVO_OK;
  bool reads_indexed = record->indexes && !record->elements_are_given;
  if (options & KVO_NEW && gives_new_elements(record) && reads_indexed)
    record->has_new = mutation_pick(object, id, record->indexes, &record->new_value);
}
