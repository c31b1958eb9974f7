// The general delivery: the life of a change that reaches more than the observers of one key (F2, G1, H1).
//
// In the will phase the recipients are found and old values are read. In the did phase, nodes that lead on and
// tracked keys are followed again, the recipients are found again, and new values are read. The recipients that were
// found both times are notified, in the order of the second search.
//
// The sets of recipients retain registrations, not objects. While an object is read or called, a frame holds it and
// protects it, so that `ended` waits for the call.
//
// A recipient is late if another thread made its registration during the change, or another change led it here by a
// node. It is notified as in change.c: by a setting, with the current value as both old and new if the old value was
// not read.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "tables/kvo_distinct.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

// MARK: Memory

static kvo_general_delivery *general_delivery_make(void) {
  kvo_general_delivery *delivery = kvo_alloc(sizeof *delivery);
  if (!delivery) return NULL;
  delivery->references = 1;
  delivery->has_before = delivery->ran_out_of_memory = false;
  delivery->notifies_for_others = false;
  delivery->newer = NULL;
  delivery->slot = NULL;
  delivery->task = NULL;
  delivery->is_listed = false;
  memset(&delivery->first, 0, offsetof(kvo_changed_key, old_value));
  delivery->first.mutation.kind = KVO_SETTING;
  delivery->is_batch = false;
  delivery->nodes = (kvo_path_nodes){0};
  kvo_recipients_init(&delivery->before);
  kvo_recipients_init(&delivery->after);
  return delivery;
}

kvo_general_delivery *kvo_general_delivery_retain(kvo_general_delivery *delivery) {
  __atomic_fetch_add(&delivery->references, 1, __ATOMIC_RELAXED);
  return delivery;
}

static void destroy_old_value(kvo_changed_key *changed_key) {
  bool has_old = changed_key->has_old;
  changed_key->has_old = false;
  if (has_old) kvo_value_destroy(&changed_key->old_value);
}

static void destroy_changed_keys(kvo_general_delivery *delivery) {
  kvo_delta_end(delivery->first.delta);
  delivery->first.delta = NULL;
  kvo_mutation_destroy(&delivery->first.mutation);
  destroy_old_value(&delivery->first);
  for (kvo_changed_key *changed_key; (changed_key = delivery->first.next);) {
    kvo_mutation_destroy(&changed_key->mutation);
    destroy_old_value(changed_key);
    delivery->first.next = changed_key->next;
    kvo_free(changed_key);
  }
}

bool kvo_general_delivery_drop(kvo_general_delivery *delivery) {
  if (__atomic_sub_fetch(&delivery->references, 1, __ATOMIC_ACQ_REL)) return false;
  if (delivery->is_listed) kvo_open_path_changes_leave(delivery);
  return true;
}

// An object that dies with a value may throw. Then this is called again, and continues with what is left.
void kvo_general_delivery_destroy(kvo_general_delivery *delivery) {
  kvo_recipients_destroy(&delivery->before);
  if (delivery->newer) kvo_recipients_destroy(delivery->newer);
  kvo_free(delivery->newer);
  delivery->newer = NULL;
  kvo_recipients_destroy(&delivery->after);
  kvo_path_nodes_destroy(&delivery->nodes);
  destroy_changed_keys(delivery);
  kvo_free(delivery);
}

static void continue_destroying(void *delivery) { kvo_general_delivery_destroy(delivery); }

void kvo_general_delivery_release(kvo_general_delivery *delivery) {
  if (kvo_general_delivery_drop(delivery)) kvo_until_done(continue_destroying, delivery);
}

static void give_to_frame(kvo_frame *frame, kvo_general_delivery *delivery) {
  frame->general_delivery = delivery;
  frame->flags |= KVO_FRAME_GENERAL_DELIVERY;
}

// MARK: Protecting objects

// A recipient's object may die at any time. It is read and called only under a frame (*protector*) that publishes a
// hazard pointer for it and keeps it alive.

static kvo_frame *protect_object(const kvo_frame *frame, kvo_object *object,
    const kvo_class_operations *operations) {
  kvo_thread *thread = kvo_thread_current();
  return thread ? kvo_change_protect(frame, thread, object, operations) : NULL;
}

