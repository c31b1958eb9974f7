// The shapes of structs: a number of equal numeric types.
//
// Such a struct is passed like any other struct of the same numbers, however it is nested. So one C type stands for
// all structs of the shape, in calls and in called functions. On processors whose calling convention may not
// guarantee this, no struct has a shape, and libffi is used.
#include "types/kvo_type.h"

// The numbers in a type: `one` is the shape of a struct of a single such number.
typedef struct {
  kvo_shape one;
  size_t count;
} numbers;

static kvo_shape shape_of_one(kvo_kind kind) {
#if defined(__x86_64__) || defined(__aarch64__)
  switch (kind) {
  case KVO_KIND_DOUBLE: return KVO_SHAPE_DOUBLES_1;
  case KVO_KIND_FLOAT: return KVO_SHAPE_FLOATS_1;
  case KVO_KIND_INT64:
  case KVO_KIND_UINT64:
  case KVO_KIND_POINTER:
  case KVO_KIND_STRING:
  case KVO_KIND_OBJECT:
  case KVO_KIND_SELECTOR: return KVO_SHAPE_LONGS_1;
  case KVO_KIND_INT32:
  case KVO_KIND_UINT32: return KVO_SHAPE_INTS_1;
  default: break;
  }
#endif
  (void)kind;
  return KVO_SHAPE_NONE;
}

static numbers numbers_of(const kvo_type *type) {
  kvo_shape shape = kvo_type_shape(type);
  if (!shape) return (numbers){shape_of_one(type->kind), 1};
  size_t others = (size_t)(shape - 1) % KVO_SHAPE_LARGEST;
  return (numbers){(kvo_shape)(shape - others), others + 1};
}

kvo_shape kvo_struct_shape(const kvo_struct_type *type) {
  numbers all = {KVO_SHAPE_NONE, 0};
  for (size_t i = 0; i < type->member_count; i++) {
    const kvo_struct_member *member = &type->members[i];
    numbers more = numbers_of(member->type);
    if (i && more.one != all.one) return KVO_SHAPE_NONE;
    if (member->count > KVO_SHAPE_LARGEST) return KVO_SHAPE_NONE;
    all = (numbers){more.one, all.count + more.count * member->count};
  }
  bool has_one = all.one && all.count && all.count <= KVO_SHAPE_LARGEST;
  return has_one ? (kvo_shape)(all.one + all.count - 1) : KVO_SHAPE_NONE;
}
