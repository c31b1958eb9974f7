#include "shortage_wards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

// Objects

static ward *ward_of(const kvo_object *header) {
  return (ward *)(void *)((char *)(uintptr_t)header - offsetof(ward, header));
}

static void retain(kvo_object *header) { ward_of(header)->strong++; }

static bool try_retain(kvo_object *header) {
  bool lives = ward_of(header)->strong;
  if (lives) retain(header);
  return lives;
}

static void unowned_retain(kvo_object *header) { ward_of(header)->unowned++; }

static void unowned_release(kvo_object *header) {
  ward *self = ward_of(header);
  if (--self->unowned) return;
  self->deaths->count++;
  free(self);
}

static void release_collection(kvo_collection *collection) {
  kvo_object_release((kvo_object *)collection);
}

static void release(kvo_object *header) {
  ward *self = ward_of(header);
  if (--self->strong) return;
  if (kvo_binding_has_observations(header)) kvo_object_will_die(header);
  free((char *)(uintptr_t)self->name);
  kvo_object_release(self->next);
  release_collection(self->list);
  release_collection(self->bag);
  unowned_release(header);
}

static size_t describe(const kvo_object *header, char *buffer, size_t capacity) {
  return (size_t)snprintf(buffer, capacity, "a %s", kvo_class_name(ward_of(header)->cls));
}

static void observe(kvo_object *observer, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context) {
  (void)context;
  world_log_change(ward_of(observer)->world, object, key_path, change);
}

static void affecting(const kvo_class *cls, kvo_object *object, const char *key,
    kvo_key_paths *paths) {
  (void)cls, (void)object;
  if (!strcmp(key, "shown")) kvo_key_paths_add(paths, "level");
}

static const kvo_class_operations operations = {.retain = retain,
    .release = release,
    .try_retain = try_retain,
    .unowned_retain = unowned_retain,
    .unowned_release = unowned_release,
    .describe = describe,
    .observe = observe,
    .affecting = affecting};

static const kvo_class *class_of(const kvo_object *header) { return ward_of(header)->cls; }

// Computed keys

static void read(ward *self, const char *key) {
  if (!kvo_is_recording()) return;
  kvo_reads_add(kvo_current_recorder(), &self->header, kvo_key_intern(key));
}

static double get_level(ward *self) {
  read(self, "level");
  return self->level;
}

static ward *get_next(ward *self) {
  read(self, "next");
  return self->next ? ward_of(self->next) : NULL;
}

static double shown(ward *self) { return 100 * self->level; }

static double next_level(ward *self) {
  ward *next = get_next(self);
  return next ? get_level(next) : 0;
}

static double sum(ward *self) {
  read(self, "sum");
  return get_level(self) + next_level(self);
}

static double next_sum(ward *self) {
  ward *next = get_next(self);
  return next ? sum(next) : 0;
}

typedef struct {
  const char *key;
  double (*getter)(ward *self);
  bool is_path;
} computed_key;

static const computed_key computed_keys[] = {{"shown", shown, false}, {"sum", sum, false},
    {"nextSum", next_sum, false}, {"nextLevel", next_level, true}};

static kvo_status compute(kvo_object *header, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)error;
  *value = kvo_value_double(((const computed_key *)binding)->getter(ward_of(header)));
  return KVO_OK;
}

static void track(kvo_object *header, const void *binding, kvo_reads *reads) {
  void *outer = kvo_current_recorder();
  kvo_set_recorder(reads);
  ((const computed_key *)binding)->getter(ward_of(header));
  kvo_set_recorder(outer);
}

static kvo_status answer_wish(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)self, (void)_cmd, (void)error;
  if (strcmp(key, "wish")) return KVO_UNDEFINED_KEY;
  *value = kvo_value_int(42);
  return KVO_OK;
}

// Classes