// MARK: Reading

// The mutation whose elements the member is notified of. Call only if `is_detailed`.
static const kvo_mutation_record *general_delivery_mutation_of(const kvo_recipients *recipients,
    const kvo_pending_notification *pending) {
  return &recipients->dirty_keys[pending->dirty_key].changed_key->mutation;
}

static bool is_detailed(const kvo_recipients *recipients, const kvo_pending_notification *pending) {
  const kvo_changed_key *changed_key = recipients->dirty_keys[pending->dirty_key].changed_key;
  return !pending->is_whole && changed_key && changed_key->mutation.kind != KVO_SETTING;
}

static const kvo_path_observation *observation_of(const kvo_pending_notification *pending) {
  kvo_path_node *node = kvo_path_node_of(pending->registration);
  return node ? node->observation : NULL;
}

static void read_dirty_key(const kvo_frame *frame, kvo_dirty_key *dirty) {
  kvo_frame *protector = protect_object(frame, dirty->object, dirty->operations);
  if (!protector) return;
  kvo_frame_reads(protector, dirty->id);
  const kvo_accessors *accessors = kvo_change_accessors(dirty->object, dirty->id);
  dirty->is_read = accessors && kvo_change_read(accessors, dirty->object, &dirty->value);
  kvo_frame_pop(protector);
}

// Copies the value that a tracked key had when it was read for this change, once for all of its recipients. False if
// the key must be read again: a ticket for distinct changes was taken after that reading.
static bool copy_result(const kvo_frame *frame, const kvo_general_delivery *delivery,
    uint32_t index, kvo_value *value) {
  if (index == KVO_NO_INDEX || frame->flags & KVO_FRAME_HAS_TICKET) return false;
  if (kvo_value_copy(value, &delivery->nodes.tracked[index].result.value)) return false;
  return kvo_value_snapshot(value) == KVO_OK;
}

static void read_tracked(const kvo_frame *frame, kvo_pending_notification *pending) {
  const kvo_dependent_key *path = pending->path;
  kvo_frame *protector = protect_object(frame, path->object, path->operations);
  if (!protector) return;
  kvo_frame_reads(protector, path->accessors->id);
  pending->is_read =
      kvo_change_read(kvo_accessors_current(path->accessors), path->object, &pending->value);
  kvo_frame_pop(protector);
}

static void general_delivery_read_path(const kvo_frame *frame,
    const kvo_path_observation *observation, kvo_pending_notification *pending) {
  kvo_frame *protector = protect_object(frame, observation->root, observation->operations);
  if (!protector) return;
  kvo_frame_reads(protector, (uintptr_t)observation);
  pending->is_read = kvo_change_read_path(observation->root, observation, &pending->value);
  kvo_frame_pop(protector);
}

static void read_path_key(const kvo_frame *frame, const kvo_general_delivery *delivery,
    kvo_pending_notification *pending) {
  pending->is_read = copy_result(frame, delivery, pending->tracked, &pending->value);
  if (!pending->is_read) read_tracked(frame, pending);
}

static void general_delivery_read_key(const kvo_frame *frame, const kvo_general_delivery *delivery,
    kvo_dirty_key *dirty) {
  dirty->is_read = copy_result(frame, delivery, dirty->tracked, &dirty->value);
  if (!dirty->is_read) read_dirty_key(frame, dirty);
}

// The entry of the same member in `before`, or NULL if the member was not found before the change.
static const kvo_pending_notification *pending_before(const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  uint32_t index = pending->index_before;
  return index == KVO_NO_INDEX ? NULL : &delivery->before.pending[index];
}

static bool is_owed(const kvo_general_delivery *delivery, const kvo_pending_notification *pending) {
  if (KVO_LIKELY(!delivery->notifies_for_others)) return false;
  const kvo_pending_notification *before = pending_before(delivery, pending);
  return before && before->is_owed;
}

// Whether a change that was cancelled notifies this member, because other changes have left the member to it.
static bool is_notified_despite_cancel(const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  const kvo_pending_notification *before = pending_before(delivery, pending);
  return before && (before->is_owed || before->stands_for_others);
}

