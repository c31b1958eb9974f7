#include "fixture_plugged.h"

#include "require.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// A part of glibc that no program uses.
static const char library[] = "libBrokenLocale.so.1", function[] = "__ctype_get_mb_cur_max";

typedef struct plug {
  kvo_object object;
} plug;

static plugged_way way_now;
static bool closes_inside, is_there_inside;
static void *opened;

static kvo_imp open_library(void) {
  opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  kvo_imp imp = opened ? (kvo_imp)(uintptr_t)dlsym(opened, function) : NULL;
  if (imp) return imp;
  fprintf(stderr, "fixture: %s\n", dlerror());
  abort();
}

static bool is_there_after_closing(void) {
  dlclose(opened);
  return dlopen(library, RTLD_NOW | RTLD_NOLOAD);
}

static void set_inner_up(kvo_class *cls) {
  require_method(cls, "level", open_library(), (kvo_signature)KVO_GETTER(int));
}

#define NO_PROPERTIES(PROPERTY)
KVO_CLASS_INTERFACE(plug, NO_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(plug, "CPlug", kvo_root_class, NO_PROPERTIES, set_inner_up)

static void set_outer_up(kvo_class *cls) {
  if (way_now == PLUGGED_INNER_SETUP) plug_class();
  else require_method(cls, "level", open_library(), (kvo_signature)KVO_GETTER(int));
  if (closes_inside) is_there_inside = is_there_after_closing();
}

typedef plug outlet;
KVO_CLASS_INTERFACE(outlet, NO_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(outlet, "COutlet", kvo_root_class, NO_PROPERTIES, set_outer_up)

static int get_level(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 1;
}

static void make_class(void) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create("CPluggedByHand", NULL, sizeof(plug), &error);
  require_ok(error.status, &error);
  kvo_imp imp = open_library();
  if (way_now == PLUGGED_METHOD) require_method(cls, "level", imp, (kvo_signature)KVO_GETTER(int));
  if (way_now == PLUGGED_CLASS_METHOD) require_class_method(cls, "levels", imp);
  if (way_now == PLUGGED_REPLACEMENT) {
    require_method(cls, "level", (kvo_imp)get_level, (kvo_signature)KVO_GETTER(int));
    require_ok(kvo_class_replace_method(cls, "level", imp, NULL, &error), &error);
  }
}

bool plugged_stays(plugged_way way) {
  way_now = way;
  if (way < PLUGGED_SETUP) make_class();
  else outlet_class();
  return is_there_after_closing();
}

bool plugged_stays_inside(plugged_way way) {
  way_now = way;
  closes_inside = true;
  outlet_class();
  return is_there_inside;
}
