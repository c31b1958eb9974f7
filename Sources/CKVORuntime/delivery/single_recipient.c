// Changes that reach exactly one recipient. This is the usual case for two kinds of keys: the last key of a path (by
// string, or of stored properties by Swift's key path), and a key from which another key of its object is derived.
//
// Then there is no need to gather recipients (recipients.c). The only entry in the key's cell is a node with no further
// key behind it. The recipient is found from that node without a lock, in the will phase and again in the did phase. If
// it is the same both times, it registered in time. All other changes go to general_delivery.c, which gets what was
// found in the will phase.
//
// Another thread may unlink the objects that are read on the way:
//
// | read | why it remains valid |
// |---|---|
// | the node and its path observation | the change's frame protects the changed object from the will phase on |
// | the path observation's root | the path observation holds its memory |
// | a path's registration | it is attached to the root, which a frame of its own protects before `first` is read |
// | a derived key's registration | it is attached to the changed object |
// | a tracked path's path cache, and the memory of its origin, the object where it begins | the path observation holds them |
// | a tracked path's registration | it is attached to the origin, which a frame of its own protects while it is looked at |
//
// Finding the same address twice means finding the same registration:
// * A path's registration is its path observation's first node as long as it lives, and a path observation never gets
//   another one.
// * A derived key's registration can't be freed and reallocated while its object is protected.
// * A tracked path's registration can, but a newer one has a greater serial number.
//
// A tracked path is handled here only while its path cache is current (path_cache.c). Then the path leads to the
// changed key, and reading it again would read the same properties.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "graph/kvo_path_cache.h"

// MARK: Finding

static const kvo_path_cache *path_cache_of(const kvo_path_observation *observation) {
  return observation->is_tracked ? __atomic_load_n(&observation->path_cache, __ATOMIC_ACQUIRE)
                                 : NULL;
}

// The node that is the key's only entry, with no further key behind it; NULL if the entry is something else, or there
// are several.
static kvo_path_node *node_of(kvo_observers observers) {
  if (!observers || kvo_observers_is_list(observers)) return NULL;
  kvo_path_node *node = kvo_path_node_of(kvo_observers_registration(observers));
  bool is_leaf = node && kvo_path_node_is_leaf(node) &&
                 (!node->observation->is_tracked || path_cache_of(node->observation));
  return is_leaf && kvo_registration_state(&node->entry) == KVO_LIVE ? node : NULL;
}

static bool single_is_plain(const kvo_registration *registration) {
  return !(registration->options & ~(uint32_t)(KVO_PLAIN_OPTIONS | KVO_PATH_NODE)) &&
         kvo_registration_state(registration) == KVO_LIVE;
}

// The plain observer of a path whose root is protected, or NULL.
static kvo_registration *recipient_of_path(const kvo_path_observation *observation) {
  kvo_path_node *first = __atomic_load_n(&observation->first, __ATOMIC_SEQ_CST);
  return first && single_is_plain(&first->entry) ? &first->entry : NULL;
}

static kvo_observers observers_of_dependent_key(kvo_object *object,
    const kvo_path_observation *observation) {
  return kvo_object_observers(object, observation->accessors->id);
}

// The key's only registration, or NULL. A dependent key is stored in a list, so a derived key has a list even for one
// observer.
static kvo_registration *one_of(kvo_observers observers) {
  if (kvo_observers_is_group_key(observers)) return NULL;
  if (!kvo_observers_is_list(observers)) return kvo_observers_registration(observers);
  kvo_list *list = kvo_observers_list(observers);
  bool is_one = __atomic_load_n(&list->count, __ATOMIC_SEQ_CST) == 1;
  return is_one ? __atomic_load_n(&list->items[0], __ATOMIC_SEQ_CST) : NULL;
}

