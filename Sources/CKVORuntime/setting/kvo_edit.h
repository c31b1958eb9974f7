/// An edit: a change of a mutable proxy in progress, with the request and the data made for it.
#ifndef KVO_EDIT_H
#define KVO_EDIT_H

#include "coding/kvo_accessor_search.h"
#include "coding/kvo_proxy.h"
#include "delivery/kvo_delivery.h"
#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The members of a set that one step adds or removes.
typedef struct kvo_set_step {
  kvo_elements elements;
  kvo_collection *KVO_NULLABLE
      all; ///< the elements as one collection, for a method that takes several; a reference
} kvo_set_step;

/// The request is either `kind` and `indexes`, or `set_mutation`, or a binding works `kind` and `indexes` out. An edit's
/// data are released at its end, even if the program's code throws.
typedef struct kvo_edit {
  kvo_proxy *KVO_NULLABLE proxy; ///< held until the edit's end
  kvo_error *KVO_NULLABLE error;
  kvo_status status;
  kvo_change_kind kind;
  kvo_set_mutation set_mutation; ///< 0: a change by index
  /// A binding's function, with its context; NULL for other requests.
  kvo_status (*KVO_NULLABLE work_out)(void *KVO_NULLABLE context, kvo_worked_out_change *change,
      kvo_error *KVO_NULLABLE error);
  void *KVO_NULLABLE context;
  kvo_set_mutation by_element; ///< the request that `kind` and `indexes` were found for, or 0
  /// Ascending; for an insertion, the indexes that the elements have afterwards.
  const kvo_index_set *KVO_NULLABLE indexes;
  kvo_index_set *KVO_NULLABLE own_indexes;   ///< `indexes`, if the edit owns them
  kvo_index_set *KVO_NULLABLE later_indexes; ///< of the second of two steps; owned
  kvo_elements elements; ///< the new elements, or the operand of a set mutation; owned
  /// All elements of an insertion in an ordered set, if some have been left out because they are present; owned.
  kvo_elements requested;
  const kvo_index_set *KVO_NULLABLE requested_indexes; ///< theirs; NULL if the edit finds them
  kvo_elements current;                 ///< the current elements, if they had to be read; owned
  bool was_nil;                         ///< with `current`: the key's value was nil
  kvo_set_step removal, addition;       ///< for a set in two steps; owned
  kvo_collection *KVO_NULLABLE objects; ///< `elements` as one; a reference
  kvo_value value;                      ///< the new value of the key; owned
  kvo_elements passed, stored; ///< its elements, and those that the key has after its setter; owned
  kvo_value stored_value;      ///< the value that has the latter; owned
  const kvo_accessors *KVO_NULLABLE accessors;             ///< the owner's current ones
  const kvo_collection_accessors *KVO_NULLABLE collection; ///< the owner's current ones
} kvo_edit;

KVO_INLINE kvo_object *kvo_edit_owner(const kvo_edit *edit) { return edit->proxy->owner; }

/// Opens a change of the key, which all calls of the edit join: that many methods. NULL: there are no observers, or it
/// joins another change itself.
kvo_frame *KVO_NULLABLE kvo_edit_open(kvo_edit *edit, size_t calls);
/// Closes the change of an edit, or cancels it if the edit has failed. Returns the status.
kvo_status kvo_edit_close(kvo_frame *KVO_NULLABLE frame, kvo_status status);
/// Prior observers have changed the key: works the change out again, or finds the indexes of a change by element and the
/// elements that an ordered set lacks. Checks the indexes and the new elements against the present ones.
kvo_status kvo_edit_check_again(kvo_edit *edit);
/// Releases the members of a step, so that they can be found again.
void kvo_edit_empty(kvo_set_step *step);
/// Makes `edit->objects` from the elements, which stay valid. KVO_NO_MEMORY.
kvo_status kvo_edit_make_objects(kvo_edit *edit, kvo_collection_kind kind);
/// The current number of elements, and whether there is an equal one. If memory runs out, only `kvo_shortages` shows
/// it.
size_t kvo_edit_count(const kvo_edit *edit);
bool kvo_edit_has(const kvo_edit *edit, const kvo_value *element);
/// Reads the current elements into `edit->current`.
kvo_status kvo_edit_read(kvo_edit *edit);
/// Fails with KVO_NO_MEMORY.
kvo_status kvo_edit_no_memory(const kvo_edit *edit);

// mutable_accessors.c: edits by the methods that mutate the key.

/// Whether the class has a pair of such methods for this kind of collection.
bool kvo_edit_has_methods(const kvo_edit *edit);
/// Converts the elements to the types that the methods take. KVO_TYPE_MISMATCH.
kvo_status kvo_edit_convert(kvo_edit *edit);
/// Makes a change that has been checked: by index, of a set, or of the whole collection.
kvo_status kvo_edit_call_ordered(kvo_edit *edit);
kvo_status kvo_edit_call_set(kvo_edit *edit);
kvo_status kvo_edit_call_all(kvo_edit *edit);

// mutable_fallback.c: edits that replace the whole collection.

kvo_status kvo_edit_replace_ordered(kvo_edit *edit);
kvo_status kvo_edit_replace_set(kvo_edit *edit);
kvo_status kvo_edit_replace_all(kvo_edit *edit);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
