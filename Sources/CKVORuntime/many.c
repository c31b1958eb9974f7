// Several keys at once. They are checked before the first is set.
#include "kvo_coding.h"
#include "kvo_path_coding.h"

kvo_status kvo_values_for_keys(kvo_object *object, const char *const *keys, size_t count,
    kvo_value *values, kvo_error *error) {
  kvo_status status = KVO_OK;
  size_t read = 0;
  for (; !status && read < count; read++)
    status = kvo_value_for_key(object, keys[read], &values[read], error);
  if (!status) return KVO_OK;
  for (size_t i = 0; i < count; i++) {
    if (i < read) kvo_value_destroy(&values[i]);
    else values[i] = KVO_VALUE_NIL;
  }
  return status;
}

kvo_status kvo_set_values_for_keys(kvo_object *object, const char *const *keys, size_t count,
    const kvo_value *values, kvo_error *error) {
  kvo_status status = KVO_OK;
  for (size_t i = 0; !status && i < count; i++)
    status = kvo_check_value_for_key(object, keys[i], &values[i], error);
  for (size_t i = 0; !status && i < count; i++)
    status = kvo_set_value_for_key(object, keys[i], &values[i], error);
  return status;
}
