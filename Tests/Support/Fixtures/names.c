#include "fixture_names.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct named {
  kvo_object object;
  struct named *next;
  int value;
} named;

#define NAMED_PROPERTIES(PROPERTY)             \
  PROPERTY(named, named *, next, Next, RETAIN) \
  PROPERTY(named, int, value, Value, ASSIGN)
KVO_CLASS_INTERFACE(named, NAMED_PROPERTIES)

// Keys that begin with "hook".
static kvo_status answer(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *value, kvo_error *error) {
  (void)self, (void)_cmd, (void)error;
  if (strncmp(key, "hook", 4)) return KVO_UNDEFINED_KEY;
  *value = kvo_value_int(1);
  return KVO_OK;
}

static void setup(kvo_class *cls) {
  if (kvo_class_add_method(cls, "valueForUndefinedKey:", (kvo_imp)answer, KVO_HOOK, NULL, NULL))
    abort();
}

KVO_CLASS_IMPLEMENTATION(named, "CNamed", kvo_root_class, NAMED_PROPERTIES, setup)

long fixture_bytes_used(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}

static int notified;

static void tell(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
  notified++;
}

static named *make_manual_change(void) {
  named *first = (named *)kvo_object_create(named_class());
  named *second = (named *)kvo_object_create(named_class());
  if (!first || !second) abort();
  named_setNext(first, second);
  named_setNext(second, second);
  kvo_object_release(&second->object);
  return first;
}

// MARK: The names

static const char *const forms[] = {
    [NAMES_READ] = "x%d",
    [NAMES_READ_PATH] = "next.x%d",
    [NAMES_READ_OPERATOR] = "next.@sum.x%d",
    [NAMES_READ_BY_HOOK] = "next.hook%d",
    [NAMES_SET_PATH] = "next.x%d",
    [NAMES_VALIDATE_PATH] = "next.x%d",
    [NAMES_OBSERVE] = "x%d",
    [NAMES_OBSERVE_PATH] = "x%d.value",
    [NAMES_OBSERVE_GROUP] = "x%d",
    [NAMES_REMOVE] = "next.x%d",
    [NAMES_PROXY] = "x%d",
    [NAMES_OBSERVED_BY_HOOK] = "hook%d",
};

// next.self.next.next.value: a different path for each number.
static void write_path(char *name, int number) {
  for (int bit = 0; bit < 17; bit++) name += sprintf(name, number >> bit & 1 ? "self." : "next.");
  strcpy(name, "value");
}

static void write_name(char *name, names_way way, int number) {
  if (way == NAMES_OBSERVED_PATH) write_path(name, number);
  else sprintf(name, forms[way], number);
}

// MARK: Uses

static kvo_status read(named *object, const char *name) {
  kvo_value value;
  kvo_status status = kvo_value_for_key_path(&object->object, name, &value, NULL);
  kvo_value_destroy(&value);
  return status;
}

static kvo_status observe(named *object, const char *name) {
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(&object->object, name, 0, tell, NULL, NULL, &handle, NULL);
  if (status) return status;
  named_setValue(object->next, 1);
  kvo_handle_release(handle);
  return KVO_OK;
}

static kvo_status observe_group(named *object, const char *name) {
  const char *keys[] = {"value", name};
  kvo_handle *handle;
  return kvo_add_callback_for_keys(&object->object, keys, 2, 0, tell, NULL, 0, NULL, &handle, NULL);
}

static kvo_status use(names_way way, named *object, const char *name) {
  kvo_value value = kvo_value_int(1);
  kvo_collection *proxy;
  switch (way) {
  case NAMES_READ: return kvo_value_for_key(&object->object, name, &value, NULL);
  case NAMES_READ_PATH:
  case NAMES_READ_OPERATOR:
  case NAMES_READ_BY_HOOK: return read(object, name);
  case NAMES_SET_PATH: return kvo_set_value_for_key_path(&object->object, name, &value, NULL);
  case NAMES_VALIDATE_PATH: return kvo_validate_value(&object->object, name, &value, NULL);
  case NAMES_OBSERVE_GROUP: return observe_group(object, name);
  case NAMES_REMOVE: return kvo_remove_observer(&object->object, &object->object, name, NULL);
  case NAMES_PROXY: return kvo_mutable_array(&object->object, name, &proxy, NULL);
  default: return observe(object, name);
  }
}

static bool succeeds(names_way way) {
  return way == NAMES_READ_BY_HOOK || way == NAMES_VALIDATE_PATH || way == NAMES_OBSERVED_PATH ||
         way == NAMES_OBSERVED_BY_HOOK;
}

static void use_each(names_way way, named *object, int from, int to) {
  char name[128];
  for (int i = from; i < to; i++) {
    write_name(name, way, i);
    if ((use(way, object, name) == KVO_OK) != succeeds(way)) abort();
  }
}

long names_left_by(names_way way, int count) {
  enum { FILLING = 2000 }; // caches, which are full then
  named *object = make_manual_change();
  notified = 0;
  use_each(way, object, 0, FILLING);
  long before = fixture_bytes_used();
  use_each(way, object, FILLING, FILLING + count);
  if (way == NAMES_OBSERVED_PATH && notified != FILLING + count) abort();
  long left = fixture_bytes_used() - before;
  named_setNext(object->next, NULL);
  kvo_object_release(&object->object);
  return left;
}

int names_observed_by_hook(int count) {
  named *object = make_manual_change();
  char name[128];
  int observed = 0;
  for (int i = 0; i < count; i++) {
    sprintf(name, "hook%d", i);
    observed += observe(object, name) == KVO_OK;
  }
  named_setNext(object->next, NULL);
  kvo_object_release(&object->object);
  return observed;
}
