#include <string.h>

#include "fixture_keys.h"
#include "require.h"

static kvo_status forgiving_setNil(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_error *error) {
  if (strcmp(key, "level") == 0) {
    forgiving_setLevel((forgiving *)self, -1);
    return KVO_OK;
  }
  return ((kvo_status (*)(kvo_object *, const kvo_method *, const char *,
      kvo_error *))kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, key, error);
}

static kvo_status forgiving_value(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *out, kvo_error *error) {
  *error->message = 0; // a hook always gets an error
  if (strcmp(key, "ghost") == 0) {
    *out = kvo_value_double(((forgiving *)self)->ghost_);
    return KVO_OK;
  }
  return ((kvo_status (*)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *))kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, key, out, error);
}

static kvo_status forgiving_setValue(kvo_object *self, const kvo_method *_cmd,
    const kvo_value *value, const char *key, kvo_error *error) {
  if (strcmp(key, "ghost") == 0) {
    ((forgiving *)self)->ghost_ = kvo_value_get_double(value);
    return KVO_OK;
  }
  return ((kvo_status (*)(kvo_object *, const kvo_method *, const kvo_value *, const char *,
      kvo_error *))kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, value, key, error);
}

static void forgiving_setup(kvo_class *cls) {
  require_hook(cls, "setNilValueForKey:", (kvo_imp)forgiving_setNil);
  require_hook(cls, "valueForUndefinedKey:", (kvo_imp)forgiving_value);
  require_hook(cls, "setValue:forUndefinedKey:", (kvo_imp)forgiving_setValue);
}

KVO_CLASS_IMPLEMENTATION(forgiving, "CForgiving", kvo_root_class, FORGIVING_PROPERTIES,
    forgiving_setup)