static void read_member(const kvo_frame *frame, const kvo_general_delivery *delivery,
    kvo_recipients *recipients, kvo_pending_notification *pending) {
  const kvo_path_observation *observation = observation_of(pending);
  if (observation) general_delivery_read_path(frame, observation, pending);
  else if (pending->path) read_path_key(frame, delivery, pending);
  else if (!recipients->dirty_keys[pending->dirty_key].is_read)
    general_delivery_read_key(frame, delivery, &recipients->dirty_keys[pending->dirty_key]);
}

// Reads what the members ask for. With `also_detailed`, members that get the elements of a mutation have whole values
// read as well, because a further change of the batch may turn the mutation into a setting.
static void general_delivery_read_all(const kvo_frame *frame, const kvo_general_delivery *delivery,
    kvo_recipients *recipients, uint32_t start, uint32_t wanted, bool also_detailed) {
  for (uint32_t i = start; i < recipients->pending_count; i++) {
    kvo_pending_notification *pending = &recipients->pending[i];
    bool needs_old = pending->lacks_old || is_owed(delivery, pending);
    uint32_t needed = wanted | (needs_old ? KVO_OLD : 0);
    if (pending->is_behind || !(pending->registration->options & needed)) continue;
    if (also_detailed || !is_detailed(recipients, pending))
      read_member(frame, delivery, recipients, pending);
  }
}

static uint32_t options_of_detailed(const kvo_recipients *recipients,
    const kvo_changed_key *changed_key) {
  uint32_t options = 0;
  for (uint32_t i = 0; i < recipients->pending_count; i++) {
    const kvo_pending_notification *pending = &recipients->pending[i];
    bool is_of_changed_key = recipients->dirty_keys[pending->dirty_key].changed_key == changed_key;
    if (is_of_changed_key && is_detailed(recipients, pending))
      options |= pending->registration->options;
  }
  return options;
}

// Whether a member that was to be notified of elements gets the key's whole values after all. At the end of a path, it
// gets those of the path's last key.
static bool became_setting(const kvo_recipients *recipients,
    const kvo_pending_notification *pending) {
  const kvo_changed_key *changed_key = recipients->dirty_keys[pending->dirty_key].changed_key;
  return !pending->is_whole && changed_key && changed_key->mutation.became_setting;
}

// The value that was read for a member, or NULL.
static const kvo_value *value_of(const kvo_recipients *recipients,
    const kvo_pending_notification *pending) {
  if (pending->is_read) return &pending->value;
  if (pending->path) return NULL;
  if (observation_of(pending) && !became_setting(recipients, pending)) return NULL;
  const kvo_dirty_key *dirty = &recipients->dirty_keys[pending->dirty_key];
  return dirty->is_read ? &dirty->value : NULL;
}

// MARK: Calling

static const kvo_class_operations *general_delivery_operations_of(const kvo_recipients *recipients,
    const kvo_pending_notification *pending) {
  const kvo_path_observation *observation = observation_of(pending);
  if (observation) return observation->operations;
  return pending->path ? pending->path->operations
                       : recipients->dirty_keys[pending->dirty_key].operations;
}

// A frame that protects and holds the object of a member that is live, or NULL.
static kvo_frame *protect_member(const kvo_frame *frame, const kvo_recipients *recipients,
    const kvo_pending_notification *pending) {
  kvo_registration *registration = pending->registration;
  if (kvo_registration_state(registration) != KVO_LIVE) return NULL;
  kvo_frame *protector = protect_object(frame, registration->object,
      general_delivery_operations_of(recipients, pending));
  if (!protector || kvo_registration_state(registration) == KVO_LIVE) return protector;
  kvo_frame_pop(protector);
  return NULL;
}

static bool is_distinct(const kvo_pending_notification *pending) {
  return pending->registration->options & KVO_DISTINCT;
}

