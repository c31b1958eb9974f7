// Changes of elements that turn out to be other changes (D5).
//
// A proxy or a handle without methods to mutate a key sets the key to a changed collection. It announces the elements
// that it removes and adds, but the program's setter may store another collection: a sorted one, or one with fewer
// elements. Then the announced elements are not those that were removed and added. So the proxy or handle, which knows
// what it has passed to the setter, compares this with what is stored, and observers are notified of a setting.
//
// They may have had a prior call for the elements, and still be in it: the record keeps the elements until it ends.
//
// Prior observers may change the key themselves. Then the mutation is made to what they have left, and observers are
// notified of a setting as well, even if the mutation fails.
#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "delivery/kvo_general_delivery.h"
#include "values/kvo_collection_internal.h"

// The open change of a property on this thread. If the program has transferred it, another thread closes it, but that
// begins under the graph lock. So the change stays open, and its delivery alive, while the lock is held.
static kvo_frame *find_open_locked(const kvo_object *object, uintptr_t id) {
  const kvo_thread *thread = kvo_this_thread;
  return thread && thread->open_count ? kvo_thread_find_open(thread, object, id) : NULL;
}

static const kvo_mutation_record *mutation_of_elements_locked(const kvo_frame *frame) {
  bool is_general = frame->flags & KVO_FRAME_GENERAL_DELIVERY;
  const kvo_mutation_record *record = is_general ? &frame->general_delivery->first.mutation : NULL;
  return record && (record->kind != KVO_SETTING || record->became_setting) ? record : NULL;
}

bool kvo_change_names_elements(const kvo_object *object, uintptr_t id) {
  KVO_LOCKED(&kvo_graph_lock);
  const kvo_frame *frame = find_open_locked(object, id);
  return frame && (frame->flags & KVO_FRAME_BATCHED || mutation_of_elements_locked(frame));
}

// Observers that have had a prior call may still read the value that is replaced, so it is kept with the record. If
// there is no memory to keep it, it is not replaced.
static void replace_old_value_locked(kvo_mutation_record *record, kvo_dirty_key *dirty,
    kvo_value *old_value) {
  kvo_replaced_value *kept = dirty->is_read ? kvo_alloc(sizeof *kept) : NULL;
  if (dirty->is_read && !kept) return;
  if (kept) {
    *kept = (kvo_replaced_value){dirty->value, record->replaced};
    record->replaced = kept;
  }
  dirty->value = *old_value;
  dirty->is_read = true;
  *old_value = KVO_VALUE_NIL;
}

// Observers in their prior calls, and the setter, may mutate the key again, and these mutations may become settings,
// too. The first of them to do so gives the old value. If the mutation that opened the change (`is_first`) becomes a
// setting afterwards, it replaces that value, because its own is older.
static void turn_record_into_setting_locked(kvo_general_delivery *delivery,
    kvo_value *KVO_NULLABLE old_value, bool is_first) {
  kvo_changed_key *changed_key = &delivery->first;
  kvo_mutation_record *record = &changed_key->mutation;
  bool has_older_value = is_first && record->became_setting && !record->has_final_old;
  // If observers were found when the change began, the property itself is the first of their dirty keys.
  kvo_dirty_key *dirty = delivery->before.dirty_key_count ? delivery->before.dirty_keys : NULL;
  bool is_property = dirty && dirty->changed_key == changed_key;
  if (old_value && is_property && (!dirty->is_read || has_older_value))
    replace_old_value_locked(record, dirty, old_value);
  record->kind = KVO_SETTING;
  record->became_setting = true;
}

// Takes the old value, if it is needed. Returns whether a batch delivers the change: then the caller records a setting
// there.
static bool turn_into_setting(const kvo_object *object, uintptr_t id,
    kvo_value *KVO_NULLABLE old_value, bool is_first) {
  KVO_LOCKED(&kvo_graph_lock);
  const kvo_frame *frame = find_open_locked(object, id);
  if (!frame) return false;
  if (frame->flags & KVO_FRAME_BATCHED) return true;
  if (mutation_of_elements_locked(frame))
    turn_record_into_setting_locked(frame->general_delivery, old_value, is_first);
  return false;
}

// In a batch a further change of the key makes it a setting. The batch has read the old value.
void kvo_change_becomes_setting(kvo_object *object, uintptr_t id, const kvo_value *old_value,
    bool is_first) {
  kvo_value copy;
  bool is_copied = old_value && kvo_value_copy(&copy, old_value) == KVO_OK;
  if (turn_into_setting(object, id, is_copied ? &copy : NULL, is_first))
    (void)kvo_batch_record(kvo_this_thread, object, id, NULL);
  if (is_copied) kvo_value_destroy(&copy);
}
