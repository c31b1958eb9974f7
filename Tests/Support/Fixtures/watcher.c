#include "fixture_watcher.h"

#include "require.h"

typedef void (*observe_function)(kvo_object *, const kvo_method *, const char *, kvo_object *,
    const kvo_change *, void *);

static const char observe_selector[] = "observeValueForKeyPath:ofObject:change:context:";

static void tell(kvo_object *self, const char *level, const char *key_path, kvo_object *object,
    const kvo_change *change, void *context) {
  watcher *watching = (watcher *)self;
  if (watching->sink)
    watching->sink(watching->sink_context, level, key_path, object, change, context);
}

static void watcher_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  (void)_cmd;
  tell(self, "CWatcher", key_path, object, change, context);
}

static void watcher_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)watcher_observe);
}

KVO_CLASS_IMPLEMENTATION(watcher, "CWatcher", tracked_class, WATCHER_PROPERTIES, watcher_setup)

void *base_watcher_context(void) {
  static char address;
  return &address;
}

// Passes the notification on to the root, skipping the watcher that takes everything.
static void base_watcher_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  if (context == base_watcher_context()) {
    tell(self, "CBaseWatcher", key_path, object, change, context);
  } else {
    ((observe_function)kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, key_path, object, change,
        context);
  }
}

static void base_watcher_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)base_watcher_observe);
}

KVO_CLASS_IMPLEMENTATION(base_watcher, "CBaseWatcher", watcher_class, BASE_WATCHER_PROPERTIES,
    base_watcher_setup)

void *sub_watcher_context(void) {
  static char address;
  return &address;
}

static void sub_watcher_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  if (context == sub_watcher_context()) {
    tell(self, "CSubWatcher", key_path, object, change, context);
  } else {
    ((observe_function)kvo_class_imp(base_watcher_class(), _cmd))(self, _cmd, key_path, object,
        change, context);
  }
}

static void sub_watcher_setup(kvo_class *cls) {
  require_hook(cls, observe_selector, (kvo_imp)sub_watcher_observe);
}

KVO_CLASS_IMPLEMENTATION(sub_watcher, "CSubWatcher", base_watcher_class, SUB_WATCHER_PROPERTIES,
    sub_watcher_setup)
