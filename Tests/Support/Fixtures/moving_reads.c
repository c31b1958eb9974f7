#include "fixture_moving_reads.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture_threads.h"
#include "require.h"

enum { SPOTS = 8 };

// MARK: Spots

// Each spot has a class of its own, because a class is asked for a key's dependencies only once, when one of its
// objects is first observed.
typedef struct spot {
  kvo_object object;
  long shown, value; // atomic
} spot;

#define SPOT_PROPERTIES(PROPERTY)            \
  PROPERTY(spot, long, shown, Shown, CUSTOM) \
  PROPERTY(spot, long, value, Value, CUSTOM)
KVO_CLASS_INTERFACE(spot, SPOT_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(spot, "CSpot", kvo_root_class, SPOT_PROPERTIES, NULL)

static long spot_shown_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return __atomic_load_n(&((spot *)self)->shown, __ATOMIC_SEQ_CST);
}

static void spot_setShown_imp(kvo_object *self, const kvo_method *_cmd, long shown) {
  (void)_cmd;
  __atomic_store_n(&((spot *)self)->shown, shown, __ATOMIC_SEQ_CST);
}

static long spot_value_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return __atomic_load_n(&((spot *)self)->value, __ATOMIC_SEQ_CST);
}

static void spot_setValue_imp(kvo_object *self, const kvo_method *_cmd, long value) {
  (void)_cmd;
  __atomic_store_n(&((spot *)self)->value, value, __ATOMIC_SEQ_CST);
}

// MARK: A sight

typedef struct moving_reads {
  kvo_object object;
  spot *spots[SPOTS], *near, *far;
  const kvo_class *classes[SPOTS];
  long first; // atomic: the getter begins at this spot, and goes on while one is shown
  long seen;  // the far spot's value if the getter reads it, otherwise the near one's; never stored
  bool renews;    // it uses another near spot each time
  int readings;   // atomic
  spot **renewed; // the near spots that it has used so
  void (*standing)(struct moving_reads *self, int spot);
} moving_reads;

#define SIGHT_PROPERTIES(PROPERTY) PROPERTY(moving_reads, long, first, First, CUSTOM)
KVO_CLASS_INTERFACE(moving_reads, SIGHT_PROPERTIES)

static long moving_reads_first_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return __atomic_load_n(&((moving_reads *)self)->first, __ATOMIC_SEQ_CST);
}

static void moving_reads_setFirst_imp(kvo_object *self, const kvo_method *_cmd, long first) {
  (void)_cmd;
  __atomic_store_n(&((moving_reads *)self)->first, first, __ATOMIC_SEQ_CST);
}

// The calling thread waits in the reading of this number from now.
static _Thread_local int halts_in_reading;
static gate *in_reading, *in_standing;

static void wait_at(gate *gate) {
  fixture_raise(&gate->begun);
  fixture_await(&gate->let_go, 1);
}

static void read_spot(kvo_reads *reads, spot *spot, const char *key) {
  kvo_reads_add(reads, &spot->object, kvo_key_intern(key));
}

static void renew(moving_reads *self, int reading) {
  enum { MOST = 1000 };
  if (!self->renews || reading >= MOST) return;
  if (!self->renewed) self->renewed = calloc(MOST, sizeof *self->renewed);
  self->near = self->renewed[reading] = (spot *)kvo_object_create(spot_class());
}

static long look(moving_reads *self, kvo_reads *reads) {
  if (reads) renew(self, __atomic_fetch_add(&self->readings, 1, __ATOMIC_SEQ_CST));
  if (reads) kvo_reads_add(reads, &self->object, kvo_key_intern("first"));
  spot *end = self->near;
  for (long i = moving_reads_first(self); i < SPOTS; i++) {
    if (reads) read_spot(reads, self->spots[i], "shown");
    if (!spot_shown(self->spots[i])) break;
    end = self->far;
  }
  if (reads) read_spot(reads, end, "value");
  return spot_value(end);
}

static void track(kvo_object *object, const void *binding, kvo_reads *reads) {
  (void)binding;
  look((moving_reads *)object, reads);
  if (halts_in_reading && !--halts_in_reading) wait_at(in_reading);
}

static kvo_status get(kvo_object *object, const void *binding, kvo_value *value, kvo_error *error) {
  (void)binding, (void)error;
  *value = kvo_value_int(look((moving_reads *)object, NULL));
  return KVO_OK;
}

