#include "fixture_keys.h"

#include "require.h"

// spelled

static int spelled_Name(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((spelled *)self)->name * 10;
}

static int spelled_aenderung(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((spelled *)self)->aenderung;
}

static void spelled_setAenderung(kvo_object *self, const kvo_method *_cmd, int value) {
  (void)_cmd;
  ((spelled *)self)->aenderung = value;
}

static void spelled_hollow(kvo_object *self, const kvo_method *_cmd) {
  (void)self;
  (void)_cmd;
}

static void spelled_setup(kvo_class *cls) {
  require_method(cls, "Name", (kvo_imp)spelled_Name, KVO_GETTER(int));
  require_method(cls, "änderung", (kvo_imp)spelled_aenderung, KVO_GETTER(int));
  require_method(cls, "setänderung:", (kvo_imp)spelled_setAenderung, KVO_SETTER(int));
  require_method(cls, "hollow", (kvo_imp)spelled_hollow, KVO_ENCODED("v@:"));
}

KVO_CLASS_IMPLEMENTATION(spelled, "CSpelled", kvo_root_class, SPELLED_PROPERTIES, spelled_setup)

// plain

static void plain_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  if (((plain *)self)->partner) kvo_object_release(&((plain *)self)->partner->object);
}

static void plain_setup(kvo_class *cls) {
  REQUIRE_IVAR(cls, plain, secret, "_secret", double);
  REQUIRE_IVAR(cls, plain, open, "_isOpen", bool);
  require_ivar(cls, "partner", offsetof(plain, partner), (kvo_layout)KVO_STRUCT(tracked *, "@"));
  require_ivar(cls, "isPlace", offsetof(plain, place),
      (kvo_layout)KVO_STRUCT(float[2], "{pair=ff}"));
  require_hook(cls, "dealloc", (kvo_imp)plain_dealloc);
}

static void destroy_nothing(kvo_object *self, const kvo_method *_cmd) {
  (void)self;
  (void)_cmd;
}

const kvo_class *plain_class(void) {
  static const kvo_class *once;
  static const kvo_property_definition none[1];
  static const kvo_class_definition definition = {
      "CPlain", kvo_root_class, sizeof(plain), 0, none, destroy_nothing, plain_setup, 0};
  return kvo_class_define(&once, &definition);
}

// sealed

static bool sealed_access(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void sealed_setup(kvo_class *cls) {
  REQUIRE_IVAR(cls, sealed, secret, "_secret", double);
  require_class_method(cls, "accessInstanceVariablesDirectly", (kvo_imp)sealed_access);
}

KVO_CLASS_IMPLEMENTATION(sealed, "CSealed", kvo_root_class, SEALED_PROPERTIES, sealed_setup)
