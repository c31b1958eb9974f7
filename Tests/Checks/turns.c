// A library with a class whose setup uses another class (LIBRARY), a plug-in whose constructor uses that class
// (PLUGIN), and a host. One of its threads is in the setup while the other is in the constructor: they must not
// deadlock. See Scripts/checks/install.
#include <CKVORuntime.h>

#include <dlfcn.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

#define NO_PROPERTIES(PROPERTY)

#if defined LIBRARY
extern sem_t is_in_setup, is_in_constructor;

typedef struct inner {
  kvo_object object;
} inner;
KVO_CLASS_INTERFACE(inner, NO_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(inner, "Inner", kvo_root_class, NO_PROPERTIES, NULL)

static int get_level(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 3;
}

static void set_up(kvo_class *cls) {
  sem_post(&is_in_setup);
  sem_wait(&is_in_constructor);
  kvo_class_add_method(cls, "level", (kvo_imp)get_level, KVO_GETTER(int), NULL, NULL);
  cls = kvo_class_create("ByHand", NULL, sizeof(kvo_object), NULL);
  kvo_class_add_method(cls, "level", (kvo_imp)get_level, KVO_GETTER(int), NULL, NULL);
  inner_class();
}

typedef inner outer;
KVO_CLASS_INTERFACE(outer, NO_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(outer, "Outer", kvo_root_class, NO_PROPERTIES, set_up)

int make_outer(void *unused);
int make_outer(void *unused) {
  (void)unused;
  return !outer_class();
}
#elif defined PLUGIN
extern sem_t is_in_constructor;

typedef struct plug {
  kvo_object object;
} plug;
KVO_CLASS_INTERFACE(plug, NO_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(plug, "Plug", kvo_root_class, NO_PROPERTIES, NULL)

__attribute__((constructor)) static void begin(void) {
  sem_post(&is_in_constructor);
  plug_class();
}
#else
extern sem_t is_in_setup, is_in_constructor;
sem_t is_in_setup, is_in_constructor;
int make_outer(void *unused);

int main(int count, char **arguments) {
  thrd_t thread;
  sem_init(&is_in_setup, 0, 0);
  sem_init(&is_in_constructor, 0, 0);
  if (count != 2 || thrd_create(&thread, make_outer, NULL)) return 1;
  sem_wait(&is_in_setup);
  if (!dlopen(arguments[1], RTLD_NOW)) return 1;
  thrd_join(thread, NULL);
  puts(kvo_class_named("Inner") && kvo_class_named("Plug") ? "took turns" : "a class is missing");
}
#endif
