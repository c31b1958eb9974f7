// An observer throws, and the change that called it is closed nevertheless (D9).
#include <CKVORuntime.h>

#include <cstdio>
#include <stdexcept>

namespace {

struct meter {
  kvo_object object;
  double reading;
};

double reading(kvo_object *self, const kvo_method *) {
  return reinterpret_cast<meter *>(self)->reading;
}

void set_reading(kvo_object *self, const kvo_method *, double value) {
  reinterpret_cast<meter *>(self)->reading = value;
}

const kvo_method *setter;

const kvo_class *make_meter_class() {
  kvo_class *made = kvo_class_create("Meter", nullptr, sizeof(meter), nullptr);
  kvo_class_add_method(made, "reading", reinterpret_cast<kvo_imp>(reading), KVO_GETTER(double),
      nullptr, nullptr);
  kvo_class_add_method(made, "setReading:", reinterpret_cast<kvo_imp>(set_reading),
      KVO_SETTER(double), &setter, nullptr);
  kvo_class_register(made, nullptr);
  return made;
}

void set(kvo_object *object, double value) {
  auto call =
      reinterpret_cast<void (*)(kvo_object *, const kvo_method *, double)>(kvo_method_lookup(object,
          setter));
  call(object, setter, value);
}

void notified(void *, kvo_object *, const char *, const kvo_change *change) {
  double value = kvo_value_get_double(kvo_change_get_new(change));
  std::printf("notified %g\n", value);
  if (value < 0) throw std::out_of_range("below zero");
}

} // namespace

int main() {
  kvo_object *object = kvo_object_create(make_meter_class());
  kvo_handle *handle = nullptr;
  kvo_error error;
  if (kvo_add_callback(object, "reading", KVO_NEW, notified, nullptr, nullptr, &handle, &error)) {
    std::puts(error.message);
    return 1;
  }
  try {
    set(object, -1);
  } catch (const std::out_of_range &thrown) {
    std::printf("caught %s\n", thrown.what());
  }
  set(object, 2);
  kvo_handle_release(handle);
  set(object, 3); // notifies no observer
  kvo_object_release(object);
}
