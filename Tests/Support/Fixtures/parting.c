#include "fixture_parting.h"

#include "require.h"

#include <stdio.h>
#include <string.h>

typedef struct parting {
  kvo_object object;
  int x, stored;
} parting;

// The program's code that may drop the object.
typedef enum { GETTER, LINK, AUTOMATIC, AFFECTING, IVARS, UNDEFINED, VALIDATOR, CODES } code;

static _Thread_local kvo_object *leaving; // a reference
static _Thread_local code leaves_in;
static _Thread_local int calls_before; // calls of that code that do not drop it yet
static _Thread_local int deaths;
static _Thread_local const kvo_object *gone; // the object that died last
static _Thread_local bool is_used_dead;
static _Thread_local int finals; // calls of observers after a change

static void leave(code in) {
  kvo_object *object = leaving;
  if (in != leaves_in || calls_before--) return;
  leaving = NULL;
  kvo_object_release(object);
}

static int get_x(parting *self, const kvo_method *_cmd) {
  int x = self->x;
  (void)_cmd;
  if (&self->object == leaving) leave(GETTER);
  return x;
}

static void set_x(parting *self, const kvo_method *_cmd, int x) {
  (void)_cmd;
  if (&self->object == gone) is_used_dead = true;
  else self->x = x;
}

static kvo_object *get_link(parting *self, const kvo_method *_cmd) {
  (void)_cmd;
  if (&self->object == leaving) leave(LINK);
  return NULL;
}

static kvo_status answer(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)_cmd, (void)key, (void)error;
  *value = kvo_value_int(1);
  if (self == leaving) leave(UNDEFINED);
  return KVO_OK;
}

static kvo_status take(kvo_object *self, const kvo_method *_cmd, const kvo_value *value,
    const char *key, kvo_error *error) {
  (void)_cmd, (void)key, (void)value, (void)error;
  if (self == leaving) leave(UNDEFINED);
  return KVO_OK;
}

static kvo_status validate_x(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    kvo_error *error) {
  (void)_cmd, (void)value, (void)error;
  if (self == leaving) leave(VALIDATOR);
  return KVO_OK;
}

static bool notifies(const kvo_class *cls, const char *key) {
  (void)cls, (void)key;
  leave(AUTOMATIC);
  return true;
}

static void affect(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  (void)cls;
  if (!strcmp(key, "derived")) kvo_key_paths_add(paths, "x");
  leave(AFFECTING);
}

static bool may_access_ivars(const kvo_class *cls) {
  (void)cls;
  leave(IVARS);
  return true;
}

static void observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)self, (void)_cmd, (void)key_path, (void)object, (void)change, (void)context;
}

static void dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  gone = self;
  deaths++;
}

// A new class each time, because class methods are called only once.
static const kvo_class *make_class(void) {
  static uint32_t count;
  char name[32];
  kvo_error error = {0};
  snprintf(name, sizeof name, "CParting%u", __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED));
  kvo_class *cls = kvo_class_create(name, NULL, sizeof(parting), &error);
  require_ok(error.status, &error);
  require_method(cls, "x", (kvo_imp)get_x, KVO_GETTER(int));
  require_method(cls, "setX:", (kvo_imp)set_x, KVO_SETTER(int));
  require_method(cls, "link", (kvo_imp)get_link, KVO_ENCODED("@@:"));
  require_method(cls, "derived", (kvo_imp)get_x, KVO_GETTER(int));
  REQUIRE_IVAR(cls, parting, stored, "_stored", int);
  require_hook(cls, "valueForUndefinedKey:", (kvo_imp)answer);
  require_hook(cls, "setValue:forUndefinedKey:", (kvo_imp)take);
  require_hook(cls, "validateX:error:", (kvo_imp)validate_x);
  require_hook(cls, "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)observe);
  require_hook(cls, "dealloc", (kvo_imp)dealloc);
  require_class_method(cls, "automaticallyNotifiesObserversForKey:", (kvo_imp)notifies);
  require_class_method(cls, "keyPathsForValuesAffectingValueForKey:", (kvo_imp)affect);
  require_class_method(cls, "accessInstanceVariablesDirectly", (kvo_imp)may_access_ivars);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static void notified(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)key_path;
  if (object == gone) is_used_dead = true;
  if (!kvo_change_is_prior(change)) finals++;
}

static void observe_keys(kvo_object *object, const char *first) {
  const char *const keys[] = {first, "x", "derived"};
  kvo_handle *handle;
  kvo_add_callback_for_keys(object, keys, 3, KVO_NEW, notified, NULL, 0, NULL, &handle, NULL);
  kvo_handle_release(handle);
}

static void read_together(kvo_object *object, const char *first) {
  const char *const keys[] = {first, "stored", "x"};
  kvo_value values[3];
  if (kvo_values_for_keys(object, keys, 3, values, NULL)) return;
  for (int i = 0; i < 3; i++) kvo_value_destroy(&values[i]);
}

static void mutate(kvo_object *object, const char *path) {
  kvo_collection *proxy;
  if (!kvo_mutable_array_key_path(object, path, &proxy, NULL))
    kvo_object_release((kvo_object *)proxy);
}

