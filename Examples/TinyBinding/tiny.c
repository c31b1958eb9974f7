#include "tiny.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

// MARK: Objects

static tiny_object *object_of(const kvo_object *header) {
  return (tiny_object *)((uintptr_t)header - offsetof(tiny_object, header));
}

// All strong references together hold one unowned reference; the last unowned reference frees the
// memory.
static void retain(kvo_object *header) {
  __atomic_fetch_add(&object_of(header)->strong, 1, __ATOMIC_RELAXED);
}

static bool try_retain(kvo_object *header) {
  uint32_t *strong = &object_of(header)->strong, count = __atomic_load_n(strong, __ATOMIC_RELAXED);
  while (count)
    if (__atomic_compare_exchange_n(strong, &count, count + 1, true, __ATOMIC_ACQUIRE,
            __ATOMIC_RELAXED))
      return true;
  return false;
}

static void unowned_retain(kvo_object *header) {
  __atomic_fetch_add(&object_of(header)->unowned, 1, __ATOMIC_RELAXED);
}

static void unowned_release(kvo_object *header) {
  tiny_object *self = object_of(header);
  if (__atomic_sub_fetch(&self->unowned, 1, __ATOMIC_ACQ_REL) == 0) free(self);
}

static void release(kvo_object *header) {
  if (__atomic_sub_fetch(&object_of(header)->strong, 1, __ATOMIC_ACQ_REL)) return;
  if (kvo_binding_has_observations(header)) kvo_object_will_die(header);
  unowned_release(header);
}

static size_t describe(const kvo_object *header, char *buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "a %s", object_of(header)->cls->name);
}

static const kvo_class_operations operations = {.retain = retain,
    .release = release,
    .try_retain = try_retain,
    .unowned_retain = unowned_retain,
    .unowned_release = unowned_release,
    .describe = describe};

static const kvo_class *class_of(const kvo_object *header) {
  return object_of(header)->cls->known_as;
}

// MARK: Values

static bool is_nil(const kvo_type *type, const void *value) {
  (void)type;
  return isnan(*(const double *)value);
}

static bool equal(const kvo_type *type, const void *a, const void *b) {
  return *(const double *)a == *(const double *)b || (is_nil(type, a) && is_nil(type, b));
}

static bool number(const kvo_type *type, const void *value, kvo_value *number) {
  if (is_nil(type, value)) return false;
  *number = kvo_value_double(*(const double *)value);
  return true;
}

// Any value that the runtime can convert to a double is a number.
static kvo_status convert(const kvo_type *type, void *target, const kvo_value *source) {
  (void)type;
  if (kvo_value_is_nil(source)) {
    *(double *)target = NAN;
    return KVO_OK;
  }
  kvo_value converted;
  kvo_status status = kvo_value_convert(&converted, kvo_type_for_encoding("d", NULL), source);
  if (!status) *(double *)target = kvo_value_get_double(&converted);
  kvo_value_destroy(&converted);
  return status;
}

static const kvo_type_operations number_operations = {
    .is_nil = is_nil, .number = number, .convert = convert};
static const kvo_type number_type = {.encoding = "Number",
    .size = sizeof(double),
    .alignment = _Alignof(double),
    .kind = KVO_KIND_BINDING,
    .equal = equal,
    .operations = &number_operations};

// MARK: Stored properties

double tiny_get(tiny_object *self, size_t property) {
  const tiny_property *read = &self->cls->properties[property];
  if (read->getter) return read->getter(self);
  if (kvo_is_recording()) kvo_reads_add(kvo_current_recorder(), &self->header, read->key);
  return self->slots[property];
}

void tiny_set(tiny_object *self, size_t property, double value) {
  kvo_object *header = &self->header;
  double *slot = &self->slots[property];
  kvo_frame *frame =
      kvo_binding_is_observed(header) ? kvo_stored_property_will_change(header, slot) : NULL;
  *slot = value;
  if (frame) kvo_stored_property_did_change(frame);
  else if (kvo_binding_came_to_be_observed(header))
    kvo_stored_property_notify_late_observers(header, slot);
}

// MARK: Computed properties

static kvo_status compute(kvo_object *header, const void *property, kvo_value *value,
    kvo_error *error) {
  (void)error;
  double result = ((const tiny_property *)property)->getter(object_of(header));
  return kvo_value_init(value, &number_type, &result);
}

// The list of reads serves as the recorder.
static void track(kvo_object *header, const void *property, kvo_reads *reads) {
  void *outer = kvo_current_recorder();
  kvo_set_recorder(reads);
  ((const tiny_property *)property)->getter(object_of(header));
  kvo_set_recorder(outer);
}

static void hear_of_read(void *recorder, kvo_object *object, const char *interned_key) {
  kvo_reads_add(recorder, object, interned_key);
}

// MARK: Classes

static void stop_on_failure(kvo_status status, const kvo_error *error) {
  if (status == KVO_OK) return;
  fprintf(stderr, "Tiny: %s\n", error->message);
  abort();
}

static kvo_class *root;

static void make_root(void) {
  kvo_error error = {0};
  root = kvo_class_create_root("TinyObject", &operations, &error);
  stop_on_failure(error.status, &error);
  stop_on_failure(kvo_class_register(root, &error), &error);
  stop_on_failure(kvo_set_class_of_unobserved(class_of, &error), &error);
  kvo_set_read_listener(hear_of_read);
}

static kvo_property_description description_of(const tiny_property *property, size_t slot) {
  ptrdiff_t slots = offsetof(tiny_object, slots) - offsetof(tiny_object, header);
  kvo_property_description made = {
      .key = property->name, .type = &number_type, .binding = property};
  if (property->getter) made.get = compute, made.track = track;
  else made.offset = slots + (ptrdiff_t)(slot * sizeof(double));
  return made;
}

void tiny_define(tiny_class *cls) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_root);
  kvo_error error = {0};
  size_t size = sizeof(kvo_object) + cls->count * sizeof(double);
  kvo_class *made = kvo_class_create(cls->name, root, size, &error);
  stop_on_failure(error.status, &error);
  for (size_t i = 0; i < cls->count; i++) {
    const kvo_property_description description = description_of(&cls->properties[i], i);
    stop_on_failure(kvo_class_add_property(made, &description, &error), &error);
    cls->properties[i].key = kvo_key_intern(cls->properties[i].name);
  }
  stop_on_failure(kvo_class_register(made, &error), &error);
  cls->known_as = made;
}

tiny_object *tiny_create(const tiny_class *cls) {
  tiny_object *made = calloc(1, sizeof *made + cls->count * sizeof(double));
  if (!made) abort();
  made->cls = cls;
  made->strong = made->unowned = 1;
  return made;
}