// The only observer of a derived key of a protected object, if it is plain.
static kvo_registration *recipient_of_dependent_key(kvo_object *object,
    const kvo_path_observation *observation) {
  kvo_observers observers = observers_of_dependent_key(object, observation);
  bool has_manual_or_tracked =
      observers && kvo_observers_tagged_accessors(observers) & KVO_ACCESSORS_TAG_MASK;
  if (!observers || has_manual_or_tracked) return NULL;
  kvo_registration *registration = one_of(observers);
  bool is_direct = registration && !(registration->options & KVO_PATH_NODE);
  return is_direct && single_is_plain(registration) ? registration : NULL;
}

// The only observer of a tracked path whose origin is protected, if it is plain and was there before the change.
static kvo_registration *recipient_of_path_cache(const kvo_frame *frame,
    const kvo_path_cache *cache) {
  kvo_observers observers = kvo_object_observers(cache->steps[0].object, cache->accessors->id);
  if (!observers || kvo_observers_are_manual(observers)) return NULL;
  kvo_registration *registration = one_of(observers);
  bool is_direct = registration && !(registration->options & KVO_PATH_NODE);
  bool is_ours = is_direct && single_is_plain(registration);
  return is_ours && !kvo_registration_is_late(registration, frame) ? registration : NULL;
}

// Whether this thread is reading no derived key, and has no other change open: `open_count` is 1 while this change is
// counted itself, and otherwise 0. A manual change of a node counts as one, and so does a mutation that its task has
// begun on another thread. In these cases a recipient may have to be left out.
static bool single_is_alone(const kvo_frame *frame, uint32_t open_count) {
  const kvo_thread *thread = frame->thread;
  bool has_links = __atomic_load_n(&thread->open_links, __ATOMIC_RELAXED) != NULL;
  return thread == kvo_this_thread && thread->open_count == open_count && !thread->reading_count &&
         !has_links && !kvo_log_flags && !kvo_in_place_is_open();
}

// MARK: Holding

// Protects and holds a path's root.
static kvo_frame *protect_root(const kvo_frame *frame, const kvo_path_observation *observation) {
  return kvo_change_protect(frame, frame->thread, observation->root, observation->operations);
}

static kvo_frame *protect_origin(const kvo_frame *frame, const kvo_path_cache *cache) {
  const kvo_path_cache_step *origin = &cache->steps[0];
  return kvo_change_protect(frame, frame->thread, origin->object, origin->operations);
}

// MARK: Reading

static bool single_read_path(const kvo_frame *frame, const kvo_path_observation *observation,
    kvo_value *value) {
  kvo_frame *protector = protect_root(frame, observation);
  if (!protector) return false;
  kvo_frame_reads(protector, (uintptr_t)observation);
  bool is_read = kvo_change_read_path(observation->root, observation, value);
  kvo_frame_pop(protector);
  return is_read;
}

static bool read_dependent_key(const kvo_frame *frame, const kvo_path_observation *observation,
    kvo_value *value) {
  kvo_observers observers = observers_of_dependent_key(frame->object, observation);
  // The object is protected already. The frame marks that the key is being read.
  kvo_frame *reading = observers ? kvo_frame_push(frame->thread, frame->object) : NULL;
  if (!reading) return false;
  kvo_frame_reads(reading, observation->accessors->id);
  const kvo_accessors *accessors = kvo_accessors_current(kvo_observers_accessors(observers));
  bool is_read = kvo_change_read(accessors, frame->object, value);
  kvo_frame_pop(reading);
  return is_read;
}

static bool read_by_path_cache(const kvo_frame *frame, const kvo_path_cache *cache,
    kvo_value *value) {
  kvo_frame *protector = protect_origin(frame, cache);
  if (!protector) return false;
  kvo_frame_reads(protector, cache->accessors->id);
  bool is_read =
      kvo_change_read(kvo_accessors_current(cache->accessors), cache->steps[0].object, value);
  kvo_frame_pop(protector);
  return is_read;
}