// Whether the change is to be delivered to a member whose object is protected.
static bool general_delivery_is_admitted(const kvo_frame *frame,
    const kvo_general_delivery *delivery, const kvo_pending_notification *pending) {
  if (KVO_LIKELY(!is_distinct(pending))) return true;
  bool is_whole = !is_detailed(&delivery->after, pending);
  const kvo_value *new = is_whole ? value_of(&delivery->after, pending) : NULL;
  return kvo_distinct_admits(pending->registration, frame->ticket, new) &&
         kvo_registration_state(pending->registration) == KVO_LIVE;
}

static void general_delivery_call(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending, const kvo_change *change) {
  bool is_prior = change->is_prior;
  kvo_frame *protector =
      protect_member(frame, is_prior ? &delivery->before : &delivery->after, pending);
  if (!protector) return;
  uint64_t shortages = kvo_shortages;
  if (is_prior || general_delivery_is_admitted(frame, delivery, pending))
    kvo_change_call(protector, pending->registration, change);
  kvo_shortages = shortages; // a shortage inside the observer is not this change's
  kvo_frame_pop(protector);
}

static kvo_change describe_prior(const kvo_mutation_record *mutation, uint32_t options) {
  bool old = options & KVO_OLD && mutation->has_predicted;
  return (kvo_change){.kind = mutation->kind,
      .is_prior = true,
      .old_value = old ? &mutation->predicted : NULL,
      .indexes = mutation->indexes};
}

static kvo_change general_delivery_describe(const kvo_mutation_record *mutation, uint32_t options) {
  bool old = options & KVO_OLD && mutation->has_old;
  bool new = options & KVO_NEW && mutation->has_new;
  return (kvo_change){.kind = mutation->kind,
      .old_value = old ? &mutation->old_value : NULL,
      .new_value = new ? &mutation->new_value : NULL,
      .indexes = mutation->indexes};
}

static void call_prior(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  uint32_t options = pending->registration->options;
  if (!(options & KVO_PRIOR) || pending->is_behind) return;
  const kvo_value *old = options & KVO_OLD ? value_of(&delivery->before, pending) : NULL;
  kvo_change change = {.kind = KVO_SETTING, .is_prior = true, .old_value = old};
  if (is_detailed(&delivery->before, pending))
    change = describe_prior(general_delivery_mutation_of(&delivery->before, pending), options);
  general_delivery_call(frame, delivery, pending, &change);
}

// If only plain observers existed before the change, no recipients were recorded. They are the changed key's
// observers with a smaller serial number, and the frame holds their old value, or in a batch the changed key.
static bool was_plain(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  if (observation_of(pending) || pending->path) return false;
  if (!delivery->is_batch)
    return !delivery->has_before && pending->dirty_key == 0 && pending->serial <= frame->serial;
  const kvo_changed_key *changed_key = delivery->after.dirty_keys[pending->dirty_key].changed_key;
  return changed_key && changed_key->was_plain && pending->serial <= changed_key->serial;
}

static const kvo_value *old_value_if_plain(const kvo_frame *frame,
    const kvo_general_delivery *delivery, const kvo_pending_notification *pending) {
  if (!was_plain(frame, delivery, pending)) return NULL;
  if (!delivery->is_batch) return frame->flags & KVO_FRAME_HAS_OLD ? &frame->old_value : NULL;
  const kvo_changed_key *changed_key = delivery->after.dirty_keys[pending->dirty_key].changed_key;
  return changed_key->has_old ? &changed_key->old_value : NULL;
}

// Whether a member that was added during the change was not added by this thread's own registration, but by another
// thread, or by a change that led a path here. It may have read the old value already, so it is notified (I3). One that
// this thread has registered waits for the next change (D7).
static bool was_added_elsewhere(const kvo_pending_notification *pending) {
  return pending->is_led || pending->thread != kvo_thread_number();
}

// Whether this change had left the member to another one when it began, or has come to reach it since. In both cases
// this change has neither read nor called anything for it so far.
static bool was_behind(const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  const kvo_pending_notification *before = pending_before(delivery, pending);
  return before && before->is_behind;
}

// Whether the member was there when the change began, and this change was to notify it.
static bool was_recipient(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  const kvo_pending_notification *before = pending_before(delivery, pending);
  return before ? !before->is_behind : was_plain(frame, delivery, pending);
}

