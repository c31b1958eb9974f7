// Changes that reach exactly one recipient. This is the usual case for two kinds of keys: the last key of a path (by
// string, or of stored properties by Swift's key path), and a key from which another key of its object is derived.
//
// Then there is no need to gather recipients (recipients.c). The only entry in the key's cell is a link with no
// further key behind it. The recipient is found from that link without a lock, in the will phase and again in the did
// phase. If it is the same both times, it registered in time. All other changes go to the slow path (propagation.c),
// which gets what was found in the will phase.
//
// Another thread may unlink what is read on the way:
//
// | read | why it remains valid |
// |---|---|
// | the link and its chain | the change's frame protects the changed object from the will phase on |
// | the chain's root | the chain holds its memory |
// | a path's registration | it is attached to the root, which a frame of its own protects before `first` is read |
// | a derived key's registration | it is attached to the changed object |
// | a tracked path's route, and its origin's memory | the chain holds them |
// | a tracked path's registration | it is attached to the origin, which a frame of its own protects while it is looked at |
//
// Finding the same address twice means finding the same registration:
// * A path's registration is its chain's first link as long as it lives, and a chain never gets another one.
// * A derived key's registration can't be freed and reallocated while its object is protected.
// * A tracked path's registration can, but a newer one has a greater serial number.
//
// A tracked path is handled here only while its route is current (route.c). Then the path leads to the changed key,
// and reading it again would read the same properties.
#include "delivery/kvo_propagation.h"

#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "graph/kvo_route.h"

// MARK: Finding

static const kvo_route *route_of(const kvo_chain *chain) {
  return chain->is_tracked ? __atomic_load_n(&chain->route, __ATOMIC_ACQUIRE) : NULL;
}

// The link that is the key's only entry, with no further key behind it; NULL if the entry is something else, or there
// are several.
static kvo_link *link_of(kvo_observers observers) {
  if (!observers || kvo_observers_is_list(observers)) return NULL;
  kvo_link *link = kvo_link_of(kvo_observers_registration(observers));
  bool is_leaf = link && link->is_leaf && (!link->chain->is_tracked || route_of(link->chain));
  return is_leaf && kvo_registration_state(&link->entry) == KVO_LIVE ? link : NULL;
}

static bool is_plain(const kvo_registration *registration) {
  return !(registration->options & ~(uint32_t)(KVO_PLAIN_OPTIONS | KVO_LINKED)) &&
         kvo_registration_state(registration) == KVO_LIVE;
}

// The plain observer of a path whose root is protected, or NULL.
static kvo_registration *recipient_of_path(const kvo_chain *chain) {
  kvo_link *first = __atomic_load_n(&chain->first, __ATOMIC_SEQ_CST);
  return first && is_plain(&first->entry) ? &first->entry : NULL;
}

static kvo_observers observers_of_derived(kvo_object *object, const kvo_chain *chain) {
  return kvo_object_observers(object, chain->accessors->id);
}

// The key's only registration. A derivation is stored in a list, so a derived key has a list even for one observer.
static kvo_registration *one_of(kvo_observers observers) {
  if (kvo_observers_is_seat(observers)) return NULL;
  if (!kvo_observers_is_list(observers)) return kvo_observers_registration(observers);
  kvo_list *list = kvo_observers_list(observers);
  bool is_one = __atomic_load_n(&list->count, __ATOMIC_SEQ_CST) == 1;
  return is_one ? __atomic_load_n(&list->items[0], __ATOMIC_SEQ_CST) : NULL;
}

// The only observer of a derived key of a protected object, if it is plain.
static kvo_registration *recipient_of_derived(kvo_object *object, const kvo_chain *chain) {
  kvo_observers observers = observers_of_derived(object, chain);
  if (!observers || kvo_observers_reading(observers) & KVO_READING_MARKS) return NULL;
  kvo_registration *registration = one_of(observers);
  bool is_users = registration && !(registration->options & KVO_LINKED);
  return is_users && is_plain(registration) ? registration : NULL;
}

// The only observer of a tracked path whose origin is protected, if it is plain and was there before the change.
static kvo_registration *recipient_of_route(const kvo_frame *frame, const kvo_route *route) {
  kvo_observers observers = kvo_object_observers(route->steps[0].object, route->accessors->id);
  if (!observers || kvo_observers_are_manual(observers)) return NULL;
  kvo_registration *registration = one_of(observers);
  bool is_users = registration && !(registration->options & KVO_LINKED);
  bool is_ours = is_users && is_plain(registration);
  return is_ours && !kvo_registration_is_late(registration, frame) ? registration : NULL;
}

