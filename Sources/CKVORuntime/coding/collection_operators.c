// Collection operators: `@sum` and the others (B6).
//
// An operator reads the rest of the path from each element and folds the results: one function adds a value, one
// makes the final result. Integers are summed in 128 bits, which no collection exceeds, so the sum does not depend on
// intermediate results. From the first number on that is not an integer, the sum is a double. But if one of them can
// only be added by a binding, the binding adds all of them, since a double may be less exact than its sum.
//
// Usually the rest of the path is one key, and the elements are of one class. Then its accessors are looked up once,
// and a value that is stored in a field is read directly.
#include "coding/kvo_get_key_path.h"

#include "base/kvo_fail.h"
#include "kvo_class.h"
#include "threads/kvo_thread.h"
#include "types/kvo_type.h"
#include "values/kvo_collection_internal.h"
#include "values/kvo_number.h"

#include <string.h>

typedef struct {
  const kvo_walk *walk;
  const kvo_component *operator;
  kvo_collection_kind kind; ///< of the collection
  size_t count;             ///< the number of values, including nil
  bool is_real;             ///< whether the sum so far is `real`
  __int128 integer;
  double real;
  kvo_value total;   ///< the binding's sum, from the first number on that only a binding can add
  kvo_value taken;   ///< the value that was read from an element
  kvo_value extreme; ///< the least or greatest so far
  kvo_elements elements; ///< the union so far
  const kvo_value *collection;
  kvo_elements operands; ///< its elements, unless it is stored and owns them itself
  kvo_reader reader;     ///< for the one key that follows
  kvo_value *result;
  kvo_status status;
} fold;

// MARK: Errors

static const char *operator_class_name(const fold *fold) {
  return fold->walk->cls ? kvo_class_name(fold->walk->cls) : "a value";
}

static kvo_status operator_refuse(const fold *fold, const kvo_value *value, const char *wanted) {
  static const char *const kinds[] = {
      [KVO_ARRAY] = "an array", [KVO_SET] = "a set", [KVO_ORDERED_SET] = "an ordered set"};
  bool is_nil = kvo_value_is_nil(value);
  kvo_object *object = is_nil ? NULL : kvo_value_get_object(value);
  kvo_collection *collection = object ? kvo_collection_of_value(value) : NULL;
  kvo_status status = is_nil ? KVO_NIL_VALUE : KVO_TYPE_MISMATCH;
  const char *found = is_nil   ? "nil"
                      : object ? kvo_class_name(kvo_class_of(object))
                               : kvo_type_name(value->type);
  kvo_fail(fold->walk->error, status, operator_class_name(fold), fold->walk->path->text,
      "The operator \"@%s\" in the key path \"%s\" of %s needs %s, but an element gives %s%s.",
      fold->operator->key, fold->walk->path->text, operator_class_name(fold), wanted,
      is_nil || collection ? ""
      : object             ? "an object of "
                           : "a value of type ",
      collection ? kinds[collection->kind] : found);
  kvo_fail_types(fold->walk->error, wanted, found);
  return status;
}

static kvo_status operator_no_memory(const fold *fold) {
  return kvo_fail_no_memory(fold->walk->error, "read", operator_class_name(fold),
      fold->walk->path->text);
}

// MARK: Sums

static double real_of(kvo_number number) {
  switch (number.form) {
  case KVO_NUMBER_SIGNED: return (double)number.integer;
  case KVO_NUMBER_UNSIGNED: return (double)number.large;
  case KVO_NUMBER_REAL: break;
  }
  return (double)number.real;
}

KVO_INLINE void add_real(fold *fold, double real) {
  if (KVO_UNLIKELY(!fold->is_real)) fold->real = (double)fold->integer;
  fold->is_real = true;
  fold->real += real;
}

KVO_INLINE void add_integer(fold *fold, int64_t integer) {
  if (fold->is_real) fold->real += (double)integer;
  else fold->integer += integer;
}

static void operator_add(fold *fold, kvo_number number) {
  if (number.form == KVO_NUMBER_REAL || fold->is_real) add_real(fold, real_of(number));
  else if (number.form == KVO_NUMBER_SIGNED) fold->integer += number.integer;
  else fold->integer += number.large;
}