static const kvo_value *old_value(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  const kvo_pending_notification *before = pending_before(delivery, pending);
  if (before) return value_of(&delivery->before, before);
  return old_value_if_plain(frame, delivery, pending);
}

// Whether the member lacks elements that it asks for: no observer asked for them before the change, or memory ran
// out.
static bool lacks_details(const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  uint32_t options = pending->registration->options;
  if (!is_detailed(&delivery->after, pending)) return false;
  const kvo_mutation_record *mutation = general_delivery_mutation_of(&delivery->after, pending);
  if (options & KVO_OLD && mutation->kind != KVO_INSERTION && !mutation->has_predicted) return true;
  bool compares = mutation->set_mutation && !mutation->elements_are_given;
  return options & KVO_NEW && compares && !mutation->has_before;
}

// Decides who notifies a member that was a recipient before the change, and that the search after the change has left
// to another change. A prior call, if the member asked for one, has been made. So this change notifies it, unless the
// value is held by an in-place mutation: reading would stop the program. Then the other change gets the old value.
static void stay_or_leave(const kvo_frame *frame, const kvo_general_delivery *delivery,
    kvo_pending_notification *pending) {
  pending->is_behind = kvo_in_place_holds(pending->registration);
  if (pending->is_behind)
    kvo_recipients_hand_on(pending->registration, old_value(frame, delivery, pending), true);
}

// Sets whether a member is late, gets whole values, and lacks its old value. A recipient that is late, or lacks
// elements that it asked for, is notified of a setting.
static void decide_how_to_notify(const kvo_frame *frame, kvo_general_delivery *delivery,
    kvo_pending_notification *pending) {
  bool waits_for_next =
      !was_added_elsewhere(pending) && !pending->is_within && !was_behind(delivery, pending);
  bool was_recipient_before = was_recipient(frame, delivery, pending);
  if (was_recipient_before && pending->is_behind) stay_or_leave(frame, delivery, pending);
  pending->is_late = !was_recipient_before && !waits_for_next && !pending->is_behind;
  if (pending->is_late || lacks_details(delivery, pending)) pending->is_whole = true;
  bool is_whole = !is_detailed(&delivery->after, pending);
  bool wants_old = pending->registration->options & KVO_OLD && is_whole;
  pending->lacks_old = wants_old && (pending->is_late || !old_value(frame, delivery, pending));
}

// Whether there was no memory for a value that is asked for.
static bool lacks_value(const kvo_change *change, uint32_t options) {
  bool needs_old = options & KVO_OLD && change->kind != KVO_INSERTION;
  bool needs_new = options & KVO_NEW && change->kind != KVO_REMOVAL && !change->is_prior;
  return (needs_old && !change->old_value) || (needs_new && !change->new_value);
}

static void call_late(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  kvo_registration *registration = pending->registration;
  const kvo_value *new = value_of(&delivery->after, pending);
  if (!new && registration->options & (KVO_OLD | KVO_NEW)) return;
  kvo_frame *protector = protect_member(frame, &delivery->after, pending);
  if (!protector) return;
  uint64_t shortages = kvo_shortages;
  kvo_change_call_late(protector, registration, frame->ticket, NULL, new);
  kvo_shortages = shortages;
  kvo_frame_pop(protector);
}

static void call_final(const kvo_frame *frame, const kvo_general_delivery *delivery,
    const kvo_pending_notification *pending) {
  uint32_t options = pending->registration->options;
  if (frame->flags & KVO_FRAME_CANCELLED && !is_notified_despite_cancel(delivery, pending)) return;
  if (pending->is_late) {
    call_late(frame, delivery, pending);
    return;
  }
  if (!was_recipient(frame, delivery, pending) || pending->is_behind) return;
  const kvo_value *old = options & KVO_OLD ? old_value(frame, delivery, pending) : NULL;
  const kvo_value *new = value_of(&delivery->after, pending);
  // After a shortage the old value is missing because of that: then the call is left out, which has been reported.
  if (pending->lacks_old && !(frame->flags & KVO_FRAME_REPORTED)) old = new;
  kvo_change change = {
      .kind = KVO_SETTING, .old_value = old, .new_value = options & KVO_NEW ? new : NULL};
  if (is_detailed(&delivery->after, pending))
    change =
        general_delivery_describe(general_delivery_mutation_of(&delivery->after, pending), options);
  if (KVO_UNLIKELY(lacks_value(&change, options))) return;
  if (KVO_UNLIKELY(is_owed(delivery, pending)))
    kvo_recipients_hand_on(pending->registration, new, false);
  general_delivery_call(frame, delivery, pending, &change);
}