static void moving_reads_setup(kvo_class *cls) {
  kvo_error error = {0};
  const kvo_property_description seen = {.key = "seen",
      .type = kvo_type_for_encoding("q", &error),
      .offset = offsetof(moving_reads, seen),
      .get = get,
      .track = track};
  require_ok(error.status, &error);
  require_ok(kvo_class_add_property(cls, &seen, &error), &error);
}

KVO_CLASS_IMPLEMENTATION(moving_reads, "CSight", kvo_root_class, SIGHT_PROPERTIES,
    moving_reads_setup)

// MARK: Registering

static moving_reads *current;

static void asked(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  (void)paths;
  static const char *shown;
  if (!shown) shown = kvo_key_intern("shown");
  for (int i = 0; current && current->standing && i < SPOTS; i++)
    if (current->classes[i] == cls && kvo_key_intern(key) == shown) current->standing(current, i);
}

static const kvo_class *make_class(void) {
  static int number;
  char name[32];
  kvo_error error = {0};
  snprintf(name, sizeof name, "CSpot%d", number++);
  kvo_class *cls = kvo_class_create(name, spot_class(), sizeof(spot), &error);
  require_ok(error.status, &error);
  require_class_method(cls, "keyPathsForValuesAffectingValueForKey:", (kvo_imp)asked);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static moving_reads *make_sight(void (*standing)(moving_reads *self, int spot)) {
  moving_reads *self = (moving_reads *)kvo_object_create(moving_reads_class());
  for (int i = 0; i < SPOTS; i++) {
    self->classes[i] = make_class();
    self->spots[i] = (spot *)kvo_object_create(self->classes[i]);
  }
  self->near = (spot *)kvo_object_create(spot_class());
  self->far = (spot *)kvo_object_create(spot_class());
  self->standing = standing;
  return current = self;
}

static void end_sight(moving_reads *self) {
  current = NULL;
  for (int i = 0; i < SPOTS; i++) kvo_object_release(&self->spots[i]->object);
  kvo_object_release(&self->far->object);
  if (!self->renews) kvo_object_release(&self->near->object);
  for (int i = 0; self->renewed && self->renewed[i]; i++)
    kvo_object_release(&self->renewed[i]->object);
  free(self->renewed);
  kvo_object_release(&self->object);
}

static void count_call(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  (void)object, (void)key, (void)change;
  __atomic_fetch_add((int *)context, 1, __ATOMIC_SEQ_CST);
}

static kvo_handle *observe(moving_reads *self, int *calls) {
  kvo_handle *handle;
  kvo_error error;
  require_ok(kvo_add_callback(&self->object, "seen", 0, count_call, calls, NULL, &handle, &error),
      &error);
  return handle;
}

// MARK: Scenarios

static void send_on(moving_reads *self, int spot) {
  if (spot < SPOTS - 1) spot_setShown(self->spots[spot], 1);
}

int moving_reads_missed_after_rounds(void) {
  moving_reads *self = make_sight(send_on);
  int calls = 0;
  kvo_handle *handle = observe(self, &calls);
  calls = 0;
  spot_setShown(self->spots[SPOTS - 1], 1);
  spot_setValue(self->far, 5);
  int missed = 2 - calls;
  kvo_handle_release(handle);
  end_sight(self);
  return missed;
}

static _Thread_local bool halts_in_standing;

static void halt(moving_reads *self, int spot) {
  (void)self;
  if (spot != 2 || !halts_in_standing) return;
  halts_in_standing = false;
  wait_at(in_standing);
}

static void meet(void *context, int thread) {
  moving_reads *self = context;
  static int returned;
  switch (thread) {
  case 0: // has read, registered there, and reads again
    halts_in_reading = 2;
    moving_reads_setFirst(self, 1);
    fixture_raise(&returned);
    break;
  case 1: // has read later, and has not registered there yet
    fixture_await(&in_reading->begun, 1);
    halts_in_standing = true;
    moving_reads_setFirst(self, 2);
    break;
  default:
    fixture_await(&in_standing->begun, 1);
    int before = __atomic_load_n(&returned, __ATOMIC_SEQ_CST);
    fixture_raise(&in_reading->let_go);
    fixture_await(&returned, before + 1);
    spot_setShown(self->spots[2], 1); // the getter goes on from now on
    fixture_raise(&in_standing->let_go);
  }
}

int moving_reads_missed_beside_another(void) {
  gate reading = {0}, standing = {0};
  in_reading = &reading;
  in_standing = &standing;
  moving_reads *self = make_sight(halt);
  int calls = 0;
  kvo_handle *handle = observe(self, &calls);
  fixture_run_threads(3, meet, self);
  calls = 0;
  for (long value = 1; value <= 2; value++) spot_setValue(self->far, value);
  int missed = 2 - calls;
  kvo_handle_release(handle);
  end_sight(self);
  return missed;
}

static void overtake(void *context, int thread) {
  moving_reads *self = context;
  if (thread == 0) {
    halts_in_reading = 1;
    spot_setValue(self->near, 1);
  } else {
    fixture_await(&in_reading->begun, 1);
    moving_reads_setFirst(self, 1);
    fixture_raise(&in_reading->let_go);
  }
}

int moving_reads_missed_after_older_reading(void) {
  gate reading = {0};
  in_reading = &reading;
  moving_reads *self = make_sight(NULL);
  int calls = 0;
  kvo_handle *handle = observe(self, &calls);
  spot_setValue(self->near, 0); // the reads are known from now on
  fixture_run_threads(2, overtake, self);
  moving_reads_setFirst(self, 0);
  calls = 0;
  spot_setShown(self->spots[0], 1);
  int missed = 1 - calls;
  kvo_handle_release(handle);
  end_sight(self);
  return missed;
}

int moving_reads_readings_of_restless(void) {
  moving_reads *self = make_sight(NULL);
  kvo_object_release(&self->near->object);
  self->renews = true;
  int calls = 0;
  kvo_handle *handle = observe(self, &calls);
  int before = self->readings;
  moving_reads_setFirst(self, 0);
  int readings = self->readings - before;
  bool stands = self->near->object.observations != NULL;
  kvo_handle_release(handle);
  end_sight(self);
  return calls == 1 && stands ? readings : -1;
}

// MARK: Keys with unusual names

typedef struct memo {
  kvo_object object;
  long divided, mail;
  long shown; // the key with a dot; never stored
} memo;
#define MEMO_PROPERTIES(PROPERTY)
KVO_CLASS_INTERFACE(memo, MEMO_PROPERTIES)

static void track_memo(kvo_object *object, const void *binding, kvo_reads *reads) {
  (void)binding;
  kvo_reads_add(reads, object, kvo_key_intern("ada.home"));
}

static kvo_status get_shown(kvo_object *object, const void *binding, kvo_value *value,
    kvo_error *error) {
  (void)binding, (void)error;
  *value = kvo_value_int(((memo *)object)->divided);
  return KVO_OK;
}

static void memo_setup(kvo_class *cls) {
  kvo_error error = {0};
  const kvo_type *type = kvo_type_for_encoding("q", &error);
  const kvo_property_description properties[] = {
      {.key = "ada.home", .type = type, .offset = offsetof(memo, divided)},
      {.key = "ada@home", .type = type, .offset = offsetof(memo, mail)},
      {.key = "shown",
          .type = type,
          .offset = offsetof(memo, shown),
          .get = get_shown,
          .track = track_memo}};
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    require_ok(kvo_class_add_property(cls, &properties[i], &error), &error);
}

KVO_CLASS_IMPLEMENTATION(memo, "CMemo", kvo_root_class, MEMO_PROPERTIES, memo_setup)

static void count_memo_call(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  (void)object, (void)key, (void)change;
  ++*(int *)context;
}

static void change_memo(kvo_object *object, const char *key) {
  kvo_will_change(object, key);
  kvo_did_change(object, key);
}

int moving_reads_calls_of_divided(bool *is_path) {
  static const char *const keys[] = {"ada@home", "shown"};
  kvo_object *object = kvo_object_create(memo_class());
  int calls = 0;
  kvo_handle *handle, *none = NULL;
  kvo_error error = {0};
  require_ok(kvo_add_callback_for_keys(object, keys, 2, 0, count_memo_call, &calls, 0, NULL,
                 &handle, &error),
      &error);
  change_memo(object, "ada.home");
  change_memo(object, "ada@home");
  *is_path = !kvo_key_is_ready(object, "ada.home") &&
             kvo_add_callback(object, "ada.home", 0, count_memo_call, &calls, NULL, &none, NULL);
  kvo_handle_release(none);
  kvo_handle_release(handle);
  kvo_object_release(object);
  return calls;
}
