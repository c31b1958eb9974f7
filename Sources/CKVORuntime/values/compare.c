// Comparing values: equality and order.
//
// Two values are compared by what they have in common: one type, else numbers, else objects, else collections, else
// what they are equivalent to. So a binding's number can equal the runtime's, and its object the runtime's reference.
#include "objects/kvo_class_internal.h"
#include "types/kvo_call.h"
#include "values/kvo_collection_internal.h"
#include "values/kvo_number.h"

#include <string.h>

// MARK: Equality

static bool numbers_are_equal(const kvo_value *a, const kvo_value *b) {
  kvo_number left, right;
  return kvo_value_number(a, &left) && kvo_value_number(b, &right) && kvo_number_equal(left, right);
}

static bool are_equal_within_type(const kvo_value *a, const kvo_value *b) {
  const kvo_type *type = a->type;
  return type->equal && type->equal(type, kvo_value_bytes(a), kvo_value_bytes(b));
}

// Nils are equal, unless they are of one type that tells them apart: in Swift's `Int??`, nil and `.some(nil)` differ.
static bool nils_are_equal(const kvo_value *a, const kvo_value *b) {
  bool are_same_type = a->type && a->type == b->type;
  return !are_same_type || !a->type->equal || are_equal_within_type(a, b);
}

// The value that a value is equivalent to (B6); nil if there is none.
static kvo_value equivalent_of(const kvo_value *value) {
  const kvo_type_operations *operations = value->type->operations;
  kvo_value equivalent;
  bool has_one = operations && operations->equivalent &&
                 operations->equivalent(value->type, kvo_value_bytes(value), &equivalent);
  return has_one ? equivalent : KVO_VALUE_NIL;
}

// Compares the equivalents of two values. If one has the type of the other value, it is compared with that value itself: a
// decimal number has more digits than its own equivalent. False if neither value has an equivalent.
static bool equivalents_are_equal(const kvo_value *a, const kvo_value *b) {
  kvo_value left = equivalent_of(a), right = equivalent_of(b);
  bool takes_left = left.type && right.type != a->type;
  bool takes_right = right.type && left.type != b->type;
  bool are_equal = (takes_left || takes_right) &&
                   kvo_value_equal(takes_left ? &left : a, takes_right ? &right : b);
  kvo_value_destroy(&left);
  kvo_value_destroy(&right);
  return are_equal;
}

bool kvo_value_equal(const kvo_value *a, const kvo_value *b) {
  const kvo_type *type = a->type;
  bool is_plain = type && type == b->type && !type->operations && type->kind != KVO_KIND_OBJECT;
  if (KVO_LIKELY(is_plain)) return are_equal_within_type(a, b);
  bool is_nil = kvo_value_is_nil(a);
  if (is_nil || kvo_value_is_nil(b)) return is_nil && kvo_value_is_nil(b) && nils_are_equal(a, b);
  if (a->type == b->type) {
    bool are_equal = are_equal_within_type(a, b);
    // Unequal objects may still be equal as numbers, collections or equivalents.
    if (are_equal || a->type->kind != KVO_KIND_OBJECT) return are_equal;
  }
  if (numbers_are_equal(a, b)) return true;
  kvo_object *object = kvo_value_get_object(a);
  if (object && object == kvo_value_get_object(b)) return true;
  if (kvo_value_is_collection(a, NULL)) return kvo_value_collections_equal(a, b);
  return equivalents_are_equal(a, b);
}

// MARK: Order

// The object's `compare:`, if it has the documented encoding.
static const kvo_method *comparing_method(const kvo_object *object) {
  const kvo_method *method = kvo_class_method(kvo_class_of(object), "compare:");
  bool fits = method && method->call && !strcmp(method->call->encoding, "i@:@");
  return fits ? method : NULL;
}

static bool compare_objects(kvo_object *a, kvo_object *b, int *order) {
  const kvo_method *method = comparing_method(a);
  if (!method || method != comparing_method(b)) return false;
  typedef int (*compare)(kvo_object *, const kvo_method *, kvo_object *);
  *order = ((compare)kvo_method_lookup(a, method))(a, method, b);
  return true;
}

static bool compare_within_type(const kvo_value *a, const kvo_value *b, int *order) {
  const kvo_type_operations *operations = a->type->operations;
  if (a->type->kind == KVO_KIND_STRING)
    *order = strcmp(kvo_value_get_string(a), kvo_value_get_string(b));
  else if (operations && operations->compare)
    *order = operations->compare(a->type, kvo_value_bytes(a), kvo_value_bytes(b));
  else return false;
  return true;
}

static bool convert_number(kvo_value *converted, const kvo_type *type, const kvo_value *number) {
  void *room = kvo_value_room(converted, type);
  if (!room) return false;
  if (!type->operations->convert(type, room, number)) return true;
  kvo_value_give_up(converted);
  return false;
}

// Whether a value is below the zero of its type, equal to it or above it: negative, 0 or positive.
static int sign_in_type(const kvo_value *value) {
  kvo_value zero = kvo_value_int(0), converted;
  if (!convert_number(&converted, value->type, &zero)) return 0;
  const kvo_type_operations *operations = value->type->operations;
  int sign = operations->compare(value->type, kvo_value_bytes(value), kvo_value_bytes(&converted));
  kvo_value_destroy(&converted);
  return sign;
}

// The order of two values of a type, the second of which was converted from a number. A number that is too large for
// the type becomes NaN there, which is below every number; one that is too small becomes 0.
static int order_after_conversion(const kvo_value *a, const kvo_value *converted,
    kvo_number number) {
  const kvo_type_operations *operations = a->type->operations;
  int order = operations->compare(a->type, kvo_value_bytes(a), kvo_value_bytes(converted));
  int sign = kvo_number_compare(number, (kvo_number){.form = KVO_NUMBER_SIGNED});
  int converted_sign = sign_in_type(converted);
  bool is_nan = sign > 0 && converted_sign < 0;
  bool is_rounded_to_zero = !order && !converted_sign;
  if (is_nan) return -1;
  return is_rounded_to_zero ? -sign : order;
}

// Compares a number that the runtime's types can't represent, such as a decimal one, with a number of another type.
static bool compare_with_number(const kvo_value *a, const kvo_value *b, int *order) {
  const kvo_type_operations *operations = a->type->operations;
  kvo_number number;
  // Only the number types of a binding have `add`.
  bool are_numbers = operations && operations->add && operations->compare && operations->convert &&
                     kvo_value_number(b, &number);
  kvo_value converted;
  if (!are_numbers || !convert_number(&converted, a->type, b)) return false;
  *order = order_after_conversion(a, &converted, number);
  kvo_value_destroy(&converted);
  return true;
}

bool kvo_value_compare(const kvo_value *a, const kvo_value *b, int *order) {
  kvo_number left, right;
  if (kvo_value_is_nil(a) || kvo_value_is_nil(b)) return false;
  if (kvo_value_number(a, &left) && kvo_value_number(b, &right)) {
    *order = kvo_number_compare(left, right);
    // Different numbers of a binding's type may have been rounded to the same one.
    if (!*order && a->type == b->type) (void)compare_within_type(a, b, order);
    return true;
  }
  if (a->type == b->type && compare_within_type(a, b, order)) return true;
  if (compare_with_number(a, b, order)) return true;
  if (compare_with_number(b, a, order)) {
    *order = -*order;
    return true;
  }
  kvo_object *object = kvo_value_get_object(a), *other = kvo_value_get_object(b);
  return object && other && compare_objects(object, other, order);
}