// MARK: Steps

static void begin_mutation(kvo_changed_key *changed_key, const kvo_mutation *mutation) {
  if (!mutation || kvo_mutation_begin(&changed_key->mutation, mutation)) return;
  // Out of memory: report a plain "setting" change instead of the detailed one.
  kvo_mutation_destroy(&changed_key->mutation);
  changed_key->mutation.kind = KVO_SETTING;
}

// Reads old values for the members of `before` that the changed key has added: those from `start` on.
static void read_before(const kvo_frame *frame, kvo_general_delivery *delivery,
    kvo_changed_key *changed_key, uint32_t start, bool also_detailed) {
  if (changed_key->mutation.kind != KVO_SETTING)
    kvo_mutation_read_before(&changed_key->mutation, frame->object, changed_key->id,
        options_of_detailed(&delivery->before, changed_key));
  general_delivery_read_all(frame, delivery, &delivery->before, start, KVO_OLD, also_detailed);
}

void kvo_change_expect_joins(kvo_frame *frame, uint32_t joins) {
  kvo_changed_key *changed_key = kvo_change_own_key(frame);
  if (changed_key) changed_key->expected_joins = joins;
}

// Begins the delta by which nodes at the key are followed.
static void begin_delta(const kvo_frame *frame, const kvo_changed_key *changed_key) {
  kvo_named_elements named;
  if (changed_key->delta && kvo_mutation_name_elements(&changed_key->mutation, &named))
    kvo_delta_begin(changed_key->delta, frame->object, &named);
}

kvo_general_delivery *kvo_general_delivery_make(kvo_frame *frame) {
  kvo_general_delivery *delivery = general_delivery_make();
  if (!delivery) return NULL;
  if (frame->flags & KVO_FRAME_IN_PLACE) delivery->task = frame->task;
  give_to_frame(frame, delivery);
  return delivery;
}

bool kvo_general_delivery_begin(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_frame_hold(frame);
  __atomic_store_n(&frame->joins, 0, __ATOMIC_RELAXED);
  kvo_general_delivery *delivery = kvo_general_delivery_make(frame);
  if (!delivery) return false;
  kvo_changed_key *changed_key = &delivery->first;
  changed_key->id = frame->id;
  begin_mutation(changed_key, mutation);
  kvo_single_recipient_generalize_mutations();
  delivery->has_before = kvo_recipients_find_before(delivery, frame->object, changed_key);
  if (delivery->has_before) read_before(frame, delivery, changed_key, 0, false);
  if (delivery->has_before) begin_delta(frame, changed_key);
  return delivery->has_before;
}

void kvo_general_delivery_resume_locked(kvo_frame *frame, const kvo_path_observation *observation,
    kvo_registration *recipient) {
  kvo_general_delivery *delivery = kvo_general_delivery_make(frame);
  if (!delivery) return;
  delivery->first.id = frame->id;
  delivery->has_before =
      kvo_recipients_init_with_locked(&delivery->before, frame, observation, recipient);
}

void kvo_general_delivery_resume(kvo_frame *frame, const kvo_path_observation *observation,
    kvo_registration *recipient) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_general_delivery_resume_locked(frame, observation, recipient);
}

static bool has_prior(const kvo_recipients *recipients, uint32_t start) {
  for (uint32_t i = start; i < recipients->pending_count; i++)
    if (recipients->pending[i].registration->options & KVO_PRIOR) return true;
  return false;
}

static void call_priors(kvo_frame *frame, kvo_general_delivery *delivery, uint32_t start) {
  const kvo_frame *outer = kvo_thread_begin_priors(frame);
  frame->is_in_priors = true;
  for (uint32_t i = start; i < delivery->before.pending_count; i++)
    call_prior(frame, delivery, &delivery->before.pending[i]);
  frame->is_in_priors = false;
  kvo_thread_end_priors(frame, outer);
}

