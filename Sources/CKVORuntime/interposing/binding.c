// Functions for language bindings: root classes with operations of their own, keys without methods, and scoped
// changes that a binding opens around an assignment.
#include "kvo_binding.h"

#include "base/kvo_fail.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "delivery/kvo_delivery.h"
#include "delivery/kvo_fast_path.h"
#include "delivery/kvo_general_delivery.h"
#include "objects/kvo_class_internal.h"

#include <string.h>

kvo_class *kvo_class_create_root(const char *name, const kvo_class_operations *operations,
    kvo_error *error) {
  kvo_class *root = kvo_class_make(name, NULL, sizeof(kvo_object), error);
  if (!root) return NULL;
  root->is_bound = true;
  if (kvo_class_set_operations(root, operations)) return root;
  kvo_fail(error, KVO_INVALID_ARGUMENT, name, NULL,
      "%s can't be made: there are 256 kinds of root classes already.", name);
  return NULL;
}

kvo_status kvo_class_add_property(kvo_class *cls, const kvo_property_description *description,
    kvo_error *error) {
  const char *key = kvo_key_intern(description->key);
  kvo_property *kept = kvo_alloc(sizeof *kept);
  bool added = false;
  if (key && kept) {
    KVO_LOCKED(&kvo_class_lock);
    *kept = (kvo_property){*description, kvo_map_get(&cls->properties, key)};
    kept->description.key = key;
    added = kvo_map_set_locked(&cls->properties, key, kept);
    if (added) kvo_class_touch_locked(cls);
  }
  if (added) return KVO_OK;
  kvo_free(kept);
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, description->key,
      "No memory for the key \"%s\" of %s.", description->key, cls->name);
}

// The isa is NULL if another thread has just removed the last observer.
bool kvo_binding_holds(const void *header, const void *address) {
  const kvo_class *isa = kvo_isa(header);
  return !isa || (uintptr_t)address - (uintptr_t)header < isa->instance_size;
}

_Static_assert(offsetof(kvo_class, instance_size) == sizeof(size_t), "kvo_isa_marks reads it");

