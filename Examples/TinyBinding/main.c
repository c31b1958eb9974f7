/// A program "written" in Tiny: a thermometer, observed from C.
#include "tiny.h"

#include <stdio.h>

enum { CELSIUS, FAHRENHEIT };

static double fahrenheit(tiny_object *self) { return tiny_get(self, CELSIUS) * 9 / 5 + 32; }

static tiny_property properties[] = {
    [CELSIUS] = {.name = "celsius"}, [FAHRENHEIT] = {.name = "fahrenheit", .getter = fahrenheit}};
static tiny_class thermometer_class = {"Thermometer", properties, 2, NULL};

static void changed(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  char description[32];
  kvo_object_describe(object, description, sizeof description);
  printf("%s of %s: ", key_path, description);
  if (kvo_value_is_nil(kvo_change_get_new(change))) puts("nothing");
  else printf("%g\n", kvo_value_get_double(kvo_change_get_new(change)));
  ++*(int *)context;
}

static void ended(void *context) { printf("ended after %d calls\n", *(int *)context); }

static void set_by_key(kvo_object *object, const char *key, kvo_value value) {
  kvo_error error;
  if (kvo_set_value_for_key(object, key, &value, &error)) puts(error.message);
  kvo_value_destroy(&value);
}

int main(void) {
  tiny_define(&thermometer_class);
  tiny_object *thermometer = tiny_create(&thermometer_class);
  kvo_object *object = &thermometer->header;
  int calls = 0;
  kvo_error error;
  if (kvo_add_callback(object, "fahrenheit", KVO_NEW, changed, &calls, ended, NULL, &error))
    return puts(error.message), 1;

  tiny_set(thermometer, CELSIUS, 20);
  set_by_key(object, "celsius", kvo_value_int(100));
  set_by_key(object, "celsius", KVO_VALUE_NIL);
  set_by_key(object, "celsius", kvo_value_string("hot"));
  set_by_key(object, "fahrenheit", kvo_value_int(0));

  kvo_object_release(object); // the language's last reference
}
