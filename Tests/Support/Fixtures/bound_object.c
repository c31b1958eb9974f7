#include "fixture_bound_object.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

// Types

static bool length_number(const kvo_type *type, const void *value, kvo_value *number) {
  (void)type;
  *number = kvo_value_double(*(const double *)value);
  return true;
}

static kvo_status length_convert(const kvo_type *type, void *target, const kvo_value *source) {
  (void)type;
  if (kvo_value_is_nil(source)) return KVO_NIL_VALUE;
  if (kvo_value_get_string(source)) return KVO_TYPE_MISMATCH;
  *(double *)target = kvo_value_get_double(source);
  return KVO_OK;
}

static const kvo_type_operations length_operations = {
    .number = length_number, .convert = length_convert};

static int mood_compare(const kvo_type *type, const void *a, const void *b) {
  (void)type;
  int64_t left = llabs(*(const int64_t *)a - 10), right = llabs(*(const int64_t *)b - 10);
  return (left > right) - (left < right);
}

static const kvo_type_operations mood_operations = {.compare = mood_compare};

static kvo_object *partner_object(const kvo_type *type, const void *value) {
  (void)type;
  return *(kvo_object *const *)value;
}

static bool partner_is_nil(const kvo_type *type, const void *value) {
  return !partner_object(type, value);
}

static kvo_status partner_convert(const kvo_type *type, void *target, const kvo_value *source) {
  (void)type;
  kvo_object *object = kvo_value_get_object(source);
  if (!object && !kvo_value_is_nil(source)) return KVO_TYPE_MISMATCH;
  *(kvo_object **)target = object ? kvo_object_retain(object) : NULL;
  return KVO_OK;
}

static void partner_copy(const kvo_type *type, void *target, const void *source) {
  kvo_object *object = partner_object(type, source);
  *(kvo_object **)target = object ? kvo_object_retain(object) : NULL;
}

static void partner_destroy(const kvo_type *type, void *value) {
  kvo_object_release(partner_object(type, value));
}

static const kvo_type_operations partner_operations = {
    .object = partner_object, .is_nil = partner_is_nil, .convert = partner_convert};

static size_t numbers_count(const kvo_type *type, const void *value) {
  (void)type;
  return ((const bound_object_numbers *)value)->count;
}

static kvo_status numbers_get(const kvo_type *type, const void *value, size_t index,
    kvo_value *element) {
  (void)type;
  *element = kvo_value_int(((const bound_object_numbers *)value)->items[index]);
  return KVO_OK;
}

static kvo_status numbers_make(const kvo_type *type, void *target, const kvo_value *elements,
    size_t count, kvo_error *error) {
  (void)type, (void)error;
  bound_object_numbers *numbers = target;
  if (count > sizeof numbers->items / sizeof *numbers->items) return KVO_TYPE_MISMATCH;
  *numbers = (bound_object_numbers){.count = count};
  for (size_t i = 0; i < count; i++) numbers->items[i] = kvo_value_get_int(&elements[i]);
  return KVO_OK;
}

static kvo_status numbers_each(const kvo_type *type, const void *value,
    kvo_status (*take)(void *context, kvo_value element), void *context) {
  (void)type;
  const bound_object_numbers *numbers = value;
  kvo_status status = KVO_OK;
  for (size_t i = 0; !status && i < numbers->count; i++)
    status = take(context, kvo_value_int(numbers->items[i]));
  return status;
}

static kvo_status numbers_pick(const kvo_type *type, const void *value,
    const kvo_index_set *indexes, void *target) {
  (void)type;
  const bound_object_numbers *numbers = value;
  bound_object_numbers *picked = target;
  *picked = (bound_object_numbers){0};
  for (size_t i = 0; i < numbers->count; i++)
    if (kvo_index_set_contains(indexes, i)) picked->items[picked->count++] = numbers->items[i];
  return KVO_OK;
}

static const kvo_collection_operations numbers_collection = {.kind = KVO_ARRAY,
    .count = numbers_count,
    .get = numbers_get,
    .make = numbers_make,
    .each = numbers_each,
    .pick = numbers_pick};
