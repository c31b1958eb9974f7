#include "fixture_tracked.h"

#include "require.h"

int64_t fixture_deaths_count(const fixture_deaths *deaths) {
  return __atomic_load_n(&deaths->count, __ATOMIC_SEQ_CST);
}

static void tracked_dealloc(kvo_object *object, const kvo_method *_cmd) {
  tracked *self = (tracked *)object;
  (void)_cmd;
  if (self->last_words) self->last_words(self->last_words_context, object);
  if (self->deaths) __atomic_fetch_add(&self->deaths->count, 1, __ATOMIC_SEQ_CST);
}

static void tracked_setup(kvo_class *cls) {
  require_hook(cls, "dealloc", (kvo_imp)tracked_dealloc);
}

KVO_CLASS_IMPLEMENTATION(tracked, "CTracked", kvo_root_class, TRACKED_PROPERTIES, tracked_setup)
