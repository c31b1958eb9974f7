// C++ classes made by the macros, with a property of each type. Checks their notifications (A3), and a registration
// that ends with its owner, also if its initial call throws (D9).
#include <CKVORuntime.h>

#include <cstdio>
#include <stdexcept>

namespace {

enum rig { SLOOP = 1, KETCH };
struct place {
  double latitude, longitude;
};

struct crew {
  kvo_object object;
  const char *name;
};
#define CREW_PROPERTIES(PROPERTY) PROPERTY(crew, const char *, name, Name, COPY)
KVO_CLASS_INTERFACE(crew, CREW_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(crew, "Crew", kvo_root_class, CREW_PROPERTIES, nullptr)

struct boat {
  kvo_object object;
  bool afloat;
  char letter;
  signed char list;
  unsigned char berths;
  short draft;
  unsigned short sail;
  int year;
  unsigned number;
  long mileage;
  unsigned long stock;
  long long debt;
  unsigned long long owed;
  float beam;
  double length;
  long double drift;
  rig rigging;
  place mooring;
  void *chart;
  const char *port;
  crew *skipper;
};
#define BOAT_PROPERTIES(PROPERTY)                               \
  PROPERTY(boat, bool, afloat, Afloat, ASSIGN)                  \
  PROPERTY(boat, char, letter, Letter, ASSIGN)                  \
  PROPERTY(boat, signed char, list, List, ASSIGN)               \
  PROPERTY(boat, unsigned char, berths, Berths, ASSIGN)         \
  PROPERTY(boat, short, draft, Draft, ASSIGN)                   \
  PROPERTY(boat, unsigned short, sail, Sail, ASSIGN)            \
  PROPERTY(boat, int, year, Year, ASSIGN)                       \
  PROPERTY(boat, unsigned, number, Number, ASSIGN)              \
  PROPERTY(boat, long, mileage, Mileage, ASSIGN)                \
  PROPERTY(boat, unsigned long, stock, Stock, ASSIGN)           \
  PROPERTY(boat, long long, debt, Debt, ASSIGN)                 \
  PROPERTY(boat, unsigned long long, owed, Owed, ASSIGN)        \
  PROPERTY(boat, float, beam, Beam, ASSIGN)                     \
  PROPERTY(boat, double, length, Length, ASSIGN)                \
  PROPERTY(boat, long double, drift, Drift, ASSIGN)             \
  PROPERTY(boat, rig, rigging, Rigging, ASSIGN)                 \
  PROPERTY(boat, place, mooring, Mooring, ASSIGN, "{place=dd}") \
  PROPERTY(boat, void *, chart, Chart, READONLY)                \
  PROPERTY(boat, const char *, port, Port, COPY)                \
  PROPERTY(boat, crew *, skipper, Skipper, RETAIN)
KVO_CLASS_INTERFACE(boat, BOAT_PROPERTIES)

double area(kvo_object *self, const kvo_method *) {
  const boat *measured = reinterpret_cast<boat *>(self);
  return boat_length(measured) * boat_beam(measured);
}

void set_up(kvo_class *cls) {
  kvo_error error;
  if (kvo_class_add_method(cls, "area", reinterpret_cast<kvo_imp>(area), KVO_GETTER(double),
          nullptr, &error) ||
      kvo_class_add_dependency(cls, "area", "beam", &error))
    std::puts(error.message);
}
KVO_CLASS_IMPLEMENTATION(boat, "Boat", kvo_root_class, BOAT_PROPERTIES, set_up)

void notified(void *, kvo_object *, const char *key_path, const kvo_change *change) {
  char value[64];
  kvo_value_describe(kvo_change_get_new(change), value, sizeof value);
  std::printf("%s: %s\n", key_path, value);
}

void refuse(void *, kvo_object *, const char *, const kvo_change *) {
  throw std::runtime_error("not now");
}

void ended(void *) { std::puts("ended"); }

class observation {
public:
  using callback = void (*)(void *, kvo_object *, const char *, const kvo_change *);

  observation(kvo_object *object, const char *key_path, kvo_options options, callback call)
      : observation() {
    kvo_error error;
    if (kvo_add_callback(object, key_path, options, call, nullptr, ended, &handle, &error))
      throw std::invalid_argument(error.message);
  }
  observation(const observation &) = delete;
  ~observation() { kvo_handle_release(handle); }

private:
  observation() = default; // delegating, so that the destructor runs if this throws
  kvo_handle *handle = nullptr;
};

void set_each(boat *set) {
  boat_setAfloat(set, true);
  boat_setLetter(set, 'K');
  boat_setList(set, -128);
  boat_setBerths(set, 255);
  boat_setDraft(set, -32768);
  boat_setSail(set, 65535);
  boat_setYear(set, -1976);
  boat_setNumber(set, 4294967295);
  boat_setMileage(set, -5000000000);
  boat_setStock(set, 18446744073709551615u);
  boat_setDebt(set, -1);
  boat_setOwed(set, 1);
  boat_setBeam(set, 3.5F);
  boat_setLength(set, 12.25);
  boat_setDrift(set, 0.5L);
  boat_setRigging(set, KETCH);
  boat_setMooring(set, {54.5, 10.25});
  boat_setPort(set, "Kiel");
}

void observe_each(boat *observed) {
  static const char *const keys[] = {"afloat", "letter", "list", "berths", "draft", "sail", "year",
      "number", "mileage", "stock", "debt", "owed", "beam", "length", "drift", "rigging", "mooring",
      "port", "skipper.name"};
  constexpr size_t count = sizeof keys / sizeof *keys;
  kvo_handle *handles[count];
  kvo_error error;
  for (size_t i = 0; i < count; i++)
    if (kvo_add_callback(&observed->object, keys[i], KVO_NEW, notified, nullptr, nullptr,
            &handles[i], &error))
      std::puts(error.message);
  set_each(observed);
  crew *skipper = reinterpret_cast<crew *>(kvo_object_create(crew_class()));
  crew_setName(skipper, "Grace");
  boat_setSkipper(observed, skipper);
  kvo_object_release(&skipper->object);
  for (kvo_handle *handle : handles) kvo_handle_release(handle);
}

} // namespace

int main() {
  boat *made = reinterpret_cast<boat *>(kvo_object_create(boat_class()));
  observe_each(made);
  {
    observation watching(&made->object, "area", KVO_OLD | KVO_NEW, notified);
    boat_setBeam(made, 4);
  }
  try {
    observation refused(&made->object, "area", KVO_INITIAL, refuse);
  } catch (const std::runtime_error &thrown) {
    std::printf("caught %s\n", thrown.what());
  }
  boat_setBeam(made, 5); // notifies no observer
  kvo_object_release(&made->object);
}
