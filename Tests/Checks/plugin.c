// A plug-in with a class (PLUGIN), and a host that opens it, makes an object, closes it, and does so again. Closing
// leaves the plug-in in memory. See Scripts/checks/install.
#ifdef PLUGIN
#include <CKVORuntime.h>

typedef struct plug {
  kvo_object object;
  int level;
} plug;
#define PLUG_PROPERTIES(PROPERTY) PROPERTY(plug, int, level, Level, ASSIGN)
KVO_CLASS_INTERFACE(plug, PLUG_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(plug, "Plug", kvo_root_class, PLUG_PROPERTIES, NULL)

kvo_class *begin_plug(void);
int try_plug(kvo_class *begun);
#ifdef BY_HAND // a class made without macros, whose method is called after the plug-in was closed
static int get_depth(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 3;
}

// If the compiler optimises, this is a tail call of the runtime, which returns to the host.
kvo_class *begin_plug(void) { return kvo_class_create("Dive", NULL, sizeof(kvo_object), NULL); }

int try_plug(kvo_class *begun) {
  const kvo_class *cls = begun ? begun : kvo_class_named("Dive");
  if (begun) {
    kvo_class_add_method(begun, "depth", (kvo_imp)get_depth, KVO_GETTER(int), NULL, NULL);
    kvo_class_register(begun, NULL);
  }
  kvo_object *made = kvo_object_create(cls);
  kvo_value depth;
  kvo_status status = kvo_value_for_key(made, "depth", &depth, NULL);
  kvo_object_release(made);
  return !status && kvo_value_get_int(&depth) == 3;
}
#else
kvo_class *begin_plug(void) { return NULL; }

int try_plug(kvo_class *begun) {
  (void)begun;
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
  if (!plugin) return 0;
  void *(*begin)(void) = (void *(*)(void))dlsym(plugin, "begin_plug");
  int (*function)(void *) = (int (*)(void *))dlsym(plugin, "try_plug");
  int is_right = begin && function && function(begin());
  dlclose(plugin);
  return is_right && dlopen(path, RTLD_NOW | RTLD_NOLOAD);
}

int main(int count, char **arguments) {
  if (count == 2 && try(arguments[1]) && try(arguments[1])) puts("made twice");
}
#endif
