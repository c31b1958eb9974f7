#include "fixture_guide.h"

#include <stdio.h>
#include <string.h>

#include "require.h"

KVO_CLASS_IMPLEMENTATION(guide_named, "CGuideNamed", kvo_root_class, GUIDE_NAMED_PROPERTIES, NULL)

// The text is valid until the next call, because getters return values that they own.
static const char *full_name(guide_named *self, const kvo_method *_cmd) {
  (void)_cmd;
  snprintf(self->buffer, sizeof self->buffer, "%s %s", guide_named_firstName(self),
      guide_named_lastName(self));
  return self->buffer;
}

static void affects_full_name(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "lastName");
  kvo_key_paths_add(paths, "firstName");
}

// general_name

static void general_affects(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  kvo_class_key_paths_affecting(guide_named_class(), key, paths);
  if (!strcmp(key, "fullName")) affects_full_name(cls, paths);
}

static void general_setup(kvo_class *cls) {
  require_method(cls, "fullName", (kvo_imp)full_name, KVO_GETTER(const char *));
  require_class_method(cls, "keyPathsForValuesAffectingValueForKey:", (kvo_imp)general_affects);
}

KVO_CLASS_IMPLEMENTATION(guide_general_name, "CGuideGeneralName", guide_named_class,
    GUIDE_NO_PROPERTIES, general_setup)

// hooked_name

static void hooked_setup(kvo_class *cls) { guide_add_full_name(cls); }

KVO_CLASS_IMPLEMENTATION(guide_hooked_name, "CGuideHookedName", guide_named_class,
    GUIDE_NO_PROPERTIES, hooked_setup)

// titled_name

static const char *titled_full_name(guide_named *self, const kvo_method *_cmd) {
  (void)_cmd;
  snprintf(self->buffer, sizeof self->buffer, "%s %s %s", guide_named_title(self),
      guide_named_firstName(self), guide_named_lastName(self));
  return self->buffer;
}

static void titled_affects(const kvo_class *cls, const char *key, kvo_key_paths *paths) {
  (void)cls;
  kvo_class_key_paths_affecting(guide_general_name_class(), key, paths);
  if (!strcmp(key, "fullName")) kvo_key_paths_add(paths, "title");
}

static void titled_setup(kvo_class *cls) {
  require_method(cls, "fullName", (kvo_imp)titled_full_name, KVO_GETTER(const char *));
  require_class_method(cls, "keyPathsForValuesAffectingValueForKey:", (kvo_imp)titled_affects);
}

KVO_CLASS_IMPLEMENTATION(guide_titled_name, "CGuideTitledName", guide_general_name_class,
    GUIDE_NO_PROPERTIES, titled_setup)

// The work of a category

kvo_class *guide_named_subclass(const char *name) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create(name, guide_named_class(), sizeof(guide_named), &error);
  require_ok(error.status, &error);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

void guide_add_full_name(kvo_class *cls) {
  require_method(cls, "fullName", (kvo_imp)full_name, KVO_GETTER(const char *));
  require_class_method(cls, "keyPathsForValuesAffectingFullName", (kvo_imp)affects_full_name);
}