// Whether this thread has no other change open, not even one of a link by hand, and is reading no derived key: in these cases a
// recipient may have to be left out.
static bool is_alone(const kvo_frame *frame, uint32_t open_count) {
  const kvo_thread *thread = frame->thread;
  bool has_links = __atomic_load_n(&thread->open_links, __ATOMIC_RELAXED) != NULL;
  return thread == kvo_this_thread && thread->open_count == open_count && !thread->reading_count &&
         !has_links && !kvo_log_flags;
}

// MARK: Holding

// Protects and holds a path's root.
static kvo_frame *visit(const kvo_frame *frame, const kvo_chain *chain) {
  return kvo_change_visit(frame, frame->thread, chain->root, chain->operations);
}

static kvo_frame *visit_origin(const kvo_frame *frame, const kvo_route *route) {
  const kvo_step *origin = &route->steps[0];
  return kvo_change_visit(frame, frame->thread, origin->object, origin->operations);
}

// MARK: Reading

static bool read_path(const kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  kvo_frame *hazard = visit(frame, chain);
  if (!hazard) return false;
  kvo_frame_reads(hazard, (uintptr_t)chain);
  bool is_read = kvo_change_read_path(chain->root, chain, value);
  kvo_frame_pop(hazard);
  return is_read;
}

static bool read_derived(const kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  kvo_observers observers = observers_of_derived(frame->object, chain);
  kvo_frame *hazard = observers ? kvo_frame_push(frame->thread, frame->object) : NULL;
  if (!hazard) return false;
  kvo_frame_reads(hazard, chain->accessors->id);
  const kvo_accessors *accessors = kvo_accessors_current(kvo_observers_accessors(observers));
  bool is_read = kvo_change_read(accessors, frame->object, value);
  kvo_frame_pop(hazard);
  return is_read;
}

static bool read_route(const kvo_frame *frame, const kvo_route *route, kvo_value *value) {
  kvo_frame *hazard = visit_origin(frame, route);
  if (!hazard) return false;
  kvo_frame_reads(hazard, route->accessors->id);
  bool is_read =
      kvo_change_read(kvo_accessors_current(route->accessors), route->steps[0].object, value);
  kvo_frame_pop(hazard);
  return is_read;
}

// Reads the recipient's value. The changed object is held from now on, because the program's getter may drop it.
static bool read(kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  kvo_frame_hold(frame);
  const kvo_route *route = route_of(chain);
  if (route) return read_route(frame, route, value);
  return chain->derivation ? read_derived(frame, chain, value) : read_path(frame, chain, value);
}

// MARK: The will phase

// The recipient and its options. If `recipient` is NULL, the change takes the slow path.
typedef struct {
  kvo_registration *recipient;
  uint32_t options;
} finding;

static finding found(kvo_registration *recipient) {
  return (finding){recipient, recipient ? recipient->options : 0};
}

static finding find_by_route(const kvo_frame *frame, const kvo_route *route) {
  kvo_frame *hazard = visit_origin(frame, route);
  if (!hazard) return found(NULL);
  finding finding = found(kvo_route_is_current(route) ? recipient_of_route(frame, route) : NULL);
  kvo_frame_pop(hazard);
  return finding;
}

static finding find(const kvo_frame *frame, const kvo_chain *chain) {
  const kvo_route *route = route_of(chain);
  if (route) return find_by_route(frame, route);
  if (chain->derivation)
    return found(chain->root == frame->object ? recipient_of_derived(frame->object, chain) : NULL);
  kvo_frame *hazard = kvo_frame_push(frame->thread, chain->root);
  if (!hazard) return found(NULL);
  finding finding = found(recipient_of_path(chain));
  kvo_frame_pop(hazard);
  return finding;
}

