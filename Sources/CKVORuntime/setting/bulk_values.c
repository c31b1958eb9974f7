// Reading and setting several keys at once (B11). Before the first key is set, all keys are checked and all values
// converted, so only a key that the class's hook sets may still be refused half-way. The object is held until the last
// key is read or set, because a getter or an observer of the first may release it.
#include "base/kvo_fail.h"
#include "base/kvo_memory.h"
#include "kvo_coding.h"
#include "objects/kvo_class_internal.h"
#include "setting/kvo_setting.h"
#include "threads/kvo_thread.h"

typedef struct {
  kvo_object *object;
  const char *const *keys;
  size_t count;
  kvo_value *values;
  size_t read;
  kvo_error *error;
  kvo_status status;
} reading;

static void bulk_read_all(void *opaque) {
  reading *reading = opaque;
  for (; !reading->status && reading->read < reading->count; reading->read++)
    reading->status = kvo_value_for_key(reading->object, reading->keys[reading->read],
        &reading->values[reading->read], reading->error);
}

// Destroys the values read so far if a later key can't be read or its getter throws.
static void bulk_give_back(void *opaque) {
  reading *reading = opaque;
  for (size_t i = 0; i < reading->count; i++) {
    if (i < reading->read) kvo_value_destroy(&reading->values[i]);
    reading->values[i] = KVO_VALUE_NIL;
  }
}

static void read_or_give_back(void *opaque) {
  kvo_unwinding(bulk_read_all, bulk_give_back, opaque);
}

kvo_status kvo_values_for_keys(kvo_object *object, const char *const *keys, size_t count,
    kvo_value *values, kvo_error *error) {
  reading reading = {object, keys, count, values, 0, error, KVO_OK};
  kvo_with_object_retained(object, read_or_give_back, &reading);
  if (reading.status) bulk_give_back(&reading);
  return reading.status;
}

// MARK: Setting

typedef struct {
  kvo_object *object;
  const char *const *keys;
  size_t count;
  const kvo_value *values;
  kvo_error *error;
  kvo_setting *settings;
  size_t prepared, made;
  bool is_held;
  kvo_status status;
} batch;

// This may call the program's code: a class method decides whether ivars may be set.
static void prepare_all(batch *batch) {
  for (size_t i = 0; !batch->status && i < batch->count; i++, batch->prepared += !batch->status)
    batch->status = kvo_setting_prepare(batch->object, batch->keys[i], &batch->values[i],
        &batch->settings[i], batch->error);
}

static void bulk_make_all(void *opaque) {
  batch *batch = opaque;
  prepare_all(batch);
  for (; !batch->status && batch->made < batch->prepared; batch->made++) {
    size_t i = batch->made;
    if (batch->settings[i].accessors) kvo_setting_make(batch->object, &batch->settings[i]);
    else
      batch->status =
          kvo_set_value_for_key(batch->object, batch->keys[i], &batch->values[i], batch->error);
  }
}

static void bulk_end(void *opaque) {
  batch *batch = opaque;
  for (size_t i = 0; i < batch->prepared; i++) kvo_value_destroy(&batch->settings[i].value);
  kvo_free(batch->settings);
  if (batch->is_held) kvo_object_release(batch->object);
}

kvo_status kvo_set_values_for_keys(kvo_object *object, const char *const *keys, size_t count,
    const kvo_value *values, kvo_error *error) {
  batch batch = {.object = object, .keys = keys, .count = count, .values = values, .error = error};
  const char *name = kvo_class_name(kvo_class_of(object));
  batch.settings = kvo_alloc(count * sizeof *batch.settings + 1);
  if (!batch.settings)
    return kvo_fail(error, KVO_NO_MEMORY, name, NULL, "No memory to set keys of %s.", name);
  batch.is_held = kvo_object_retain_memory(object);
  kvo_unwinding(bulk_make_all, bulk_end, &batch);
  bulk_end(&batch);
  return batch.status;
}
