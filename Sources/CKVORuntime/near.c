// Changes that reach one recipient: mostly the last key of a path, or a key that another one of the same
// object is derived from, has one observer there and nothing else stands at it.
//
// Then nobody has to be gathered (audience.c): the only entry in the key's cell is a link that leads on
// to nothing, and from it the recipient is found without a lock, at the will as at the did. If it is the
// same, it was there in time. Whatever else is found is left to the long way (reach.c), which is handed
// what has been found out at will.
//
// What is read on the way may be unlinked by another thread meanwhile:
//
// | what | why it stays |
// |---|---|
// | the link and its chain | the changed object is guarded by the change's frame from will on |
// | the chain's root | its memory: the chain holds that |
// | a path's registration | it stands at the root, which a frame of its own guards before `first` is read |
// | a derived key's registration | it stands at the changed object |
//
// A path's registration is its chain's first link as long as it lives, and a chain never has another one.
// That of a derived key can't be freed and made anew at the same place while its object is guarded.
#include "kvo_near.h"

#include "kvo_log.h"
#include "kvo_memory.h"

// MARK: Finding

// The link that stands at the key alone and leads no further; NULL if there is another one, or more.
static kvo_link *link_of(kvo_observers observers) {
  if (!observers || kvo_observers_is_list(observers)) return NULL;
  kvo_link *link = kvo_link_of(kvo_observers_single(observers));
  bool is_near = link && link->is_leaf && !link->chain->is_tracked;
  return is_near && kvo_registration_state(&link->entry) == KVO_LIVE ? link : NULL;
}

static bool is_plain(const kvo_registration *registration) {
  return !(registration->options & ~(uint32_t)(KVO_PLAIN_OPTIONS | KVO_LINKED)) &&
         kvo_registration_state(registration) == KVO_LIVE;
}

// Of a path whose root is guarded.
static kvo_registration *recipient_of_path(const kvo_chain *chain) {
  kvo_link *first = __atomic_load_n(&chain->first, __ATOMIC_SEQ_CST);
  return first && is_plain(&first->entry) ? &first->entry : NULL;
}

static kvo_observers observers_of_derived(kvo_object *object, const kvo_chain *chain) {
  return kvo_object_observers(object, chain->accessors->id);
}

// The derivation hangs at a list, be it of one.
static kvo_registration *one_of(kvo_observers observers) {
  if (!kvo_observers_is_list(observers)) return kvo_observers_single(observers);
  kvo_list *list = kvo_observers_list(observers);
  bool is_one = __atomic_load_n(&list->count, __ATOMIC_SEQ_CST) == 1;
  return is_one ? __atomic_load_n(&list->items[0], __ATOMIC_SEQ_CST) : NULL;
}

// Of a derived key of a guarded object.
static kvo_registration *recipient_of_derived(kvo_object *object, const kvo_chain *chain) {
  kvo_observers observers = observers_of_derived(object, chain);
  if (!observers || kvo_observers_reading(observers) & KVO_READING_MARKS) return NULL;
  kvo_registration *registration = one_of(observers);
  bool is_users = registration && !(registration->options & KVO_LINKED);
  return is_users && is_plain(registration) ? registration : NULL;
}

// A change of this thread's alone, while it reads nothing: else what it is made for may have to be left
// out of the audience.
static bool is_alone(const kvo_frame *frame, uint32_t open_count) {
  const kvo_thread *thread = frame->thread;
  return thread == kvo_this_thread && thread->open_count == open_count && !thread->reading_count &&
         !kvo_log_flags;
}

// MARK: Holding

// Guards a path's root, and keeps it alive, but for the changed object. NULL if it is dying, or memory is
// out.
static kvo_frame *visit(const kvo_frame *frame, const kvo_chain *chain) {
  kvo_frame *guard = kvo_frame_push(frame->thread, chain->root);
  if (!guard || chain->root == frame->object) return guard;
  if (chain->operations->try_retain(chain->root)) {
    guard->flags |= KVO_FRAME_RETAINED;
    return guard;
  }
  kvo_frame_pop(guard);
  return NULL;
}

// MARK: Reading

static bool read_path(const kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  kvo_frame *guard = visit(frame, chain);
  if (!guard) return false;
  kvo_frame_reads(guard, (uintptr_t)chain);
  bool is_read = kvo_change_read_path(chain->root, chain, value);
  kvo_frame_pop(guard);
  return is_read;
}

static bool read_derived(const kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  kvo_observers observers = observers_of_derived(frame->object, chain);
  kvo_frame *guard = observers ? kvo_frame_push(frame->thread, frame->object) : NULL;
  if (!guard) return false;
  kvo_frame_reads(guard, chain->accessors->id);
  const kvo_accessors *accessors = kvo_accessors_current(kvo_observers_accessors(observers));
  bool is_read = kvo_change_read(accessors, frame->object, value);
  kvo_frame_pop(guard);
  return is_read;
}

