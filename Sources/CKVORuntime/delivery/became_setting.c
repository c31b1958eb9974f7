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
#include "base/kvo_memory.h"
#include "delivery/kvo_general_delivery.h"
#include "values/kvo_collection_internal.h"

static kvo_frame *find_open(const kvo_object *object, uintptr_t id) {
  const kvo_thread *thread = kvo_this_thread;
  return thread && thread->open_count ? kvo_thread_find_open(thread, object, id) : NULL;
}

static kvo_mutation_record *mutation_of_elements(const kvo_frame *frame) {
  bool is_general = frame->flags & KVO_FRAME_GENERAL_DELIVERY;
  kvo_mutation_record *record = is_general ? &frame->general_delivery->first.mutation : NULL;
  return record && (record->kind != KVO_SETTING || record->became_setting) ? record : NULL;
}

bool kvo_change_names_elements(const kvo_object *object, uintptr_t id) {
  const kvo_frame *frame = find_open(object, id);
  return frame && (frame->flags & KVO_FRAME_BATCHED || mutation_of_elements(frame));
}

// Observers that have had a prior call may still read the value that is replaced. If memory runs out, it stays.
static void replace_old_value(kvo_mutation_record *record, kvo_dirty_key *dirty,
    const kvo_value *old_value) {
  kvo_replaced_value *kept = dirty->is_read ? kvo_alloc(sizeof *kept) : NULL;
  kvo_value copy;
  if ((dirty->is_read && !kept) || kvo_value_copy(&copy, old_value) != KVO_OK) {
    kvo_free(kept);
    return;
  }
  if (kept) {
    *kept = (kvo_replaced_value){dirty->value, record->replaced};
    record->replaced = kept;
  }
  dirty->value = copy;
  dirty->is_read = true;
}

// Observers in their prior calls, and the setter, may mutate the key again, and these mutations may become settings, too. The
// first of them gives the old value. That of the mutation that opened the change is older.
void kvo_mutation_becomes_setting(kvo_general_delivery *delivery, kvo_changed_key *changed_key,
    const kvo_value *old_value, bool is_first) {
  kvo_recipients *before = &delivery->before;
  kvo_mutation_record *record = &changed_key->mutation;
  bool replaces = is_first && record->became_setting && !record->has_final_old;
  for (uint32_t i = 0; old_value && i < before->dirty_key_count; i++) {
    kvo_dirty_key *dirty = &before->dirty_keys[i];
    if (dirty->changed_key == changed_key && (!dirty->is_read || replaces))
      replace_old_value(record, dirty, old_value);
  }
  record->kind = KVO_SETTING;
  record->became_setting = true;
}

// In a batch a further change of the key makes it a setting. The batch has read the old value.
void kvo_change_becomes_setting(kvo_object *object, uintptr_t id, const kvo_value *old_value,
    bool is_first) {
  kvo_frame *frame = find_open(object, id);
  if (frame && frame->flags & KVO_FRAME_BATCHED)
    (void)kvo_batch_record(frame->thread, object, id, NULL);
  else if (frame && mutation_of_elements(frame))
    kvo_mutation_becomes_setting(frame->general_delivery, &frame->general_delivery->first,
        old_value, is_first);
}