static kvo_status add_stored(kvo_class *cls, const char *key, const char *encoding, size_t offset,
    kvo_error *error) {
  const kvo_type *type = kvo_type_for_encoding(encoding, error);
  const kvo_property_description stored = {
      .key = key, .type = type, .offset = (ptrdiff_t)(offset - offsetof(ward, header))};
  return type ? kvo_class_add_property(cls, &stored, error) : error->status;
}

static kvo_status add_computed(kvo_class *cls, const computed_key *key, kvo_error *error) {
  const kvo_type *type = kvo_type_for_encoding("d", error);
  const kvo_property_description computed = {.key = key->key,
      .type = type,
      .get = compute,
      .binding = key,
      .track = track,
      .is_path = key->is_path};
  return type ? kvo_class_add_property(cls, &computed, error) : error->status;
}

static const struct {
  const char *key, *encoding;
  size_t offset;
} stored_keys[] = {{"level", "d", offsetof(ward, level)}, {"name", "*", offsetof(ward, name)},
    {"next", "@", offsetof(ward, next)}, {"list", "@", offsetof(ward, list)},
    {"bag", "@", offsetof(ward, bag)}};

enum {
  STORED = sizeof stored_keys / sizeof *stored_keys,
  COMPUTED = sizeof computed_keys / sizeof *computed_keys,
  COMPUTED_END = 1 + STORED + COMPUTED,
  CLASS_STEPS = COMPUTED_END + 4,
};

static kvo_status make_part(world *world, int step) {
  kvo_class **root = &world->made_root, **cls = &world->made;
  kvo_error *error = &world->error;
  if (!step) {
    char name[40];
    snprintf(name, sizeof name, "CScarceRoot%s", world->serial);
    *root = kvo_class_create_root(name, &operations, error);
    return *root ? KVO_OK : error->status;
  }
  if (step <= STORED)
    return add_stored(*root, stored_keys[step - 1].key, stored_keys[step - 1].encoding,
        stored_keys[step - 1].offset, error);
  if (step < COMPUTED_END) return add_computed(*root, &computed_keys[step - 1 - STORED], error);
  switch (step - COMPUTED_END) {
  case 0:
    return kvo_class_add_method(*root, "valueForUndefinedKey:", (kvo_imp)answer_wish, KVO_HOOK,
        NULL, error);
  case 1: return kvo_class_register(*root, error);
  case 2:
    *cls = kvo_class_create("CScarceWard", *root, sizeof(ward) - offsetof(ward, header), error);
    return *cls ? KVO_OK : error->status;
  default: return kvo_class_register(*cls, error);
  }
}

kvo_status ward_make_class(world *world) {
  kvo_status status = KVO_OK;
  for (; !status && world->step < CLASS_STEPS; world->step += !status)
    status = make_part(world, world->step);
  return status;
}

// The world's wards

static kvo_collection *integers(kvo_collection_kind kind, int64_t count) {
  kvo_value values[8];
  for (int64_t i = 0; i < count; i++) values[i] = kvo_value_int(i);
  return kvo_collection_create(kind, values, (size_t)count, NULL);
}

static ward *make_ward(world *world, kvo_class *cls, int i) {
  ward *made = calloc(1, sizeof *made);
  if (!made) abort();
  *made = (ward){.deaths = &world->ward_deaths,
      .cls = cls,
      .world = world,
      .strong = 1,
      .unowned = 1,
      .level = i,
      .name = strdup((const char[]){'a' + (char)i, 0}),
      .list = integers(KVO_ARRAY, 2),
      .bag = integers(KVO_SET, 2)};
  return made;
}

void world_make_wards(world *world) {
  require_ok(ward_make_class(world), &world->error);
  require_ok(kvo_set_class_of_unobserved(class_of, &world->error), &world->error);
  for (int i = 0; i < WARDS; i++) world->wards[i] = make_ward(world, world->made, i);
  for (int i = 0; i + 2 < WARDS; i++)
    world->wards[i]->next = kvo_object_retain(&world->wards[i + 1]->header);
}

