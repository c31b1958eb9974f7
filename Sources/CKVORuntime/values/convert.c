// Converting values to other types (B2): numbers, objects, collections; a binding's types by its own functions.
#include "values/kvo_collection_internal.h"
#include "values/kvo_number.h"

// MARK: Converting values

static kvo_status convert_number(kvo_value *target, const kvo_type *type, const kvo_value *source) {
  kvo_number number;
  if (!kvo_value_number(source, &number)) return KVO_TYPE_MISMATCH;
  void *room = kvo_value_room(target, type);
  if (!room) return KVO_NO_MEMORY;
  kvo_number_write(type, room, number);
  return KVO_OK;
}

static kvo_status make_collection(kvo_value *target, const kvo_value *source,
    kvo_collection_kind kind) {
  kvo_elements elements = {0};
  kvo_status status = kvo_value_elements(source, NULL, &elements, NULL);
  if (!status) return kvo_value_from_elements(target, kind, &elements);
  kvo_elements_destroy(&elements);
  return status;
}

// A binding's object becomes an object reference, its collection a `kvo_collection`.
static kvo_status convert_to_object(kvo_value *target, const kvo_value *source) {
  kvo_collection_kind kind;
  if (kvo_value_is_nil(source)) return KVO_OK;
  kvo_object *object = kvo_value_get_object(source);
  if (object) return kvo_value_init(target, kvo_type_of_kind(KVO_KIND_OBJECT), &object);
  if (!kvo_value_is_collection(source, &kind)) return KVO_TYPE_MISMATCH;
  return make_collection(target, source, kind);
}

static kvo_status make_binding_collection(const kvo_type *type, void *room,
    const kvo_value *source) {
  const kvo_value nothing = KVO_VALUE_NIL;
  kvo_elements elements = {0};
  kvo_status status = kvo_value_elements(source, NULL, &elements, NULL);
  if (!status)
    status = type->operations->collection->make(type, room,
        elements.count ? elements.values : &nothing, elements.count, NULL);
  kvo_elements_destroy(&elements);
  return status;
}

static bool can_make(const kvo_type *type) {
  return type->operations && type->operations->collection && type->operations->collection->make;
}

static kvo_status convert_to_binding(kvo_value *target, const kvo_type *type,
    const kvo_value *source) {
  bool makes = can_make(type) && kvo_value_is_collection(source, NULL);
  if (!makes && !(type->operations && type->operations->convert)) return KVO_TYPE_MISMATCH;
  kvo_value made;
  void *room = kvo_value_room(&made, type);
  if (!room) return KVO_NO_MEMORY;
  kvo_status status = makes ? make_binding_collection(type, room, source)
                            : type->operations->convert(type, room, source);
  if (status) kvo_value_give_up(&made);
  *target = made;
  return status;
}

kvo_status kvo_value_convert(kvo_value *target, const kvo_type *type, const kvo_value *source) {
  if (source->type == type) return kvo_value_copy(target, source);
  *target = KVO_VALUE_NIL;
  if (type->kind == KVO_KIND_BINDING) return convert_to_binding(target, type, source);
  if (type->kind == KVO_KIND_OBJECT) return convert_to_object(target, source);
  if (kvo_type_is_number(type)) return convert_number(target, type, source);
  bool is_nil_string = type->kind == KVO_KIND_STRING && kvo_value_is_nil(source);
  return is_nil_string ? KVO_OK : KVO_TYPE_MISMATCH;
}