bool kvo_single_recipient_begin(kvo_frame *frame, kvo_observers observers) {
  kvo_link *link = link_of(observers);
  if (!link || kvo_observers_are_tracked(observers) || !is_alone(frame, 1)) return false;
  if (frame->state != KVO_FRAME_OPEN) return false; // a bracket, which is not in open_count
  finding finding = find(frame, link->chain);
  if (!finding.recipient) return false;
  bool wants_old = finding.options & KVO_OLD;
  if (wants_old && !read(frame, link->chain, &frame->old_value)) return false;
  if (wants_old) frame->flags |= KVO_FRAME_HAS_OLD;
  frame->flags |= KVO_FRAME_SINGLE_RECIPIENT;
  frame->place.observers = observers;
  frame->recipient = finding.recipient;
  return true;
}

// MARK: The did phase

// Calls the recipient unless it has ended. As on the slow path, an observer added while the new value was read is not
// called.
static void call(kvo_frame *hazard, const kvo_frame *frame, kvo_registration *recipient) {
  if (kvo_registration_state(recipient) != KVO_LIVE) return;
  uint32_t options = recipient->options;
  const kvo_change change = {.kind = KVO_SETTING,
      .old_value = options & KVO_OLD ? &frame->old_value : NULL,
      .new_value = options & KVO_NEW ? &frame->new_value : NULL};
  uint64_t shortages = kvo_shortages;
  kvo_change_call(hazard, recipient, &change);
  kvo_shortages = shortages; // a shortage inside the observer is not this change's
}

// Whether it is the recipient found in the will phase, and still the only one.
static bool is_there(const kvo_frame *frame, const kvo_registration *found) {
  return found && found == frame->recipient &&
         kvo_object_observers(frame->object, frame->id) == frame->place.observers &&
         kvo_registration_state(found) == KVO_LIVE;
}

static bool read_new(kvo_frame *frame, const kvo_chain *chain) {
  if (!read(frame, chain, &frame->new_value)) return false;
  frame->flags |= KVO_FRAME_HAS_NEW;
  return true;
}

// While the root is protected, the recipient's memory stays, though the recipient may end.
static bool tell_by_path(kvo_frame *hazard, kvo_frame *frame, const kvo_chain *chain) {
  kvo_registration *recipient = recipient_of_path(chain);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !read_new(frame, chain)) return false;
  call(hazard, frame, recipient);
  return true;
}

static bool tell_of_path(kvo_frame *frame, const kvo_chain *chain) {
  kvo_frame *hazard = visit(frame, chain);
  if (!hazard) return false;
  bool is_told = tell_by_path(hazard, frame, chain);
  kvo_frame_pop(hazard);
  return is_told;
}

static bool tell_of_derived(kvo_frame *frame, const kvo_chain *chain) {
  kvo_registration *recipient = recipient_of_derived(frame->object, chain);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !read_new(frame, chain)) return false;
  call(frame, frame, recipient);
  return true;
}

// While the route is current, a reading of the path would read the same properties as before the change, apart from
// the changed key's value.
static bool tell_along(kvo_frame *hazard, kvo_frame *frame, const kvo_chain *chain,
    const kvo_route *route) {
  kvo_registration *recipient = recipient_of_route(frame, route);
  if (!is_there(frame, recipient) || !kvo_route_is_current(route)) return false;
  if (recipient->options & KVO_NEW && !read_new(frame, chain)) return false;
  call(hazard, frame, recipient);
  return true;
}

static bool tell_of_route(kvo_frame *frame, const kvo_chain *chain, const kvo_route *route) {
  kvo_frame *hazard = visit_origin(frame, route);
  if (!hazard) return false;
  bool is_told = tell_along(hazard, frame, chain, route);
  kvo_frame_pop(hazard);
  return is_told;
}

static bool tell(kvo_frame *frame, const kvo_chain *chain) {
  const kvo_route *route = route_of(chain);
  if (route) return tell_of_route(frame, chain, route);
  return chain->derivation ? tell_of_derived(frame, chain) : tell_of_path(frame, chain);
}

static void forget_new(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  frame->flags &= (uint16_t)~KVO_FRAME_HAS_NEW;
}

bool kvo_single_recipient_finish(kvo_frame *frame, kvo_observers observers) {
  const kvo_chain *chain = ((kvo_link *)kvo_observers_registration(frame->place.observers))->chain;
  frame->flags &= (uint16_t)~KVO_FRAME_SINGLE_RECIPIENT;
  bool is_same =
      is_alone(frame, 0) && observers == frame->place.observers && link_of(observers) != NULL;
  if (is_same && tell(frame, chain)) return true;
  forget_new(frame);
  kvo_propagation_resume(frame, chain, frame->recipient);
  return false;
}