ward *world_ward(const world *world, int i) { return world->wards[i]; }

void world_kill_ward(world *world, int i) {
  ward *ward = world->wards[i];
  world->wards[i] = NULL;
  kvo_object_release(&ward->header);
}

void world_end_wards(world *world) {
  for (int i = 0; i < WARDS; i++)
    if (world->wards[i]) world_kill_ward(world, i);
}

// Setting

void ward_set_level(ward *self, double level) {
  kvo_object *header = &self->header;
  bool observed = kvo_binding_is_observed(header);
  kvo_frame *frame = observed ? kvo_stored_property_will_change(header, &self->level) : NULL;
  self->level = level;
  if (frame) kvo_stored_property_did_change(frame);
}

void ward_leave_level(ward *self) {
  kvo_frame *frame = kvo_stored_property_will_change(&self->header, &self->level);
  if (frame) kvo_stored_property_cancel_change(frame);
}

void ward_set_name(ward *self, const char *name) {
  kvo_frame *frame = kvo_stored_property_will_change(&self->header, &self->name);
  free((char *)(uintptr_t)self->name);
  self->name = strdup(name);
  if (frame) kvo_stored_property_did_change(frame);
}

void ward_set_next(ward *self, ward *next) {
  kvo_object *old = self->next;
  kvo_frame *frame = kvo_stored_property_will_change(&self->header, &self->next);
  self->next = next ? kvo_object_retain(&next->header) : NULL;
  if (frame) kvo_stored_property_did_change(frame);
  kvo_object_release(old);
}

// With one more element, made while there was memory.
static kvo_collection *extended(kvo_collection *collection, int64_t number) {
  fixture_memory_limit limit = fixture_lift_memory_limit();
  kvo_value values[8];
  size_t count = kvo_collection_count(collection);
  for (size_t i = 0; i < count; i++)
    require_ok(kvo_collection_get(collection, i, &values[i], NULL), &(kvo_error){0});
  values[count] = kvo_value_int(number);
  kvo_collection *made =
      kvo_collection_create(kvo_collection_get_kind(collection), values, count + 1, NULL);
  fixture_restore_memory_limit(limit);
  return made;
}

static void replace(kvo_collection **stored, kvo_collection *with) {
  kvo_collection *old = *stored;
  *stored = with;
  release_collection(old);
}

void ward_append(ward *self, int64_t number) {
  kvo_collection *longer = extended(self->list, number);
  kvo_index_set *indexes = kvo_index_set_create_range(kvo_collection_count(self->list), 1);
  if (!indexes) kvo_report_misuse("CScarceWard: no memory for indexes");
  const kvo_part part = {.kind = indexes ? KVO_INSERTION : KVO_SETTING, .indexes = indexes};
  kvo_frame *frame =
      kvo_stored_property_will_change_part(&self->header, kvo_key_intern("list"), &part);
  replace(&self->list, longer);
  if (frame) kvo_stored_property_did_change(frame);
  kvo_index_set_destroy(indexes);
}

void ward_add(ward *self, int64_t number) {
  kvo_collection *larger = extended(self->bag, number);
  fixture_memory_limit limit = fixture_lift_memory_limit();
  const kvo_value one = kvo_value_int(number);
  kvo_collection *coming = kvo_collection_create(KVO_SET, &one, 1, NULL);
  fixture_restore_memory_limit(limit);
  const kvo_value comes = kvo_value_object((kvo_object *)coming);
  const kvo_part part = {.kind = KVO_INSERTION, .comes = &comes};
  kvo_frame *frame =
      kvo_stored_property_will_change_part(&self->header, kvo_key_intern("bag"), &part);
  replace(&self->bag, larger);
  if (frame) kvo_stored_property_did_change(frame);
  kvo_value_destroy((kvo_value *)(uintptr_t)&comes);
  release_collection(coming);
}