// Reads the recipient's value. The changed object is held from now on, because the program's getter may drop it.
static bool single_read(kvo_frame *frame, const kvo_path_observation *observation,
    kvo_value *value) {
  kvo_frame_hold(frame);
  const kvo_path_cache *cache = path_cache_of(observation);
  if (cache) return read_by_path_cache(frame, cache, value);
  return observation->dependent_key ? read_dependent_key(frame, observation, value)
                                    : single_read_path(frame, observation, value);
}

// MARK: The will phase

// The recipient and its options, which are copied because the recipient may be freed once the frame that has found it
// is popped. If `recipient` is NULL, general_delivery.c takes the change.
typedef struct {
  kvo_registration *recipient;
  uint32_t options;
} finding;

static finding single_found(kvo_registration *recipient) {
  return (finding){recipient, recipient ? recipient->options : 0};
}

static finding find_by_path_cache(const kvo_frame *frame, const kvo_path_cache *cache) {
  kvo_frame *protector = protect_origin(frame, cache);
  if (!protector) return single_found(NULL);
  finding finding =
      single_found(kvo_path_cache_is_current(cache) ? recipient_of_path_cache(frame, cache) : NULL);
  kvo_frame_pop(protector);
  return finding;
}

static finding single_find(const kvo_frame *frame, const kvo_path_observation *observation) {
  const kvo_path_cache *cache = path_cache_of(observation);
  if (cache) return find_by_path_cache(frame, cache);
  if (observation->dependent_key)
    return single_found(observation->root == frame->object
                            ? recipient_of_dependent_key(frame->object, observation)
                            : NULL);
  kvo_frame *protector = kvo_frame_push(frame->thread, observation->root);
  if (!protector) return single_found(NULL);
  finding finding = single_found(recipient_of_path(observation));
  kvo_frame_pop(protector);
  return finding;
}

bool kvo_single_recipient_begin(kvo_frame *frame, kvo_observers observers) {
  kvo_path_node *node = node_of(observers);
  if (!node || kvo_observers_are_tracked(observers) || !single_is_alone(frame, 1)) return false;
  if (frame->state != KVO_FRAME_OPEN) return false; // a scoped change, which is not in open_count
  finding finding = single_find(frame, node->observation);
  if (!finding.recipient) return false;
  bool wants_old = finding.options & KVO_OLD;
  if (wants_old && !single_read(frame, node->observation, &frame->old_value)) return false;
  if (wants_old) frame->flags |= KVO_FRAME_HAS_OLD;
  frame->flags |= KVO_FRAME_SINGLE_RECIPIENT;
  frame->observer_slot.observers = observers;
  frame->recipient = finding.recipient;
  return true;
}

// MARK: The did phase

// Calls the recipient unless it has ended. As in general_delivery.c, an observer added while the new value was read is
// not called.
static void single_call(kvo_frame *protector, const kvo_frame *frame, kvo_registration *recipient) {
  if (kvo_registration_state(recipient) != KVO_LIVE) return;
  uint32_t options = recipient->options;
  const kvo_change change = {.kind = KVO_SETTING,
      .old_value = options & KVO_OLD ? &frame->old_value : NULL,
      .new_value = options & KVO_NEW ? &frame->new_value : NULL};
  uint64_t shortages = kvo_shortages;
  kvo_change_call(protector, recipient, &change);
  kvo_shortages = shortages; // a shortage inside the observer is not this change's
}

// Whether it is the recipient found in the will phase, and still the only one.
static bool is_there(const kvo_frame *frame, const kvo_registration *found) {
  return found && found == frame->recipient &&
         kvo_object_observers(frame->object, frame->id) == frame->observer_slot.observers &&
         kvo_registration_state(found) == KVO_LIVE;
}

static bool single_read_new(kvo_frame *frame, const kvo_path_observation *observation) {
  if (!single_read(frame, observation, &frame->new_value)) return false;
  frame->flags |= KVO_FRAME_HAS_NEW;
  return true;
}