typedef struct {
  kvo_frame *frame;
  void *recorder;
} join;

// Reads the old values of the members that were to get elements.
static void read_whole(void *opaque) {
  kvo_frame *frame = ((join *)opaque)->frame;
  kvo_general_delivery *delivery = frame->general_delivery;
  kvo_recipients *before = &delivery->before;
  uint64_t shortages = kvo_shortages;
  for (uint32_t i = 0; i < before->pending_count; i++) {
    kvo_pending_notification *pending = &before->pending[i];
    bool lacks_old = pending->registration->options & KVO_OLD && !pending->is_read;
    if (lacks_old && !pending->is_behind && is_detailed(before, pending))
      read_member(frame, delivery, before, pending);
  }
  kvo_change_report_shortage(frame, shortages);
  delivery->first.mutation.kind = KVO_SETTING;
  delivery->first.mutation.became_setting = delivery->first.mutation.has_final_old = true;
}

static void end_join(void *opaque) {
  const join *join = opaque;
  join->frame->is_in_priors = true;
  kvo_resume_recording(join->recorder);
}

// If prior observers are being called, one of them changes the elements itself: the change becomes a setting. Members
// get the old value, which is read, since nothing has been changed yet. A getter may change the key, too: that finds
// the frame out of its prior calls. It may also throw: then nothing is changed, and the next change begins anew.
static void general_delivery_note_join(kvo_frame *frame) {
  if (frame->general_delivery->first.mutation.kind == KVO_SETTING) return;
  join join = {frame, kvo_suspend_recording()};
  frame->is_in_priors = false;
  kvo_finally(read_whole, end_join, &join);
}

void kvo_change_note_join(const kvo_thread *thread, const kvo_object *object, uintptr_t id) {
  kvo_frame *frame = kvo_thread_find_open(thread, object, id);
  if (frame && frame->is_in_priors) general_delivery_note_join(frame);
  else if (frame && thread->batch_count) kvo_batch_note_join(thread, object, id);
}

void kvo_general_delivery_deliver_priors(kvo_frame *frame) {
  kvo_general_delivery *delivery = frame->general_delivery;
  if (has_prior(&delivery->before, 0)) call_priors(frame, delivery, 0);
}

// Reads the old value of, and calls, those members of earlier changed keys that another change was to notify until now:
// from this changed key a way leads to them that is not behind that change.
static void catch_up_with_due(const kvo_frame *frame, kvo_general_delivery *delivery,
    uint32_t start) {
  kvo_recipients *before = &delivery->before;
  if (KVO_LIKELY(!before->has_due)) return;
  for (uint32_t i = 0; i < start; i++) {
    kvo_pending_notification *pending = &before->pending[i];
    if (pending->is_due && pending->registration->options & KVO_OLD && !pending->is_read)
      read_member(frame, delivery, before, pending);
  }
  const kvo_frame *outer = kvo_thread_begin_priors(frame);
  for (uint32_t i = 0; i < start; i++) {
    kvo_pending_notification *pending = &before->pending[i];
    if (!pending->is_due) continue;
    pending->is_due = false; // the observer may throw
    call_prior(frame, delivery, pending);
  }
  kvo_thread_end_priors(frame, outer);
}

bool kvo_general_delivery_add(kvo_frame *frame, kvo_changed_key *changed_key,
    const kvo_mutation *mutation) {
  kvo_general_delivery *delivery = frame->general_delivery;
  kvo_recipients *before = &delivery->before;
  uint32_t dirty_key_count = before->dirty_key_count, start = before->pending_count;
  begin_mutation(changed_key, mutation);
  kvo_single_recipient_generalize_mutations();
  if (!kvo_recipients_find_before(delivery, frame->object, changed_key)) {
    kvo_recipients_shorten(before, dirty_key_count, start);
    return false;
  }
  delivery->has_before = true;
  catch_up_with_due(frame, delivery, start);
  read_before(frame, delivery, changed_key, start, true);
  if (has_prior(before, start)) call_priors(frame, delivery, start);
  return true;
}