#define SAME_STORAGE(part) \
  _Static_assert(offsetof(kvo_change_parts, part) == offsetof(struct kvo_change, part), #part)
SAME_STORAGE(kind);
SAME_STORAGE(is_prior);
SAME_STORAGE(old_value);
SAME_STORAGE(new_value);
SAME_STORAGE(indexes);
#undef SAME_STORAGE
_Static_assert(offsetof(kvo_keyed_change, key_index) == sizeof(kvo_change_parts), "behind them");

// MARK: Values that are copied

// What the fast path does, for a property whose values have references, such as a text: the frame owns copies of them.
// These functions are apart, so that changes of numbers do not pay for them.

static void copy_field(kvo_value *value, const kvo_accessors *accessors, const kvo_object *object) {
  value->type = accessors->type;
  value->type->copy(value->type, value->payload.words, (const char *)object + accessors->field);
}

// The will phase, with the observer that has been found. Only a stored property has such values, and the caller has
// made sure that it is not being mutated in place.
static __attribute__((noinline)) kvo_frame *will_change_copied(kvo_thread *thread, kvo_frame *frame,
    kvo_object *object, const kvo_observer_slot *slot) {
  const kvo_accessors *accessors = kvo_observer_slot_accessors(slot);
  if (!accessors->field_is_copied || !kvo_field_is_current(accessors))
    return kvo_change_open_frame(frame, object);
  frame->flags = KVO_FRAME_FAST_PATH | KVO_FRAME_COPIES;
  frame->change.old_value = NULL;
  if (kvo_observer_slot_registration(slot)->options & KVO_OLD) {
    copy_field(&frame->old_value, accessors, object);
    frame->change.old_value = &frame->old_value;
    frame->flags |= KVO_FRAME_HAS_OLD;
  }
  thread->open_count = 1;
  return frame;
}

static void destroy_copy(kvo_value *value) {
  value->type->destroy(value->type, value->payload.words);
}

static void destroy_copies(kvo_frame *frame) {
  const uint32_t both = KVO_FRAME_HAS_OLD | KVO_FRAME_HAS_NEW;
  uint32_t flags = frame->flags;
  frame->flags &= ~both;
  if (flags & KVO_FRAME_HAS_OLD) destroy_copy(&frame->old_value);
  if (flags & KVO_FRAME_HAS_NEW) destroy_copy(&frame->new_value);
}

static void call_with_copies(kvo_frame *frame, const kvo_accessors *accessors,
    kvo_registration *registration) {
  frame->change.new_value = NULL;
  if (registration->options & KVO_NEW) {
    copy_field(&frame->new_value, accessors, frame->object);
    frame->change.new_value = &frame->new_value;
    frame->flags |= KVO_FRAME_HAS_NEW;
  }
  const char *key = accessors->key;
  if (KVO_LIKELY(!(registration->options & (KVO_BY_OBSERVER | KVO_GROUPED))))
    registration->callback(registration->context, frame->object, key, &frame->change);
  else kvo_fast_path_call_other(frame, registration, key);
  destroy_copies(frame);
}

KVO_INLINE bool is_open_here(const kvo_frame *frame) {
  return frame->thread == kvo_fast_path_thread &&
         __atomic_load_n(&frame->state, __ATOMIC_RELAXED) == KVO_FRAME_OPEN;
}

// The did phase of a change with copies, or of another one on the fast path that has to leave it.
static __attribute__((noinline)) void did_change_copied(kvo_frame *frame) {
  const uint32_t flags_but_old = frame->flags & ~(uint32_t)KVO_FRAME_HAS_OLD;
  bool is_copied = flags_but_old == (KVO_FRAME_FAST_PATH | KVO_FRAME_COPIES);
  if (!is_copied || !is_open_here(frame)) {
    kvo_fast_path_leave(frame);
    kvo_change_close(frame);
    return;
  }
  const kvo_observer_slot *slot = &frame->observer_slot;
  frame->thread->open_count--;
  frame->flags &= KVO_FRAME_HAS_OLD;
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  kvo_light_fence(); // a thread that registers now sees the stored value
  bool is_there = kvo_observer_slot_is_current(frame->object, slot);
  const kvo_accessors *accessors = is_there ? kvo_observer_slot_accessors(slot) : NULL;
  if (KVO_LIKELY(accessors && kvo_field_is_current(accessors)))
    call_with_copies(frame, accessors, kvo_observer_slot_registration(slot));
  else kvo_change_finish(frame);
  kvo_frame_pop_own(frame->thread, frame);
}

// MARK: Changes

KVO_INLINE kvo_frame *binding_will(kvo_object *object, uintptr_t id) {
  kvo_thread *thread = kvo_fast_path_thread;
  if (!kvo_fast_path_may_begin(thread)) return kvo_change_open(object, id);
  kvo_frame *frame = kvo_frame_push_as(thread, object, KVO_FRAME_OPEN);
  if (KVO_UNLIKELY(!frame)) return kvo_change_open(object, id);
  frame->id = id;
  kvo_observer_slot *slot = &frame->observer_slot;
  if (KVO_UNLIKELY(!kvo_fast_path_find(object, id, slot)))
    return kvo_change_open_frame(frame, object);
  if (KVO_UNLIKELY(!kvo_fast_path_read_old(frame, object, slot, KVO_KIND_VOID, 0)))
    return will_change_copied(thread, frame, object, slot);
  thread->open_count = 1;
  frame->flags = KVO_FRAME_FAST_PATH;
  return frame;
}

// Cancels the change, and returns NULL, if the storage is not in the object: it may be that of a copy. No property has
// such an offset, so the change found no observer.
KVO_INLINE kvo_frame *frame_if_in_object(kvo_frame *frame, const void *header,
    const void *storage) {
  if (KVO_LIKELY(!frame || frame->state != KVO_FRAME_UNOBSERVED)) return frame;
  if (kvo_binding_holds(header, storage)) return frame;
  kvo_change_cancel(frame);
  return NULL;
}

kvo_frame *kvo_stored_property_will_change(void *header, const void *storage) {
  kvo_frame *frame = binding_will(header, (uintptr_t)storage - (uintptr_t)header);
  return frame_if_in_object(frame, header, storage);
}

// On the fast path no key depends on the property.
KVO_INLINE kvo_frame *mark_in_place(kvo_frame *frame, kvo_object *object, uintptr_t id) {
  bool is_fast = frame && frame->flags & KVO_FRAME_FAST_PATH;
  return KVO_LIKELY(is_fast) ? frame : kvo_in_place_mark(frame, object, id);
}

kvo_frame *kvo_stored_property_will_change_in_place(void *header, const void *storage) {
  uintptr_t id = (uintptr_t)storage - (uintptr_t)header;
  return mark_in_place(kvo_stored_property_will_change(header, storage), header, id);
}

kvo_frame *kvo_stored_property_will_change_key_in_place(void *header, const char *interned_key) {
  uintptr_t id = (uintptr_t)interned_key;
  return mark_in_place(binding_will(header, id), header, id);
}

void kvo_stored_property_notify_late_observers(void *header, const void *storage) {
  kvo_change_notify_late_observers(header, (uintptr_t)storage - (uintptr_t)header, false);
}

void kvo_stored_property_notify_late_observers_key(void *header, const char *interned_key) {
  uintptr_t id = kvo_class_key_id(kvo_class_of(header), interned_key);
  if (id) kvo_change_notify_late_observers(header, id, false);
}

kvo_frame *kvo_stored_property_will_change_key(void *header, const char *interned_key) {
  return binding_will(header, (uintptr_t)interned_key);
}

kvo_frame *kvo_stored_property_will_change_part(void *header, const char *interned_key,
    const kvo_part *part) {
  uintptr_t id = kvo_class_key_id(kvo_class_of(header), interned_key);
  const kvo_mutation mutation = {.kind = part->kind,
      .indexes = part->indexes,
      .is_exact = part->is_exact,
      .set_mutation = part->set_mutation,
      .members = part->members,
      .goes = part->goes,
      .comes = part->comes};
  if (!id) return NULL;
  return kvo_change_open_mutation(header, id, part->kind == KVO_SETTING ? NULL : &mutation);
}

void kvo_stored_property_change_is_setting(void *header, const char *interned_key,
    const kvo_value *old_value, bool is_first) {
  uintptr_t id = kvo_class_key_id(kvo_class_of(header), interned_key);
  if (id) kvo_change_becomes_setting(header, id, old_value, is_first);
}

bool kvo_stored_property_change_became_setting(const kvo_frame *frame) {
  return kvo_change_became_setting(frame);
}

KVO_INLINE void binding_did(kvo_frame *frame, const char *KVO_NULLABLE key) {
  kvo_thread *thread = frame->thread;
  if (KVO_LIKELY(frame->flags == KVO_FRAME_FAST_PATH && is_open_here(frame))) {
    thread->open_count--;
    frame->flags = 0;
    __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
    kvo_fast_path_finish(frame, frame->object, &frame->observer_slot, key, 0);
    kvo_frame_pop_own(thread, frame);
    return;
  }
  if (frame->flags & KVO_FRAME_FAST_PATH) did_change_copied(frame);
  else kvo_change_close(frame);
}

void kvo_stored_property_did_change(kvo_frame *frame) { binding_did(frame, NULL); }

// Sets the property in the frame of its change, which is NULL if none has been opened. False, with nothing stored, if
// the caller has to store the value.
static __attribute__((noinline)) bool set_word_in(kvo_frame *KVO_NULLABLE frame, void *header,
    void *storage, uint64_t value) {
  frame = frame_if_in_object(frame, header, storage);
  if (!frame) return false;
  memcpy(storage, &value, sizeof value);
  binding_did(frame, NULL);
  return true;
}

// No code of the program runs between the will and the did phase, so on the fast path the change is not recorded as
// open.
bool kvo_stored_property_set_word(void *header, void *storage, uint64_t value) {
  kvo_object *object = header;
  uintptr_t id = (uintptr_t)storage - (uintptr_t)header;
  kvo_thread *thread = kvo_fast_path_thread;
  kvo_frame *frame = NULL;
  if (KVO_LIKELY(kvo_fast_path_may_begin(thread)))
    frame = kvo_frame_push_as(thread, object, KVO_FRAME_OPEN);
  if (KVO_UNLIKELY(!frame)) return set_word_in(kvo_change_open(object, id), header, storage, value);
  frame->id = id;
  kvo_observer_slot slot;
  if (KVO_UNLIKELY(!kvo_fast_path_begin(frame, object, id, &slot, KVO_KIND_VOID, 0)))
    return set_word_in(kvo_change_open_frame(frame, object), header, storage, value);
  memcpy(storage, &value, sizeof value);
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  kvo_fast_path_finish(frame, object, &slot, NULL, 0);
  kvo_frame_pop_own(thread, frame);
  return true;
}

void kvo_stored_property_did_change_key(kvo_frame *frame, const char *interned_key) {
  binding_did(frame, interned_key);
}

void kvo_stored_property_cancel_change(kvo_frame *frame) { kvo_change_cancel(frame); }