// Replaces a value by the operand that its type gives operators, such as an enum's raw value. False if there is none.
static bool take_operand(kvo_value *value) {
  const kvo_type_operations *operations = value->type->operations;
  kvo_value operand;
  if (!operations || !operations->operand ||
      !operations->operand(value->type, kvo_value_bytes(value), &operand))
    return false;
  kvo_value_destroy(value);
  *value = operand;
  return true;
}

// Adds a value to one whose type can add, and divides the sum.
static bool add_bound(const kvo_value *value, const kvo_value *other, size_t count,
    kvo_value *sum) {
  const kvo_type_operations *operations = value->type->operations;
  return operations && operations->add &&
         operations->add(value->type, kvo_value_bytes(value), other, count, sum);
}

static bool take_bound(fold *fold, const kvo_value *value, const kvo_value *other) {
  kvo_value sum;
  if (!add_bound(value, other, 1, &sum)) return false;
  kvo_value_destroy(&fold->total);
  fold->total = sum;
  return true;
}

// Nil counts as 0.
static kvo_status take_number(fold *fold, kvo_value *value) {
  kvo_number number;
  if (kvo_value_is_nil(value)) return KVO_OK;
  bool is_number = kvo_value_number(value, &number);
  if (KVO_UNLIKELY(!is_number)) {
    if (take_bound(fold, value, &fold->total)) return KVO_OK;
    if (take_operand(value)) return take_number(fold, value);
    return operator_refuse(fold, value, "numbers");
  }
  bool is_bound = KVO_UNLIKELY(fold->total.type != NULL) && take_bound(fold, &fold->total, value);
  if (!is_bound) operator_add(fold, number);
  return KVO_OK;
}

static double real_sum(const fold *fold) {
  return fold->is_real ? fold->real : (double)fold->integer;
}

static kvo_value sum_of(const fold *fold) {
  bool is_integer = !fold->is_real && fold->integer >= INT64_MIN && fold->integer <= INT64_MAX;
  return is_integer ? kvo_value_int((int64_t)fold->integer) : kvo_value_double(real_sum(fold));
}

static kvo_status make_bound(fold *fold, size_t count, kvo_value *result) {
  kvo_value rest = sum_of(fold);
  bool is_made = add_bound(&fold->total, &rest, count, result);
  return is_made ? KVO_OK : operator_no_memory(fold);
}

static kvo_status make_sum(fold *fold, kvo_value *result) {
  if (KVO_UNLIKELY(fold->total.type != NULL)) return make_bound(fold, 1, result);
  *result = sum_of(fold);
  return KVO_OK;
}

static kvo_status make_average(fold *fold, kvo_value *result) {
  if (KVO_UNLIKELY(fold->total.type != NULL)) return make_bound(fold, fold->count, result);
  *result = kvo_value_double(fold->count ? real_sum(fold) / (double)fold->count : 0);
  return KVO_OK;
}

// MARK: Extremes

static bool has_order(const kvo_value *value) {
  const kvo_type_operations *operations = value->type->operations;
  return operations && operations->compare;
}

// The first of equal values is the result. A single value must also be comparable, with itself. A value without an
// order is replaced by its operand.
static kvo_status take_extreme(fold *fold, kvo_value *value) {
  int order;
  if (kvo_value_is_nil(value)) return KVO_OK;
  if (!has_order(value)) (void)take_operand(value);
  bool is_first = !fold->extreme.type;
  if (!kvo_value_compare(value, is_first ? value : &fold->extreme, &order))
    return operator_refuse(fold, value, "values of one type that has an order");
  bool is_beyond = fold->operator->op == KVO_OP_MAX ? order > 0 : order < 0;
  if (!is_first && !is_beyond) return KVO_OK;
  kvo_value_destroy(&fold->extreme);
  fold->extreme = *value;
  *value = KVO_VALUE_NIL;
  return KVO_OK;
}

static kvo_status make_extreme(fold *fold, kvo_value *result) {
  *result = fold->extreme;
  fold->extreme = KVO_VALUE_NIL;
  return KVO_OK;
}

// MARK: Unions

