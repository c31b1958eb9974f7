#include "fixture_article.h"

#include "require.h"

// color

static const kvo_method *red_method;

static double red(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return article_color_lComponent((article_color *)self);
}

double article_color_redComponent(const article_color *self) {
  kvo_object *object = (kvo_object *)(uintptr_t)self;
  return ((double (*)(kvo_object *, const kvo_method *))kvo_method_lookup(object,
      red_method))(object, red_method);
}

static double green(kvo_object *object, const kvo_method *_cmd) {
  article_color *self = (article_color *)object;
  (void)_cmd;
  return article_color_lComponent(self) + article_color_aComponent(self);
}

static double blue(kvo_object *object, const kvo_method *_cmd) {
  article_color *self = (article_color *)object;
  (void)_cmd;
  return article_color_lComponent(self) + article_color_bComponent(self);
}

static tracked *color(kvo_object *object, const kvo_method *_cmd) {
  article_color *self = (article_color *)object;
  double mark =
      article_color_redComponent(self) * 10000 + green(object, _cmd) * 100 + blue(object, _cmd);
  kvo_object_release((kvo_object *)self->last_color);
  self->last_color = (tracked *)kvo_object_create(tracked_class());
  tracked_setMark(self->last_color, (int)mark);
  return self->last_color;
}

static void affects_red(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "lComponent");
}

static void affects_green(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "lComponent");
  kvo_key_paths_add(paths, "aComponent");
}

static void affects_blue(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "lComponent");
  kvo_key_paths_add(paths, "bComponent");
}

static void affects_color(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "redComponent");
  kvo_key_paths_add(paths, "greenComponent");
  kvo_key_paths_add(paths, "blueComponent");
}

static void color_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_object_release((kvo_object *)((article_color *)self)->last_color);
}

static void color_setup(kvo_class *cls) {
  kvo_error error = {0};
  require_ok(kvo_class_add_method(cls, "redComponent", (kvo_imp)red, KVO_GETTER(double),
                 &red_method, &error),
      &error);
  require_method(cls, "greenComponent", (kvo_imp)green, KVO_GETTER(double));
  require_method(cls, "blueComponent", (kvo_imp)blue, KVO_GETTER(double));
  require_method(cls, "color", (kvo_imp)color, KVO_GETTER_OF(tracked *, "@"));
  require_class_method(cls, "keyPathsForValuesAffectingRedComponent", (kvo_imp)affects_red);
  require_class_method(cls, "keyPathsForValuesAffectingGreenComponent", (kvo_imp)affects_green);
  require_class_method(cls, "keyPathsForValuesAffectingBlueComponent", (kvo_imp)affects_blue);
  require_class_method(cls, "keyPathsForValuesAffectingColor", (kvo_imp)affects_color);
  require_hook(cls, "dealloc", (kvo_imp)color_dealloc);
}

KVO_CLASS_IMPLEMENTATION(article_color, "CArticleColor", kvo_root_class, ARTICLE_COLOR_PROPERTIES,
    color_setup)

// warm_color

static double warm_red(kvo_object *self, const kvo_method *_cmd) { return 2 * red(self, _cmd); }

static void warm_setup(kvo_class *cls) {
  require_method(cls, "redComponent", (kvo_imp)warm_red, KVO_GETTER(double));
}

KVO_CLASS_IMPLEMENTATION(article_warm_color, "CArticleWarmColor", article_color_class,
    ARTICLE_NO_PROPERTIES, warm_setup)

// manual_color

static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void manual_setLComponent(kvo_object *self, const kvo_method *_cmd, double value) {
  (void)_cmd;
  if (((article_color *)self)->lComponent == value) return;
  kvo_will_change(self, "lComponent");
  ((article_color *)self)->lComponent = value;
  kvo_did_change(self, "lComponent");
}

static void manual_setup(kvo_class *cls) {
  require_class_method(cls, "automaticallyNotifiesObserversForLComponent", (kvo_imp)says_no);
  require_method(cls, "setLComponent:", (kvo_imp)manual_setLComponent, KVO_SETTER(double));
}

KVO_CLASS_IMPLEMENTATION(article_manual_color, "CArticleManualColor", article_color_class,
    ARTICLE_NO_PROPERTIES, manual_setup)

// controller

static void controller_setup(kvo_class *cls);

KVO_CLASS_IMPLEMENTATION(article_controller, "CArticleController", kvo_root_class,
    ARTICLE_CONTROLLER_PROPERTIES, controller_setup)

static article_color *article_controller_labColor_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((article_controller *)self)->labColor;
}

static void color_did_change(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  article_controller *self = context;
  kvo_value value;
  (void)key_path, (void)change;
  if (kvo_value_for_key(object, "color", &value, NULL)) return;
  self->shown = tracked_mark((tracked *)kvo_value_get_object(&value));
  self->updates += 1;
  kvo_value_destroy(&value);
}

// The old colour may die before its observation ends.
static void article_controller_setLabColor_imp(kvo_object *object, const kvo_method *_cmd,
    article_color *value) {
  article_controller *self = (article_controller *)object;
  kvo_error error = {0};
  (void)_cmd;
  kvo_store_retained_object(&self->labColor, value);
  kvo_handle_release(self->token);
  self->token = NULL;
  if (!value) return;
  require_ok(kvo_add_callback(&value->object, "color", KVO_INITIAL, color_did_change, self, NULL,
                 &self->token, &error),
      &error);
}

static void controller_dealloc(kvo_object *self, const kvo_method *_cmd) {
  article_controller_setLabColor_imp(self, _cmd, NULL);
}

static void controller_setup(kvo_class *cls) {
  require_hook(cls, "dealloc", (kvo_imp)controller_dealloc);
}
