/// A change of a mutable proxy on its way: what is asked for, and what is made of it.
#ifndef KVO_EDIT_H
#define KVO_EDIT_H

#include "coding/kvo_accessor_search.h"
#include "coding/kvo_proxy.h"
#include "delivery/kvo_delivery.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// Members of a set that one step adds or removes.
typedef struct kvo_batch {
  kvo_elements elements;
  kvo_collection *KVO_NULLABLE all; ///< them, where a method takes them all; a reference
} kvo_batch;

/// Either `kind` and `indexes` say what is asked for, or `set_mutation`. Whatever it owns is given
/// back at its end, also if an exception of the user's passes.
typedef struct kvo_edit {
  kvo_proxy *proxy; ///< held
  kvo_error *KVO_NULLABLE error;
  kvo_status status;
  kvo_change_kind kind;
  kvo_set_mutation set_mutation; ///< 0: a change by index
  /// Ascending; of an insertion, those that the elements have afterwards.
  const kvo_index_set *KVO_NULLABLE indexes;
  kvo_index_set *KVO_NULLABLE own_indexes;   ///< if `indexes` are the edit's
  kvo_index_set *KVO_NULLABLE later_indexes; ///< of its second step, where it has two; the edit's
  kvo_elements elements; ///< what comes, or what a set mutation is made with; the edit's
  kvo_elements current;  ///< what there is, where that had to be read; the edit's
  kvo_batch goes, comes; ///< what a set's members are made to be in two steps; the edit's
  kvo_collection *KVO_NULLABLE objects;                    ///< `elements` as one; a reference
  kvo_value value;                                         ///< what the key is set to; the edit's
  const kvo_accessors *KVO_NULLABLE accessors;             ///< of the owner now
  const kvo_collection_accessors *KVO_NULLABLE collection; ///< of the owner now
} kvo_edit;

KVO_INLINE kvo_object *kvo_edit_owner(const kvo_edit *edit) { return edit->proxy->owner; }

/// Opens a change of the key for all that an edit calls, which joins it. NULL: nobody is to be
/// told, or it joins another one itself.
kvo_frame *KVO_NULLABLE kvo_edit_open(kvo_edit *edit);
/// Makes `edit->objects` of the elements, which stay. KVO_NO_MEMORY.
kvo_status kvo_edit_make_objects(kvo_edit *edit, kvo_collection_kind kind);
/// How many elements there are now, and whether there is one. What memory was out for shows in
/// `kvo_shortages` alone.
size_t kvo_edit_count(const kvo_edit *edit);
bool kvo_edit_has(const kvo_edit *edit, const kvo_value *element);
/// Reads what there is now into `edit->current`.
kvo_status kvo_edit_read(kvo_edit *edit);
/// Fails for want of memory.
kvo_status kvo_edit_no_memory(const kvo_edit *edit);

// Mutable_accessors.c: by the methods that mutate the key.

/// Whether there is a pair of them for this sort of collection.
bool kvo_edit_has_methods(const kvo_edit *edit);
/// Converts the elements to what they take. KVO_TYPE_MISMATCH.
kvo_status kvo_edit_convert(kvo_edit *edit);
/// Makes a change that has been checked: by index, or of a set, or of all.
kvo_status kvo_edit_call_ordered(kvo_edit *edit);
kvo_status kvo_edit_call_set(kvo_edit *edit);
kvo_status kvo_edit_call_all(kvo_edit *edit);

// Mutable_fallback.c: by replacing the whole collection.

kvo_status kvo_edit_replace_ordered(kvo_edit *edit);
kvo_status kvo_edit_replace_set(kvo_edit *edit);
kvo_status kvo_edit_replace_all(kvo_edit *edit);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