static bool read(const kvo_frame *frame, const kvo_chain *chain, kvo_value *value) {
  return chain->derivation ? read_derived(frame, chain, value) : read_path(frame, chain, value);
}

// MARK: Will

// Who is to be told, and what he asks for. None: the long way.
typedef struct {
  kvo_registration *recipient;
  uint32_t options;
} finding;

static finding found(kvo_registration *recipient) {
  return (finding){recipient, recipient ? recipient->options : 0};
}

static finding find(const kvo_frame *frame, const kvo_chain *chain) {
  if (chain->derivation)
    return found(chain->root == frame->object ? recipient_of_derived(frame->object, chain) : NULL);
  kvo_frame *guard = kvo_frame_push(frame->thread, chain->root);
  if (!guard) return found(NULL);
  finding finding = found(recipient_of_path(chain));
  kvo_frame_pop(guard);
  return finding;
}

bool kvo_near_begin(kvo_frame *frame, kvo_observers observers) {
  kvo_link *link = link_of(observers);
  if (!link || kvo_observers_are_tracked(observers) || !is_alone(frame, 1)) return false;
  if (frame->state != KVO_FRAME_OPEN) return false; // a bracket, which is not counted
  finding finding = find(frame, link->chain);
  if (!finding.recipient) return false;
  bool wants_old = finding.options & KVO_OLD;
  if (wants_old && !read(frame, link->chain, &frame->old_value)) return false;
  if (wants_old) frame->flags |= KVO_FRAME_HAS_OLD;
  frame->flags |= KVO_FRAME_NEAR;
  frame->place.observers = observers;
  frame->recipient = finding.recipient;
  return true;
}

// MARK: Did

// Who comes while new is read is not told, nor who goes, as on the long way.
static void call(kvo_frame *guard, const kvo_frame *frame, kvo_registration *recipient) {
  if (!kvo_handle_is_valid(recipient)) return;
  uint32_t options = recipient->options;
  const kvo_change change = {.kind = KVO_SETTING,
      .old_value = options & KVO_OLD ? &frame->old_value : NULL,
      .new_value = options & KVO_NEW ? &frame->new_value : NULL};
  uint64_t shortages = kvo_shortages;
  kvo_change_call(guard, recipient, &change);
  kvo_shortages = shortages; // what the observer had no memory for is not this change's
}

// Whether it is the one that was found at will, and the only one still.
static bool is_there(const kvo_frame *frame, const kvo_registration *found) {
  return found && found == frame->recipient &&
         kvo_object_observers(frame->object, frame->id) == frame->place.observers &&
         kvo_handle_is_valid(found);
}

static bool read_new(kvo_frame *frame, const kvo_chain *chain) {
  if (!read(frame, chain, &frame->new_value)) return false;
  frame->flags |= KVO_FRAME_HAS_NEW;
  return true;
}

// While the root is guarded, the recipient stays, though it may end.
static bool tell_by_path(kvo_frame *guard, kvo_frame *frame, const kvo_chain *chain) {
  kvo_registration *recipient = recipient_of_path(chain);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !read_new(frame, chain)) return false;
  call(guard, frame, recipient);
  return true;
}

static bool tell_of_path(kvo_frame *frame, const kvo_chain *chain) {
  kvo_frame *guard = visit(frame, chain);
  if (!guard) return false;
  bool is_told = tell_by_path(guard, frame, chain);
  kvo_frame_pop(guard);
  return is_told;
}

static bool tell_of_derived(kvo_frame *frame, const kvo_chain *chain) {
  kvo_registration *recipient = recipient_of_derived(frame->object, chain);
  if (!is_there(frame, recipient)) return false;
  if (recipient->options & KVO_NEW && !read_new(frame, chain)) return false;
  call(frame, frame, recipient);
  return true;
}

static void forget_new(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_HAS_NEW) kvo_value_destroy(&frame->new_value);
  frame->flags &= (uint16_t)~KVO_FRAME_HAS_NEW;
}

bool kvo_near_finish(kvo_frame *frame, kvo_observers observers) {
  const kvo_chain *chain = ((kvo_link *)kvo_observers_single(frame->place.observers))->chain;
  frame->flags &= (uint16_t)~KVO_FRAME_NEAR;
  bool is_same =
      is_alone(frame, 0) && observers == frame->place.observers && link_of(observers) != NULL;
  bool is_told =
      is_same && (chain->derivation ? tell_of_derived(frame, chain) : tell_of_path(frame, chain));
  if (is_told) return true;
  forget_new(frame);
  kvo_reach_resume(frame, chain, frame->recipient);
  return false;
}