// The operations for several elements are left out.
static const kvo_collection_operations digits_collection = {
    .kind = KVO_ARRAY, .count = numbers_count, .get = numbers_get, .make = numbers_make};
static const kvo_type_operations digits_operations = {.collection = &digits_collection};
static const kvo_type_operations numbers_operations = {.collection = &numbers_collection};

#define TYPE(c_type, name, ...)      \
  {.encoding = name,                 \
      .size = sizeof(c_type),        \
      .alignment = _Alignof(c_type), \
      .kind = KVO_KIND_BINDING,      \
      __VA_ARGS__}

static const kvo_type *length_type(void) {
  static const kvo_type type = TYPE(double, "Length", .operations = &length_operations);
  return &type;
}

static const kvo_type *partner_type(void) {
  static const kvo_type type = TYPE(kvo_object *, "Partner?", .copy = partner_copy,
      .destroy = partner_destroy, .operations = &partner_operations);
  return &type;
}

static const kvo_type *numbers_type(void) {
  static const kvo_type type =
      TYPE(bound_object_numbers, "[Number]", .operations = &numbers_operations);
  return &type;
}

static const kvo_type *digits_type(void) {
  static const kvo_type type =
      TYPE(bound_object_numbers, "[Digit]", .operations = &digits_operations);
  return &type;
}

static const kvo_type *mood_type(void) {
  static const kvo_type type = TYPE(int64_t, "Mood", .operations = &mood_operations);
  return &type;
}

// Objects

static bound_object *bound_object_of(kvo_object *header) {
  return (bound_object *)(void *)((char *)header - offsetof(bound_object, header));
}

static _Thread_local size_t retains;

size_t bound_object_take_retains(void) {
  size_t taken = retains;
  retains = 0;
  return taken;
}

static void retain(kvo_object *object) {
  bound_object *self = bound_object_of(object);
  retains++;
  self->references++;
  self->wrong_retains += self->is_dying;
}
static void release(kvo_object *object) {
  bound_object *self = bound_object_of(object);
  self->references--;
  self->is_dying |= self->dies_at_release;
  if (self->is_destroyed_at_release && !self->references) kvo_object_will_die(object);
}
static bool try_retain(kvo_object *object) {
  if (bound_object_of(object)->is_dying) return false;
  retain(object);
  return true;
}
static void unowned_retain(kvo_object *object) { bound_object_of(object)->unowned++; }
static void unowned_release(kvo_object *object) { bound_object_of(object)->unowned--; }

static size_t describe(const kvo_object *object, char *buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "<Guest: %p>", (const void *)object);
}

static _Thread_local size_t checks;
static void check_read(const void *storage) {
  (void)storage;
  checks++;
}

size_t bound_object_take_checks(void) {
  size_t taken = checks;
  checks = 0;
  return taken;
}

static const kvo_class_operations operations = {
    .retain = retain,
    .release = release,
    .try_retain = try_retain,
    .unowned_retain = unowned_retain,
    .unowned_release = unowned_release,
    .describe = describe,
    .check_read = check_read,
};

// Keys

static kvo_status read_title(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)object, (void)binding, (void)error;
  *value = kvo_value_string("guest");
  return KVO_OK;
}

static kvo_status read_leader(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)binding;
  bound_object *self = bound_object_of(object);
  kvo_object *leader = self->leader;
  if (self->at_read) self->at_read(self);
  require_ok(kvo_value_init(value, partner_type(), &leader), error);
  return KVO_OK;
}

static _Thread_local size_t tallies;

size_t bound_object_take_tallies(void) {
  size_t taken = tallies;
  tallies = 0;
  return taken;
}

static kvo_status read_tally(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)binding;
  const bound_object *self = bound_object_of(object);
  double tally = (self->mood < 0 ? 0 : self->length) + (double)self->mood;
  tallies++;
  require_ok(kvo_value_init(value, length_type(), &tally), error);
  return KVO_OK;
}