static kvo_status take_object(fold *fold, kvo_value *value) {
  if (kvo_value_is_nil(value)) return operator_refuse(fold, value, "values");
  kvo_status status = kvo_elements_take(&fold->elements, *value);
  *value = KVO_VALUE_NIL;
  return status ? operator_no_memory(fold) : KVO_OK;
}

static kvo_status operator_take_collection(fold *fold, const kvo_value *value, const char *wanted) {
  size_t first = fold->elements.count;
  if (kvo_value_is_nil(value)) return operator_refuse(fold, value, wanted);
  kvo_status status = kvo_value_elements(value, NULL, &fold->elements, fold->walk->error);
  for (size_t i = first; !status && i < fold->elements.count; i++)
    if (kvo_value_is_nil(&fold->elements.values[i]))
      status = operator_refuse(fold, &fold->elements.values[i], "values");
  return status;
}

static kvo_status take_array(fold *fold, kvo_value *value) {
  kvo_collection_kind kind = KVO_SET;
  bool fits = kvo_value_is_collection(value, &kind) && kind != KVO_SET;
  return fits ? operator_take_collection(fold, value, "arrays")
              : operator_refuse(fold, value, "arrays");
}

static kvo_status take_set(fold *fold, kvo_value *value) {
  kvo_collection_kind kind = KVO_ARRAY;
  bool fits = kvo_value_is_collection(value, &kind) && kind != KVO_ARRAY;
  return fits ? operator_take_collection(fold, value, "sets")
              : operator_refuse(fold, value, "sets");
}

static kvo_status make_array(fold *fold, kvo_value *result) {
  bool made = !kvo_value_from_elements(result, KVO_ARRAY, &fold->elements);
  return made ? KVO_OK : operator_no_memory(fold);
}

static kvo_status make_set(fold *fold, kvo_value *result) {
  bool made = !kvo_value_from_elements(result, KVO_SET, &fold->elements);
  return made ? KVO_OK : operator_no_memory(fold);
}

// An ordered set drops repeated elements; its elements, in order, make the array.
static kvo_status make_distinct_array(fold *fold, kvo_value *result) {
  kvo_value distinct;
  if (kvo_value_from_elements(&distinct, KVO_ORDERED_SET, &fold->elements))
    return operator_no_memory(fold);
  kvo_status status = kvo_value_elements(&distinct, NULL, &fold->elements, fold->walk->error);
  kvo_value_destroy(&distinct);
  return status ? status : make_array(fold, result);
}

// An array gives an array, a set a set.
static kvo_status make_distinct(fold *fold, kvo_value *result) {
  return fold->kind == KVO_SET ? make_set(fold, result) : make_distinct_array(fold, result);
}

// MARK: Folding

static const struct {
  kvo_status (*take)(fold *fold, kvo_value *value); ///< may move the value away
  kvo_status (*make)(fold *fold, kvo_value *result);
} operations[] = {
    [KVO_OP_SUM] = {take_number, make_sum},
    [KVO_OP_AVG] = {take_number, make_average},
    [KVO_OP_MIN] = {take_extreme, make_extreme},
    [KVO_OP_MAX] = {take_extreme, make_extreme},
    [KVO_OP_UNION_OF_OBJECTS] = {take_object, make_array},
    [KVO_OP_DISTINCT_UNION_OF_OBJECTS] = {take_object, make_distinct},
    [KVO_OP_UNION_OF_ARRAYS] = {take_array, make_array},
    [KVO_OP_DISTINCT_UNION_OF_ARRAYS] = {take_array, make_distinct_array},
    [KVO_OP_UNION_OF_SETS] = {take_set, make_set},
    [KVO_OP_DISTINCT_UNION_OF_SETS] = {take_set, make_set},
};

static kvo_status operator_take_element(fold *fold, const kvo_value *element, uint32_t rest) {
  kvo_value value;
  kvo_status status = kvo_walk_read_each(fold->walk, &fold->reader, element, rest, &value);
  fold->taken = value; // the fold destroys it if comparing or reading it throws
  if (!status) status = operations[fold->operator->op].take(fold, &fold->taken);
  kvo_value_destroy(&fold->taken);
  fold->count++;
  return status;
}

// MARK: Sums of fields

