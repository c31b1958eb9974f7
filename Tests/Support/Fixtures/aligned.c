#include "fixture_aligned.h"

#include "require.h"

#include <string.h>

typedef struct lane {
  kvo_object object;
  double gain;
  _Alignas(64) float lanes[16];
} lane;
#define LANE_PROPERTIES(PROPERTY) PROPERTY(lane, double, gain, Gain, ASSIGN)
KVO_CLASS_INTERFACE(lane, LANE_PROPERTIES)

static _Thread_local size_t deaths;
static void dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  deaths++;
}
static void set_up(kvo_class *cls) { require_hook(cls, "dealloc", (kvo_imp)dealloc); }
KVO_CLASS_IMPLEMENTATION(lane, "CLane", kvo_root_class, LANE_PROPERTIES, set_up)

typedef struct wide_lane {
  lane lane;
  _Alignas(128) char more[3];
} wide_lane;
#define WIDE_LANE_PROPERTIES(PROPERTY)
KVO_CLASS_INTERFACE(wide_lane, WIDE_LANE_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(wide_lane, "CWideLane", lane_class, WIDE_LANE_PROPERTIES, NULL)

enum { PAGE = 4096 };
typedef struct page_lane {
  lane lane;
  _Alignas(PAGE) char page[PAGE];
} page_lane;

// Made without the macros.
static const kvo_class *page_lane_class(void) {
  kvo_error error = {0};
  const kvo_class *known = kvo_class_named("CPageLane");
  if (known) return known;
  kvo_class *cls = kvo_class_create("CPageLane", lane_class(), sizeof(page_lane), &error);
  require_ok(error.status, &error);
  require_ok(kvo_class_set_alignment(cls, _Alignof(page_lane), &error), &error);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static const kvo_class *class_of(size_t alignment) {
  if (alignment == PAGE) return page_lane_class();
  return alignment == _Alignof(lane) ? lane_class() : wide_lane_class();
}

static size_t size_of(size_t alignment) {
  if (alignment == PAGE) return sizeof(page_lane);
  return alignment == _Alignof(lane) ? sizeof(lane) : sizeof(wide_lane);
}

static void notified(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path;
  *(double *)context = kvo_value_get_double(kvo_change_get_new(change));
}

static bool is_empty(const lane *self, size_t size) {
  const char *bytes = (const char *)self;
  for (size_t i = sizeof self->object; i < size; i++)
    if (bytes[i]) return false;
  return true;
}

static bool is_right(lane *self, size_t alignment) {
  double gain = 0;
  if (!self || (uintptr_t)self % alignment || !is_empty(self, size_of(alignment))) return false;
  kvo_add_callback(&self->object, "gain", KVO_NEW, notified, &gain, NULL, NULL, NULL);
  lane_setGain(self, 2);
  memset(self->lanes, 1, sizeof self->lanes);
  return gain == 2;
}

size_t aligned_count_wrong(size_t alignment) {
  enum { COUNT = 32 };
  lane *lanes[COUNT];
  kvo_object *between[COUNT];
  size_t wrong = 0;
  deaths = 0;
  for (int i = 0; i < COUNT; i++) {
    lanes[i] = (lane *)kvo_object_create(class_of(alignment));
    between[i] = kvo_object_create(kvo_root_class());
    wrong += !is_right(lanes[i], alignment);
  }
  for (int i = 0; i < COUNT; i++) {
    kvo_object_release(&lanes[i]->object);
    kvo_object_release(between[i]);
  }
  return wrong + (COUNT - deaths);
}