static void track_tally(kvo_object *object, const void *binding, kvo_reads *reads) {
  kvo_error error = {0};
  kvo_value *result = kvo_reads_result(reads);
  kvo_value unused;
  require_ok(read_tally(object, binding, result ? result : &unused, &error), &error);
  kvo_reads_add(reads, object, kvo_key_intern("mood"));
  if (bound_object_of(object)->mood >= 0) kvo_reads_add(reads, object, kvo_key_intern("length"));
}

void bound_object_set_leader(bound_object *self, kvo_object *leader) {
  kvo_frame *frame = kvo_stored_property_will_change_key(&self->header, kvo_key_intern("leader"));
  self->leader = leader;
  if (frame) kvo_stored_property_did_change(frame);
}

// Fails without a message.
static kvo_status bound_object_undefined(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)self, (void)_cmd, (void)error;
  if (strcmp(key, "wish")) return KVO_UNDEFINED_KEY;
  *value = kvo_value_int(42);
  return KVO_OK;
}

static kvo_status parrot_value(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)self, (void)_cmd, (void)error;
  *value = kvo_value_string(key);
  return KVO_OK;
}

static kvo_status parrot_setValue(kvo_object *self, const kvo_method *_cmd, const kvo_value *value,
    const char *key, kvo_error *error) {
  (void)_cmd, (void)value, (void)key, (void)error;
  bound_object_of(self)->length++;
  return KVO_OK;
}

typedef kvo_status getter(kvo_object *, const void *, kvo_value *, kvo_error *);

static void add_key(kvo_class *cls, const char *key, const kvo_type *type, size_t offset,
    getter *KVO_NULLABLE get) {
  kvo_error error = {0};
  const kvo_property_description property = {.key = key,
      .type = type,
      .offset = get ? 0 : (ptrdiff_t)(offset - offsetof(bound_object, header)),
      .get = get};
  require_ok(kvo_class_add_property(cls, &property, &error), &error);
}

static void add_tally(kvo_class *cls) {
  kvo_error error = {0};
  const kvo_property_description tally = {
      .key = "tally", .type = length_type(), .get = read_tally, .track = track_tally};
  require_ok(kvo_class_add_property(cls, &tally, &error), &error);
}

static kvo_class *guests, *parrots;

static void make_classes(void) {
  kvo_error error = {0};
  guests = kvo_class_create_root("CGuest", &operations, &error);
  require_ok(error.status, &error);
  add_key(guests, "length", length_type(), offsetof(bound_object, length), NULL);
  add_key(guests, "partner", partner_type(), offsetof(bound_object, partner), NULL);
  add_key(guests, "numbers", numbers_type(), offsetof(bound_object, numbers), NULL);
  add_key(guests, "digits", digits_type(), offsetof(bound_object, numbers), NULL);
  add_key(guests, "mood", mood_type(), offsetof(bound_object, mood), NULL);
  add_key(guests, "title", kvo_type_for_encoding("*", &error), 0, read_title);
  add_key(guests, "leader", partner_type(), 0, read_leader);
  add_key(guests, "summary", kvo_type_for_encoding("*", &error), 0, read_title);
  add_tally(guests);
  require_ok(kvo_class_add_dependency(guests, "summary", "length", &error), &error);
  require_ok(kvo_class_add_dependency(guests, "summary", "mood", &error), &error);
  require_hook(guests, "valueForUndefinedKey:", (kvo_imp)bound_object_undefined);
  require_ok(kvo_class_register(guests, &error), &error);
  parrots = kvo_class_create("CParrot", guests, sizeof(bound_object), &error);
  require_ok(error.status, &error);
  require_hook(parrots, "valueForKey:", (kvo_imp)parrot_value);
  require_hook(parrots, "setValue:forKey:", (kvo_imp)parrot_setValue);
  require_ok(kvo_class_register(parrots, &error), &error);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

const kvo_class *bound_object_class(void) {
  pthread_once(&once, make_classes);
  return guests;
}

const kvo_class *parrot_class(void) {
  pthread_once(&once, make_classes);
  return parrots;
}