static void bracket(kvo_object *object, const char *key) {
  kvo_will_change(object, key);
  if (deaths) { // the change has ended with the object
    finals++;
    return;
  }
  ((parting *)object)->x++;
  kvo_did_change(object, key);
}

static void set_both(void *context) {
  const kvo_value value = kvo_value_int(4);
  kvo_set_value_for_key(context, "x", &value, NULL);
  kvo_set_value_for_key(context, "stored", &value, NULL);
}

static void call_setter(kvo_object *object) {
  const kvo_method *method = kvo_class_method(kvo_class_of(object), "setX:");
  typedef void (*setter)(kvo_object *, const kvo_method *, int);
  ((setter)kvo_method_lookup(object, method))(object, method, 3);
}

static void change(parting_use use, kvo_object *object) {
  const kvo_value value = kvo_value_int(3);
  switch (use) {
  case PARTING_CHANGED: call_setter(object); break;
  case PARTING_CHANGED_BY_KEY: kvo_set_value_for_key(object, "x", &value, NULL); break;
  case PARTING_CHANGED_BY_HAND: bracket(object, "x"); break;
  case PARTING_COALESCED: kvo_coalesce(object, set_both, object); break;
  default: break;
  }
}

static void use_for(parting_use use, kvo_object *object, kvo_object *other, const char *key) {
  const kvo_options all = KVO_OLD | KVO_NEW | KVO_INITIAL;
  kvo_value value = kvo_value_int(3);
  char path[32];
  snprintf(path, sizeof path, "self.%s", key);
  switch (use) {
  case PARTING_OBSERVED: kvo_add_callback(object, key, 0, notified, NULL, NULL, NULL, NULL); break;
  case PARTING_OBSERVED_AT_ONCE:
    kvo_add_callback(object, key, all, notified, NULL, NULL, NULL, NULL);
    break;
  case PARTING_OBSERVED_BY_OBJECT: kvo_add_observer(object, other, key, all, NULL, NULL); break;
  case PARTING_OBSERVER: kvo_add_observer(other, object, key, all, NULL, NULL); break;
  case PARTING_GROUP: observe_keys(object, key); break;
  case PARTING_READ: kvo_value_for_key_path(object, key, &value, NULL); break;
  case PARTING_READ_TOGETHER: read_together(object, key); break;
  case PARTING_SET: kvo_set_value_for_key(object, key, &value, NULL); break;
  case PARTING_SET_ALONG_PATH: kvo_set_value_for_key_path(object, path, &value, NULL); break;
  case PARTING_VALIDATED: kvo_validate_value(object, path, &value, NULL); break;
  case PARTING_MUTATED: mutate(object, key); break;
  case PARTING_MUTATED_ALONG_PATH: mutate(object, path); break;
  case PARTING_BRACKETED: bracket(object, key); break;
  default: break;
  }
}

static void begin_leaving(kvo_object *object, code in, int calls) {
  deaths = finals = 0;
  gone = NULL;
  is_used_dead = false;
  leaves_in = in;
  calls_before = calls;
  leaving = object;
}

// Whether the object died, once; -1: it was not dropped.
static int end_leaving(void) {
  int died = leaving ? -1 : deaths == 1 && !is_used_dead;
  leaves_in = CODES;
  kvo_object_release(leaving);
  leaving = NULL;
  return died;
}

static int try(parting_use use, code in, const char *key) {
  const kvo_class *cls = make_class();
  kvo_object *object = kvo_object_create(cls), *other = kvo_object_create(cls);
  begin_leaving(object, in, 0);
  use_for(use, object, other, key);
  int died = end_leaving();
  kvo_object_release(other);
  return died;
}

// The getter drops the object in its call for the change, after `calls` others.
static int try_change(parting_use use, const char *key_path, kvo_options options, int calls) {
  kvo_object *object = kvo_object_create(make_class());
  kvo_add_callback(object, key_path, options, notified, NULL, NULL, NULL, NULL);
  begin_leaving(object, GETTER, calls);
  change(use, object);
  int died = end_leaving();
  return finals || died < 0 ? died : 0;
}

int parting_run(parting_use use, int *dropped) {
  static const char *const keys[] = {"x", "derived", "stored", "unknown", "link.x", "x.y"};
  int died = 0;
  *dropped = 0;
  for (code in = 0; in < CODES; in++)
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
      int outcome = try(use, in, keys[i]);
      *dropped += outcome >= 0;
      died += outcome > 0;
    }
  return died;
}

static int run_change(parting_use use, const char *key_path, kvo_options options, int *dropped) {
  int died = 0;
  for (int calls = 0;; calls++) {
    int outcome = try_change(use, key_path, options, calls);
    if (outcome < 0) return died;
    ++*dropped;
    died += outcome;
  }
}

int parting_run_changes(parting_use use, int *dropped) {
  static const char *const paths[] = {"x", "derived", "self.x", "self.derived"};
  static const kvo_options all[] = {
      KVO_OLD, KVO_NEW, KVO_OLD | KVO_NEW | KVO_PRIOR, KVO_NEW | KVO_DISTINCT};
  int died = 0;
  *dropped = 0;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    for (size_t j = 0; j < sizeof all / sizeof *all; j++)
      died += run_change(use, paths[i], all[j], dropped);
  return died;
}
