/// Old spellings of names that have changed. They compile, with a warning that gives the new name, until version 1.0.
#ifndef KVO_DEPRECATED_H
#define KVO_DEPRECATED_H

#include "kvo_binding.h"
#include "kvo_diagnostics.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

#define KVO_RENAMED_(name) __attribute__((deprecated("use " #name)))

/// The old spelling of `kvo_stored_property_will_change`.
KVO_RENAMED_(kvo_stored_property_will_change)
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_uniform_will(void *header, const void *storage) {
  return kvo_stored_property_will_change(header, storage);
}
/// The old spelling of `kvo_stored_property_will_change_key`.
KVO_RENAMED_(kvo_stored_property_will_change_key)
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_uniform_will_key(void *header, const char *interned_key) {
  return kvo_stored_property_will_change_key(header, interned_key);
}
/// The old spelling of `kvo_stored_property_will_change_part`.
KVO_RENAMED_(kvo_stored_property_will_change_part)
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_uniform_will_part(void *header, const char *interned_key,
    const kvo_part *part) {
  return kvo_stored_property_will_change_part(header, interned_key, part);
}
/// The old spelling of `kvo_stored_property_did_change`.
KVO_RENAMED_(kvo_stored_property_did_change)
KVO_INLINE void kvo_uniform_did(kvo_frame *frame) { kvo_stored_property_did_change(frame); }
/// The old spelling of `kvo_stored_property_did_change_key`.
KVO_RENAMED_(kvo_stored_property_did_change_key)
KVO_INLINE void kvo_uniform_did_key(kvo_frame *frame, const char *interned_key) {
  kvo_stored_property_did_change_key(frame, interned_key);
}
/// The old spelling of `kvo_stored_property_cancel_change`.
KVO_RENAMED_(kvo_stored_property_cancel_change)
KVO_INLINE void kvo_uniform_cancel(kvo_frame *frame) { kvo_stored_property_cancel_change(frame); }
/// The old spelling of `kvo_stored_property_notify_late_observers`.
KVO_RENAMED_(kvo_stored_property_notify_late_observers)
KVO_INLINE void kvo_uniform_look(void *header, const void *storage) {
  kvo_stored_property_notify_late_observers(header, storage);
}
/// The old spelling of `kvo_stored_property_notify_late_observers_key`.
KVO_RENAMED_(kvo_stored_property_notify_late_observers_key)
KVO_INLINE void kvo_uniform_look_key(void *header, const char *interned_key) {
  kvo_stored_property_notify_late_observers_key(header, interned_key);
}
/// The old spelling of `kvo_scoped_change_begin`.
KVO_RENAMED_(kvo_scoped_change_begin)
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_bracket_will(void *header, const char *interned_key,
    uintptr_t likely_id) {
  return kvo_scoped_change_begin(header, interned_key, likely_id);
}
/// The old spelling of `kvo_scoped_change_begin_named`.
KVO_RENAMED_(kvo_scoped_change_begin_named)
KVO_INLINE kvo_frame *KVO_NULLABLE kvo_bracket_will_named(void *header, const char *key) {
  return kvo_scoped_change_begin_named(header, key);
}
/// The old spelling of `kvo_scoped_change_end`.
KVO_RENAMED_(kvo_scoped_change_end)
KVO_INLINE void kvo_bracket_did(kvo_frame *frame) { kvo_scoped_change_end(frame); }
/// The old spelling of `kvo_scoped_change_notify_late_observers`.
KVO_RENAMED_(kvo_scoped_change_notify_late_observers)
KVO_INLINE void kvo_bracket_look(void *header, const char *key) {
  kvo_scoped_change_notify_late_observers(header, key);
}
/// The old spelling of `kvo_setter_ran_unobserved`.
KVO_RENAMED_(kvo_setter_ran_unobserved)
KVO_INLINE void kvo_setter_ran_bare(kvo_object *self, const kvo_method *method, kvo_imp imp,
    uint64_t begun) {
  kvo_setter_ran_unobserved(self, method, imp, begun);
}
/// The old spelling of `kvo_set_fast_path_disabled`.
KVO_RENAMED_(kvo_set_fast_path_disabled)
KVO_INLINE bool kvo_set_long_way_forced(bool forced) { return kvo_set_fast_path_disabled(forced); }
/// The old spelling of `kvo_reads_result`.
KVO_RENAMED_(kvo_reads_result)
KVO_INLINE kvo_value *KVO_NULLABLE kvo_reads_answer(kvo_reads *reads) {
  return kvo_reads_result(reads);
}
/// The old spelling of `kvo_notify_tracker`.
KVO_RENAMED_(kvo_notify_tracker)
KVO_INLINE void kvo_tell_tracker(kvo_object *object, const char *interned_key) {
  kvo_notify_tracker(object, interned_key);
}
/// The old spelling of `kvo_current_forwarding`.
KVO_RENAMED_(kvo_current_forwarding)
KVO_INLINE void *KVO_NULLABLE kvo_current_flow(void) { return kvo_current_forwarding(); }
/// The old spelling of `kvo_set_forwarding`.
KVO_RENAMED_(kvo_set_forwarding)
KVO_INLINE void kvo_set_flow(void *KVO_NULLABLE flow) { kvo_set_forwarding(flow); }
/// The old spelling of `kvo_current_tracked_reads`.
KVO_RENAMED_(kvo_current_tracked_reads)
KVO_INLINE kvo_reads *KVO_NULLABLE kvo_current_sink(void) { return kvo_current_tracked_reads(); }
/// The old spelling of `kvo_set_tracked_reads`.
KVO_RENAMED_(kvo_set_tracked_reads)
KVO_INLINE void kvo_set_sink(kvo_reads *KVO_NULLABLE sink) { kvo_set_tracked_reads(sink); }
/// The old spelling of `kvo_binding_lock_acquire`.
KVO_RENAMED_(kvo_binding_lock_acquire)
KVO_INLINE void kvo_binding_lock_take(kvo_binding_lock *lock) { kvo_binding_lock_acquire(lock); }
/// The old spelling of `kvo_binding_lock_release`.
KVO_RENAMED_(kvo_binding_lock_release)
KVO_INLINE void kvo_binding_lock_give_back(kvo_binding_lock *lock) {
  kvo_binding_lock_release(lock);
}

// Variables: clang warns of them, GCC does not.
/// The old spelling of `kvo_forwarding`.
#define kvo_flow kvo_forwarding
/// The old spelling of `kvo_tracked_reads`.
#define kvo_sink kvo_tracked_reads
#ifdef __clang__
#pragma clang deprecated(kvo_flow, "use kvo_forwarding")
#pragma clang deprecated(kvo_sink, "use kvo_tracked_reads")
#endif

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
