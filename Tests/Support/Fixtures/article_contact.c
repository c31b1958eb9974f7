#include "fixture_article.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "require.h"

KVO_CLASS_IMPLEMENTATION(article_address, "CArticleAddress", kvo_root_class,
    ARTICLE_ADDRESS_PROPERTIES, NULL)

// contact

static char *trimmed(const char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t length = strlen(text);
  while (length && isspace((unsigned char)text[length - 1])) length--;
  char *copy = strndup(text, length);
  if (!copy) abort();
  return copy;
}

static kvo_status validate_name(kvo_object *self, const kvo_method *_cmd, kvo_value *value,
    kvo_error *error) {
  const char *name = kvo_value_get_string(value);
  char *clean = trimmed(name ? name : "");
  (void)_cmd, (void)error;
  ((article_contact *)self)->validations++;
  kvo_value_destroy(value);
  *value = kvo_value_string(clean);
  free(clean);
  return KVO_OK;
}

static void contact_setup(kvo_class *cls) {
  require_hook(cls, "validateName:error:", (kvo_imp)validate_name);
}

KVO_CLASS_IMPLEMENTATION(article_contact, "CArticleContact", tracked_class,
    ARTICLE_CONTACT_PROPERTIES, contact_setup)

// lenient_contact

static kvo_status set_nil(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_error *error) {
  typedef kvo_status (*hook)(kvo_object *, const kvo_method *, const char *, kvo_error *);
  if (strcmp(key, "height"))
    return ((hook)kvo_class_imp(article_contact_class(), _cmd))(self, _cmd, key, error);
  const kvo_value zero = kvo_value_int(0);
  return kvo_set_value_for_key(self, key, &zero, error);
}

static kvo_status value_for_undefined(kvo_object *self, const kvo_method *_cmd, const char *key,
    kvo_value *out, kvo_error *error) {
  typedef kvo_status (*hook)(kvo_object *, const kvo_method *, const char *, kvo_value *,
      kvo_error *);
  if (strcmp(key, "motto"))
    return ((hook)kvo_class_imp(article_contact_class(), _cmd))(self, _cmd, key, out, error);
  *out = kvo_value_string(((article_contact *)self)->motto_);
  return KVO_OK;
}

static kvo_status set_value_for_undefined(kvo_object *self, const kvo_method *_cmd,
    const kvo_value *value, const char *key, kvo_error *error) {
  typedef kvo_status (*hook)(kvo_object *, const kvo_method *, const kvo_value *, const char *,
      kvo_error *);
  if (strcmp(key, "motto"))
    return ((hook)kvo_class_imp(article_contact_class(), _cmd))(self, _cmd, value, key, error);
  kvo_store_copied_string(&((article_contact *)self)->motto_, kvo_value_get_string(value));
  return KVO_OK;
}

static void lenient_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_store_copied_string(&((article_contact *)self)->motto_, NULL);
}

static void lenient_setup(kvo_class *cls) {
  require_hook(cls, "setNilValueForKey:", (kvo_imp)set_nil);
  require_hook(cls, "valueForUndefinedKey:", (kvo_imp)value_for_undefined);
  require_hook(cls, "setValue:forUndefinedKey:", (kvo_imp)set_value_for_undefined);
  require_hook(cls, "dealloc", (kvo_imp)lenient_dealloc);
}

KVO_CLASS_IMPLEMENTATION(article_lenient_contact, "CArticleLenientContact", article_contact_class,
    ARTICLE_NO_PROPERTIES, lenient_setup)

// cabinet

static void cabinet_setup(kvo_class *cls) {
  static const char *const names[] = {"_order", "_isOrder", "order", "isOrder"};
  REQUIRE_IVAR(cls, article_cabinet, top, "_top", int);
  REQUIRE_IVAR(cls, article_cabinet, open, "_isOpen", int);
  REQUIRE_IVAR(cls, article_cabinet, drawer, "drawer", int);
  REQUIRE_IVAR(cls, article_cabinet, locked, "isLocked", int);
  for (size_t i = 0; i < 4; i++)
    require_ivar(cls, names[i], offsetof(article_cabinet, order) + i * sizeof(int),
        (kvo_layout)KVO_TYPE(int));
}

KVO_CLASS_IMPLEMENTATION(article_cabinet, "CArticleCabinet", kvo_root_class, ARTICLE_NO_PROPERTIES,
    cabinet_setup)

static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void closed_setup(kvo_class *cls) {
  require_class_method(cls, "accessInstanceVariablesDirectly", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(article_closed_cabinet, "CArticleClosedCabinet", article_cabinet_class,
    ARTICLE_NO_PROPERTIES, closed_setup)