// While the root is protected, the recipient's memory stays, though the recipient may end.
static bool notify_of_protected_path(kvo_frame *protector, kvo_frame *frame,
    const kvo_path_observation *observation) {
  kvo_registration *recipient = recipient_of_path(observation);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !single_read_new(frame, observation)) return false;
  single_call(protector, frame, recipient);
  return true;
}

static bool notify_of_path(kvo_frame *frame, const kvo_path_observation *observation) {
  kvo_frame *protector = protect_root(frame, observation);
  if (!protector) return false;
  bool is_notified = notify_of_protected_path(protector, frame, observation);
  kvo_frame_pop(protector);
  return is_notified;
}

static bool notify_of_dependent_key(kvo_frame *frame, const kvo_path_observation *observation) {
  kvo_registration *recipient = recipient_of_dependent_key(frame->object, observation);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !single_read_new(frame, observation)) return false;
  single_call(frame, frame, recipient);
  return true;
}

// While the path cache is current, a reading of the path would read the same properties as before the change, apart
// from the changed key's value.
static bool notify_of_protected_path_cache(kvo_frame *protector, kvo_frame *frame,
    const kvo_path_observation *observation, const kvo_path_cache *cache) {
  kvo_registration *recipient = recipient_of_path_cache(frame, cache);
  if (!is_there(frame, recipient) || !kvo_path_cache_is_current(cache)) return false;
  if (recipient->options & KVO_NEW && !single_read_new(frame, observation)) return false;
  single_call(protector, frame, recipient);
  return true;
}

static bool notify_of_path_cache(kvo_frame *frame, const kvo_path_observation *observation,
    const kvo_path_cache *cache) {
  kvo_frame *protector = protect_origin(frame, cache);
  if (!protector) return false;
  bool is_notified = notify_of_protected_path_cache(protector, frame, observation, cache);
  kvo_frame_pop(protector);
  return is_notified;
}

static bool single_notify(kvo_frame *frame, const kvo_path_observation *observation) {
  const kvo_path_cache *cache = path_cache_of(observation);
  if (cache) return notify_of_path_cache(frame, observation, cache);
  return observation->dependent_key ? notify_of_dependent_key(frame, observation)
                                    : notify_of_path(frame, observation);
}

static void generalize_locked(kvo_frame *frame) {
  const kvo_path_node *node =
      (kvo_path_node *)kvo_observers_registration(frame->observer_slot.observers);
  uint32_t flags = frame->flags;
  frame->flags &= ~(uint32_t)KVO_FRAME_SINGLE_RECIPIENT;
  kvo_general_delivery_resume_locked(frame, node->observation, frame->recipient);
  if (!(frame->flags & KVO_FRAME_GENERAL_DELIVERY)) frame->flags = flags; // out of memory
}

void kvo_single_recipient_generalize_slow(void) {
  kvo_frame *mutation = NULL, *frame;
  KVO_LOCKED(&kvo_graph_lock);
  while ((frame = kvo_in_place_next_change_locked(&mutation)))
    if (frame->flags & KVO_FRAME_SINGLE_RECIPIENT) generalize_locked(frame);
}

bool kvo_single_recipient_finish(kvo_frame *frame, kvo_observers observers) {
  const kvo_path_observation *observation =
      ((kvo_path_node *)kvo_observers_registration(frame->observer_slot.observers))->observation;
  frame->flags &= ~(uint32_t)KVO_FRAME_SINGLE_RECIPIENT;
  bool is_same = single_is_alone(frame, 0) && observers == frame->observer_slot.observers &&
                 node_of(observers) != NULL;
  if (is_same && single_notify(frame, observation)) return true;
  kvo_frame_forget_new(frame);
  uint64_t shortages = kvo_shortages;
  kvo_general_delivery_resume(frame, observation, frame->recipient);
  kvo_change_report_shortage(frame, shortages);
  return false;
}
