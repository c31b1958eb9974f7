// A plug-in with a class (PLUGIN), and a host that opens it, has an object made, closes it, and does so again. See
// Scripts/checks/install.
#ifdef PLUGIN
#include <CKVORuntime.h>

typedef struct plug {
  kvo_object object;
  int level;
} plug;
#define PLUG_PROPERTIES(PROPERTY) PROPERTY(plug, int, level, Level, ASSIGN)
KVO_CLASS_INTERFACE(plug, PLUG_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(plug, "Plug", kvo_root_class, PLUG_PROPERTIES, NULL)

int try_plug(void);
#ifdef BY_HAND // a class that no macro makes, with a method that is called after the plug-in was closed
static int get_depth(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 3;
}

int try_plug(void) {
  kvo_class *cls = (kvo_class *)(uintptr_t)kvo_class_named("Dive");
  if (!cls) {
    cls = kvo_class_create("Dive", NULL, sizeof(kvo_object), NULL);
    kvo_class_add_method(cls, "depth", (kvo_imp)get_depth, KVO_GETTER(int), NULL, NULL);
    kvo_class_register(cls, NULL);
  }
  kvo_object *made = kvo_object_create(cls);
  kvo_value depth;
  kvo_status status = kvo_value_for_key(made, "depth", &depth, NULL);
  kvo_object_release(made);
  return !status && kvo_value_get_int(&depth) == 3;
}
#else
int try_plug(void) {
  plug *made = (plug *)kvo_object_create(plug_class());
  plug_setLevel(made, 3);
  int level = plug_level(made);
  kvo_object_release(&made->object);
  return level == 3;
}
#endif
#else
#include <dlfcn.h>
#include <stdio.h>

static int try(const char *path) {
  void *plugin = dlopen(path, RTLD_NOW);
  int (*function)(void) = plugin ? (int (*)(void))dlsym(plugin, "try_plug") : NULL;
  int is_right = function && function();
  if (plugin) dlclose(plugin);
  return is_right;
}

int main(int count, char **arguments) {
  if (count == 2 && try(arguments[1]) && try(arguments[1])) puts("made twice");
}
#endif