static void find_after(kvo_frame *frame, kvo_general_delivery *delivery, bool is_again) {
  kvo_single_recipient_generalize_mutations();
  for (kvo_changed_key *changed_key = &delivery->first; changed_key;
      changed_key = changed_key->next)
    kvo_recipients_find_after(delivery, frame->object, changed_key, is_again);
}

// Follows a node by the elements that the change names. False, having done nothing, if they are not certain: changes
// that joined this one may have changed other elements, and the did call may have named other elements than the will
// call.
static bool follow_by_delta(const kvo_frame *frame, const kvo_changed_key *changed_key,
    kvo_path_node *node) {
  uint32_t joins = __atomic_load_n(&frame->joins, __ATOMIC_RELAXED);
  bool has_unexpected_joins = joins > changed_key->expected_joins;
  bool names_elements = changed_key->mutation.kind != KVO_SETTING;
  return changed_key->delta && !has_unexpected_joins && names_elements &&
         kvo_delta_follow(changed_key->delta, frame->object, node);
}

// The delta holds elements, which must not live until the observers have returned.
static void end_delta(kvo_changed_key *changed_key) {
  kvo_delta_end(changed_key->delta);
  changed_key->delta = NULL;
}

// Follows again the nodes that lead on, and the tracked keys, that the change affects. Returns false if there are
// none, or if all tracked keys are seen to lead to the same place as before.
static bool general_delivery_follow(const kvo_frame *frame, kvo_general_delivery *delivery) {
  kvo_path_nodes *nodes = &delivery->nodes;
  for (size_t i = 0; i < nodes->count; i++)
    if (!follow_by_delta(frame, &delivery->first, nodes->items[i]))
      kvo_path_node_follow(nodes->items[i]);
  end_delta(&delivery->first);
  bool any = nodes->count;
  for (size_t i = 0; i < nodes->tracked_count; i++) {
    kvo_tracked *tracked = &nodes->tracked[i];
    if (kvo_dependent_key_is_current(tracked->dependent_key)) continue;
    kvo_dependent_key_follow(tracked->dependent_key, &tracked->result);
    any = true;
  }
  return any;
}

static bool has_distinct(const kvo_recipients *recipients) {
  for (uint32_t i = 0; i < recipients->pending_count; i++)
    if (is_distinct(&recipients->pending[i])) return true;
  return false;
}

static void general_delivery_read_new(kvo_frame *frame, kvo_general_delivery *delivery) {
  if (has_distinct(&delivery->after)) kvo_change_take_ticket(frame);
  for (kvo_changed_key *changed_key = &delivery->first; changed_key;
      changed_key = changed_key->next)
    if (changed_key->mutation.kind != KVO_SETTING)
      kvo_mutation_read_after(&changed_key->mutation, frame->object, changed_key->id,
          options_of_detailed(&delivery->after, changed_key));
  general_delivery_read_all(frame, delivery, &delivery->after, 0, KVO_NEW | KVO_DISTINCT, false);
}

void kvo_general_delivery_finish(kvo_frame *frame) {
  kvo_frame_hold(frame);
  if (!(frame->flags & KVO_FRAME_GENERAL_DELIVERY)) {
    kvo_general_delivery *made = kvo_general_delivery_make(frame);
    if (!made) return;
    made->first.id = frame->id;
  }
  kvo_general_delivery *delivery = frame->general_delivery;
  uint64_t shortages = kvo_shortages;
  find_after(frame, delivery, false);
  if (general_delivery_follow(frame, delivery)) {
    kvo_recipients_destroy(&delivery->after);
    find_after(frame, delivery, true);
  }
  if (KVO_UNLIKELY(delivery->notifies_for_others)) kvo_recipients_add_owed(delivery);
  for (uint32_t i = 0; i < delivery->after.pending_count; i++)
    decide_how_to_notify(frame, delivery, &delivery->after.pending[i]);
  general_delivery_read_new(frame, delivery);
  delivery->ran_out_of_memory = kvo_shortages != shortages;
  for (uint32_t i = 0; i < delivery->after.pending_count; i++)
    call_final(frame, delivery, &delivery->after.pending[i]);
}
