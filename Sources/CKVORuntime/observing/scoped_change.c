// Manual changes around a body, for a binding's objects: `kvo_scoped_change_begin`, the body, `kvo_scoped_change_end`.
//
// The closing call follows on the same thread and receives the frame. So the change needs no pair in the object's table
// (manual_change.c): it is a frame, like an automatic change, which protects the object while the body runs. Unlike an
// automatic change it is not open for joining: a change of the same key in the body is a change of its own. If the key
// has no observers, or the scoped change joins an automatic change, there is no frame. After the body, the caller looks
// for observers that were registered during it (`kvo_scoped_change_notify_late_observers`).
#include "kvo_binding.h"

#include "base/kvo_intern.h"
#include "delivery/kvo_delivery.h"
#include "delivery/kvo_fast_path.h"
#include "objects/kvo_class_internal.h"

// 0 if the class does not know the key; then the key has never been observed.
static uintptr_t id_of(kvo_object *object, const char *interned_key) {
  return interned_key ? kvo_class_key_id(kvo_class_of(object), interned_key) : 0;
}

KVO_INLINE void become_scoped_change(kvo_frame *frame, const char *key, uintptr_t id) {
  frame->id = id;
  __atomic_store_n(&frame->key, key, __ATOMIC_RELAXED);
  __atomic_store_n(&frame->state, KVO_FRAME_SCOPED, __ATOMIC_RELEASE);
}

KVO_INLINE kvo_frame *scoped_change_push(kvo_thread *thread, kvo_object *object, const char *key,
    uintptr_t id) {
  kvo_frame *frame = kvo_frame_push(thread, object);
  if (KVO_LIKELY(frame != NULL)) become_scoped_change(frame, key, id);
  return frame;
}

// The frame protects the object during the look-up of its observers.
static bool is_recorded_by_batch(kvo_frame *frame, kvo_object *object, uintptr_t id) {
  if (!frame->thread->batch_count || !kvo_object_observers(object, id)) return false;
  return kvo_batch_record(frame->thread, object, id, NULL);
}

// The slow path. Inside an automatic change of the same key, the scoped change joins that.
static __attribute__((noinline)) kvo_frame *begin_slow(kvo_object *object, const char *key,
    uintptr_t id) {
  kvo_thread *thread = kvo_thread_current();
  if (thread && kvo_change_join(thread, object, id)) return NULL;
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    kvo_change_report_undelivered(object, id);
    return NULL;
  }
  if (is_recorded_by_batch(frame, object, id)) {
    kvo_frame_pop(frame);
    return NULL;
  }
  become_scoped_change(frame, key, id);
  kvo_change_begin(frame);
  return frame;
}

// The fast path pushed the frame, with an id that may not be the key's in this class.
static __attribute__((noinline)) kvo_frame *continue_slow(kvo_frame *frame, kvo_object *object,
    const char *key) {
  frame->id = id_of(object, key);
  if (frame->id) {
    kvo_change_begin(frame);
    return frame;
  }
  kvo_frame_pop(frame);
  return NULL;
}

KVO_INLINE kvo_frame *scoped_change_will(kvo_object *object, const char *key, uintptr_t likely_id) {
  kvo_thread *thread = kvo_fast_path_thread;
  kvo_frame *frame =
      kvo_fast_path_may_begin(thread) ? scoped_change_push(thread, object, key, likely_id) : NULL;
  if (KVO_UNLIKELY(!frame)) {
    uintptr_t id = id_of(object, key);
    return id ? begin_slow(object, key, id) : NULL;
  }
  if (KVO_UNLIKELY(!kvo_fast_path_begin(frame, object, likely_id, &frame->observer_slot,
          KVO_KIND_VOID, 0)))
    return continue_slow(frame, object, key);
  frame->flags = KVO_FRAME_FAST_PATH;
  return frame;
}

void kvo_class_set_announces(kvo_class *cls, kvo_announced_kinds kinds) {
  cls->announces = (uint8_t)kinds;
}

// Whether the object may have observers, and the scoped change notifies them rather than methods of the class.
KVO_INLINE bool may_notify(const kvo_object *object) {
  const kvo_class *isa = kvo_isa(object);
  return isa && KVO_LIKELY(!(isa->announces & KVO_ANNOUNCES_SETTINGS));
}

kvo_frame *kvo_scoped_change_begin(void *header, const char *interned_key, uintptr_t likely_id) {
  return may_notify(header) ? scoped_change_will(header, interned_key, likely_id) : NULL;
}

kvo_frame *kvo_scoped_change_begin_named(void *header, const char *key) {
  const char *interned = may_notify(header) ? kvo_key_find(key) : NULL;
  uintptr_t id = id_of(header, interned);
  return id ? scoped_change_will(header, interned, id) : NULL;
}

void kvo_scoped_change_end(kvo_frame *frame) {
  kvo_thread *thread = frame->thread;
  bool is_fast = frame->flags & KVO_FRAME_FAST_PATH;
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  if (KVO_LIKELY(is_fast)) { // a recorder that was set in the body was reset there
    frame->flags = 0;
    kvo_fast_path_finish(frame, frame->object, &frame->observer_slot, frame->key, 0);
  } else {
    kvo_change_finish(frame);
  }
  kvo_frame_pop_own(thread, frame);
}

void kvo_scoped_change_notify_late_observers(void *header, const char *key) {
  uintptr_t id = id_of(header, kvo_key_find(key));
  if (id) kvo_change_notify_late_observers(header, id, true);
}

uintptr_t kvo_binding_key_id(const kvo_class *cls, const char *interned_key) {
  const kvo_accessors *accessors = kvo_class_accessors(cls, interned_key, NULL);
  return accessors ? accessors->id : 0;
}