// Adds a field without conversion, for the most common numeric types.
KVO_INLINE bool add_field(fold *fold, kvo_kind kind, const char *field) {
  switch (kind) {
#define CASE(kind, c_type, operator_add) \
  case KVO_KIND_##kind: {                \
    c_type value;                        \
    memcpy(&value, field, sizeof value); \
    operator_add(fold, value);           \
    return true;                         \
  }
    CASE(INT32, int32_t, add_integer)
    CASE(UINT32, uint32_t, add_integer)
    CASE(INT64, int64_t, add_integer)
    CASE(FLOAT, float, add_real)
    CASE(DOUBLE, double, add_real)
#undef CASE
  default: return false;
  }
}

// Adds the field of an element of the same class as the one before, if its getter returns a field. Calls none of the
// program's code.
KVO_INLINE bool try_add_field(fold *fold, const kvo_value *element) {
  bool is_object = element->type && element->type->kind == KVO_KIND_OBJECT;
  kvo_object *object = is_object ? (kvo_object *)(uintptr_t)element->payload.words[0] : NULL;
  if (!object || kvo_class_of(object) != fold->reader.cls) return false;
  const kvo_accessors *accessors = kvo_reader_field(&fold->reader);
  if (!accessors) return false;
  kvo_kind kind = (kvo_kind)accessors->field_kind;
  if (!add_field(fold, kind, (const char *)object + accessors->field)) return false;
  fold->count++;
  return true;
}

// The caller holds the collection, and a stored one does not change.
static const kvo_elements *get_operands(fold *fold) {
  kvo_collection *collection = kvo_collection_of_value(fold->collection);
  const kvo_elements *stored = collection ? kvo_collection_stored_elements(collection) : NULL;
  if (stored) return stored;
  fold->status = kvo_value_elements(fold->collection, NULL, &fold->operands, fold->walk->error);
  return &fold->operands;
}

// The binding also adds the numbers before the first one that only it can add: their sum, at the end. If that may have
// been rounded, they are read again and added one by one.
static __attribute__((noinline)) void start_bound(fold *fold, const kvo_elements *operands,
    size_t end, uint32_t rest) {
  if (!fold->is_real && fold->integer >= INT64_MIN && fold->integer <= INT64_MAX) return;
  fold->is_real = false;
  fold->integer = 0;
  fold->real = 0;
  fold->count -= end;
  for (size_t i = 0; !fold->status && i < end; i++)
    fold->status = operator_take_element(fold, &operands->values[i], rest);
}

// Reading elements calls the program's code, which may throw.
static void operator_take_elements(void *opaque) {
  fold *fold = opaque;
  uint32_t rest = (uint32_t)(fold->operator - fold->walk->path->components) + 1;
  const kvo_elements *operands = get_operands(fold);
  bool adds = fold->operator->op == KVO_OP_SUM || fold->operator->op == KVO_OP_AVG;
  for (size_t i = 0; !fold->status && i < operands->count; i++) {
    if (adds && try_add_field(fold, &operands->values[i])) continue;
    fold->status = operator_take_element(fold, &operands->values[i], rest);
    if (KVO_LIKELY(!adds || !fold->total.type) || fold->status) continue;
    adds = false; // by fields: from now on the binding adds
    start_bound(fold, operands, i, rest);
  }
  if (!fold->status) fold->status = operations[fold->operator->op].make(fold, fold->result);
}

static void end_fold(void *opaque) {
  fold *fold = opaque;
  kvo_value_destroy(&fold->taken);
  kvo_value_destroy(&fold->extreme);
  kvo_value_destroy(&fold->total);
  kvo_elements_destroy(&fold->elements);
  kvo_elements_destroy(&fold->operands);
}

kvo_status kvo_walk_operate(const kvo_walk *walk, const kvo_value *collection, uint32_t index,
    kvo_value *result) {
  fold fold = {.walk = walk,
      .operator = &walk->path->components[index],
      .kind = KVO_ARRAY,
      .collection = collection,
      .result = result};
  *result = KVO_VALUE_NIL;
  if (fold.operator->op == KVO_OP_COUNT) {
    *result = kvo_value_int((int64_t)kvo_value_count(collection));
    return KVO_OK;
  }
  kvo_value_is_collection(collection, &fold.kind);
  kvo_unwinding(operator_take_elements, end_fold, &fold);
  end_fold(&fold);
  return fold.status;
}
