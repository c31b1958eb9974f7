// The general delivery (slow path): the life of a change that reaches more than the observers of one key (F2, G1,
// H1).
//
// In the will phase the recipients are found and old values are read. In the did phase, links that lead on and
// tracked keys are followed again, the recipients are found again, and new values are read. The recipients that were
// found both times are notified, in the order of the second search.
//
// The sets of recipients retain registrations, not objects. While an object is read or called, a frame holds it and
// protects it, so that `ended` waits for the call.
//
// A recipient is late if another thread made its registration during the change, or led it here by a link. It is
// notified as in change.c: by a setting, with the current value as both old and new if the old value was not read.
#include "delivery/kvo_propagation.h"

#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "tables/kvo_distinct.h"
#include "values/kvo_collection_internal.h"

// MARK: Memory

static kvo_propagation *make(void) {
  kvo_propagation *propagation = kvo_alloc(sizeof *propagation);
  if (!propagation) return NULL;
  propagation->references = 1;
  propagation->has_before = propagation->is_short = false;
  propagation->has_others = false;
  propagation->slot = NULL;
  propagation->first = (kvo_root){.mutation.kind = KVO_SETTING};
  propagation->batch = NULL;
  propagation->links = (kvo_links){0};
  kvo_recipients_init(&propagation->before);
  kvo_recipients_init(&propagation->after);
  return propagation;
}

kvo_propagation *kvo_propagation_retain(kvo_propagation *propagation) {
  __atomic_fetch_add(&propagation->references, 1, __ATOMIC_RELAXED);
  return propagation;
}

static void destroy_roots(kvo_propagation *propagation) {
  kvo_free(propagation->batch);
  kvo_delta_end(propagation->first.delta);
  kvo_mutation_destroy(&propagation->first.mutation);
  for (kvo_root *root = propagation->first.next, *next; root; root = next) {
    next = root->next;
    kvo_mutation_destroy(&root->mutation);
    kvo_free(root);
  }
}

void kvo_propagation_release(kvo_propagation *propagation) {
  if (__atomic_sub_fetch(&propagation->references, 1, __ATOMIC_ACQ_REL)) return;
  if (propagation->slot) kvo_open_links_leave(propagation);
  kvo_recipients_destroy(&propagation->before);
  kvo_recipients_destroy(&propagation->after);
  kvo_links_destroy(&propagation->links);
  destroy_roots(propagation);
  kvo_free(propagation);
}

static void put_into(kvo_frame *frame, kvo_propagation *propagation) {
  frame->propagation = propagation;
  frame->flags |= KVO_FRAME_PROPAGATES;
}

// MARK: Holding

static kvo_frame *visit(const kvo_frame *frame, kvo_object *object,
    const kvo_class_operations *operations) {
  kvo_thread *thread = kvo_thread_current();
  return thread ? kvo_change_visit(frame, thread, object, operations) : NULL;
}

// MARK: Reading

// The mutation whose elements the member is notified of. Call only if `is_detailed`.
static const kvo_mutation_record *mutation_of(const kvo_recipients *recipients,
    const kvo_member *member) {
  return &recipients->affected[member->affected].root->mutation;
}

static bool is_detailed(const kvo_recipients *recipients, const kvo_member *member) {
  const kvo_root *root = recipients->affected[member->affected].root;
  return !member->is_whole && root && root->mutation.kind != KVO_SETTING;
}

static const kvo_chain *chain_of(const kvo_member *member) {
  kvo_link *link = kvo_link_of(member->registration);
  return link ? link->chain : NULL;
}

static void read_affected(const kvo_frame *frame, kvo_affected *affected) {
  kvo_frame *hazard = visit(frame, affected->object, affected->operations);
  if (!hazard) return;
  kvo_frame_reads(hazard, affected->id);
  const kvo_accessors *accessors = kvo_change_accessors(affected->object, affected->id);
  affected->is_read = accessors && kvo_change_read(accessors, affected->object, &affected->value);
  kvo_frame_pop(hazard);
}

// Copies the value that a tracked key had when it was read for this change, once for all of its recipients. A ticket
// was taken later, so the key is read again.
static bool copy_answer(const kvo_frame *frame, const kvo_propagation *propagation, uint32_t place,
    kvo_value *value) {
  if (place == KVO_NO_PLACE || frame->flags & KVO_FRAME_HAS_TICKET) return false;
  if (kvo_value_copy(value, &propagation->links.tracked[place].answer.value)) return false;
  return kvo_value_snapshot(value) == KVO_OK;
}

static void read_tracked(const kvo_frame *frame, kvo_member *member) {
  const kvo_derivation *path = member->path;
  kvo_frame *hazard = visit(frame, path->object, path->operations);
  if (!hazard) return;
  kvo_frame_reads(hazard, path->accessors->id);
  member->is_read =
      kvo_change_read(kvo_accessors_current(path->accessors), path->object, &member->value);
  kvo_frame_pop(hazard);
}

static void read_path(const kvo_frame *frame, const kvo_chain *chain, kvo_member *member) {
  kvo_frame *hazard = visit(frame, chain->root, chain->operations);
  if (!hazard) return;
  kvo_frame_reads(hazard, (uintptr_t)chain);
  member->is_read = kvo_change_read_path(chain->root, chain, &member->value);
  kvo_frame_pop(hazard);
}

static void read_path_key(const kvo_frame *frame, const kvo_propagation *propagation,
    kvo_member *member) {
  member->is_read = copy_answer(frame, propagation, member->tracked, &member->value);
  if (!member->is_read) read_tracked(frame, member);
}

static void read_key(const kvo_frame *frame, const kvo_propagation *propagation,
    kvo_affected *affected) {
  affected->is_read = copy_answer(frame, propagation, affected->tracked, &affected->value);
  if (!affected->is_read) read_affected(frame, affected);
}

// Reads what the members ask for. With `also_detailed`, members that get the elements of a mutation have whole values
// read as well, because a further change of the batch may turn the mutation into a setting.
static void read_all(const kvo_frame *frame, const kvo_propagation *propagation,
    kvo_recipients *recipients, uint32_t start, uint32_t wanted, bool also_detailed) {
  for (uint32_t i = start; i < recipients->member_count; i++) {
    kvo_member *member = &recipients->members[i];
    const kvo_chain *chain = chain_of(member);
    uint32_t needed = wanted | (member->lacks_old ? KVO_OLD : 0);
    if (member->is_behind || !(member->registration->options & needed)) continue;
    if (!also_detailed && is_detailed(recipients, member)) continue;
    if (chain) read_path(frame, chain, member);
    else if (member->path) read_path_key(frame, propagation, member);
    else if (!recipients->affected[member->affected].is_read)
      read_key(frame, propagation, &recipients->affected[member->affected]);
  }
}

static uint32_t options_of_detailed(const kvo_recipients *recipients, const kvo_root *root) {
  uint32_t options = 0;
  for (uint32_t i = 0; i < recipients->member_count; i++) {
    const kvo_member *member = &recipients->members[i];
    bool is_of_root = recipients->affected[member->affected].root == root;
    if (is_of_root && is_detailed(recipients, member)) options |= member->registration->options;
  }
  return options;
}

// The value that was read for a member, or NULL.
static const kvo_value *value_of(const kvo_recipients *recipients, const kvo_member *member) {
  if (chain_of(member) || member->path) return member->is_read ? &member->value : NULL;
  const kvo_affected *affected = &recipients->affected[member->affected];
  return affected->is_read ? &affected->value : NULL;
}

// MARK: Calling

static const kvo_class_operations *operations_of(const kvo_recipients *recipients,
    const kvo_member *member) {
  const kvo_chain *chain = chain_of(member);
  if (chain) return chain->operations;
  return member->path ? member->path->operations
                      : recipients->affected[member->affected].operations;
}

// A frame that protects and holds the object of a member that is live, or NULL.
static kvo_frame *visit_member(const kvo_frame *frame, const kvo_recipients *recipients,
    const kvo_member *member) {
  kvo_registration *registration = member->registration;
  if (kvo_registration_state(registration) != KVO_LIVE) return NULL;
  kvo_frame *hazard = visit(frame, registration->object, operations_of(recipients, member));
  if (!hazard || kvo_registration_state(registration) == KVO_LIVE) return hazard;
  kvo_frame_pop(hazard);
  return NULL;
}

static bool is_distinct(const kvo_member *member) {
  return member->registration->options & KVO_DISTINCT;
}

// Whether the change is to be delivered to a member whose object is protected.
static bool is_admitted(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  if (KVO_LIKELY(!is_distinct(member))) return true;
  bool is_whole = !is_detailed(&propagation->after, member);
  const kvo_value *new = is_whole ? value_of(&propagation->after, member) : NULL;
  return kvo_distinct_admits(member->registration, frame->ticket, new) &&
         kvo_registration_state(member->registration) == KVO_LIVE;
}

static void call(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member, const kvo_change *change) {
  bool is_prior = change->is_prior;
  kvo_frame *hazard =
      visit_member(frame, is_prior ? &propagation->before : &propagation->after, member);
  if (!hazard) return;
  uint64_t shortages = kvo_shortages;
  if (is_prior || is_admitted(frame, propagation, member))
    kvo_change_call(hazard, member->registration, change);
  kvo_shortages = shortages; // a shortage inside the observer is not this change's
  kvo_frame_pop(hazard);
}

static kvo_change describe_prior(const kvo_mutation_record *mutation, uint32_t options) {
  bool old = options & KVO_OLD && mutation->has_predicted;
  return (kvo_change){.kind = mutation->kind,
      .is_prior = true,
      .old_value = old ? &mutation->predicted : NULL,
      .indexes = mutation->indexes};
}

static kvo_change describe(const kvo_mutation_record *mutation, uint32_t options) {
  bool old = options & KVO_OLD && mutation->has_old;
  bool new = options & KVO_NEW && mutation->has_new;
  return (kvo_change){.kind = mutation->kind,
      .old_value = old ? &mutation->old_value : NULL,
      .new_value = new ? &mutation->new_value : NULL,
      .indexes = mutation->indexes};
}

static void call_prior(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  uint32_t options = member->registration->options;
  if (!(options & KVO_PRIOR) || member->is_behind) return;
  const kvo_value *old = options & KVO_OLD ? value_of(&propagation->before, member) : NULL;
  kvo_change change = {.kind = KVO_SETTING, .is_prior = true, .old_value = old};
  if (is_detailed(&propagation->before, member))
    change = describe_prior(mutation_of(&propagation->before, member), options);
  call(frame, propagation, member, &change);
}

// If only plain observers existed before the change, no recipients were recorded. They are the changed key's
// observers with a smaller serial number, and the frame holds their old value.
static bool was_plain(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  return !propagation->has_before && !chain_of(member) && !member->path && member->affected == 0 &&
         member->serial <= frame->serial;
}

// Whether a recipient that was added during the change is notified of it. One that this thread added waits for the next change.
// One that another thread added may have read the old value already, so it is notified (I3).
static bool is_of_other_thread(const kvo_member *member) {
  return member->by_other_thread || member->thread != kvo_thread_number();
}

// Whether it was behind an open change of a link before this change. If it is not any more, it has yet to be notified of this one.
static bool was_behind(const kvo_propagation *propagation, const kvo_member *member) {
  return member->was_place != KVO_NO_PLACE &&
         propagation->before.members[member->was_place].is_behind;
}

static bool was_there(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  if (member->was_place == KVO_NO_PLACE) return was_plain(frame, propagation, member);
  return !was_behind(propagation, member);
}

static const kvo_value *old_value(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  if (member->was_place != KVO_NO_PLACE)
    return value_of(&propagation->before, &propagation->before.members[member->was_place]);
  bool known = was_plain(frame, propagation, member) && frame->flags & KVO_FRAME_HAS_OLD;
  return known ? &frame->old_value : NULL;
}

// Whether the member lacks elements that it asks for: no observer asked for them before the change, or memory was
// out.
static bool lacks_details(const kvo_propagation *propagation, const kvo_member *member) {
  uint32_t options = member->registration->options;
  if (!is_detailed(&propagation->after, member)) return false;
  const kvo_mutation_record *mutation = mutation_of(&propagation->after, member);
  if (options & KVO_OLD && mutation->kind != KVO_INSERTION && !mutation->has_predicted) return true;
  bool compares = mutation->set_mutation && !mutation->is_told;
  return options & KVO_NEW && compares && !mutation->has_before;
}

// A recipient that is late, or lacks elements that it asked for, is notified of a setting.
static void find_late(const kvo_frame *frame, kvo_propagation *propagation, kvo_member *member) {
  bool comes_in_time =
      is_of_other_thread(member) || member->is_within || was_behind(propagation, member);
  bool was_here = was_there(frame, propagation, member);
  if (was_here) member->is_behind = false; // its prior call, if it asked for one, has been made
  member->is_late = !was_here && comes_in_time && !member->is_behind;
  if (member->is_late || lacks_details(propagation, member)) member->is_whole = true;
  bool is_whole = !is_detailed(&propagation->after, member);
  bool wants_old = member->registration->options & KVO_OLD && is_whole;
  member->lacks_old = wants_old && !old_value(frame, propagation, member);
}

// Whether memory was out for a value that is asked for.
static bool lacks(const kvo_change *change, uint32_t options) {
  bool needs_old = options & KVO_OLD && change->kind != KVO_INSERTION;
  bool needs_new = options & KVO_NEW && change->kind != KVO_REMOVAL && !change->is_prior;
  return (needs_old && !change->old_value) || (needs_new && !change->new_value);
}

static void call_late(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  kvo_registration *registration = member->registration;
  const kvo_value *new = value_of(&propagation->after, member);
  if (!new && registration->options & (KVO_OLD | KVO_NEW)) return;
  kvo_frame *hazard = visit_member(frame, &propagation->after, member);
  if (!hazard) return;
  uint64_t shortages = kvo_shortages;
  if (is_admitted(frame, propagation, member))
    kvo_change_call_late(hazard, registration, NULL, new);
  kvo_shortages = shortages;
  kvo_frame_pop(hazard);
}

static void call_final(const kvo_frame *frame, const kvo_propagation *propagation,
    const kvo_member *member) {
  uint32_t options = member->registration->options;
  if (member->is_late) {
    call_late(frame, propagation, member);
    return;
  }
  if (!was_there(frame, propagation, member)) return;
  const kvo_value *old = old_value(frame, propagation, member);
  const kvo_value *new = value_of(&propagation->after, member);
  if (member->lacks_old && !(frame->flags & KVO_FRAME_REPORTED)) old = new;
  kvo_change change = {.kind = KVO_SETTING,
      .old_value = options & KVO_OLD ? old : NULL,
      .new_value = options & KVO_NEW ? new : NULL};
  if (is_detailed(&propagation->after, member))
    change = describe(mutation_of(&propagation->after, member), options);
  if (KVO_UNLIKELY(lacks(&change, options))) return;
  call(frame, propagation, member, &change);
}

// MARK: Steps

static void begin_mutation(kvo_root *root, const kvo_mutation *mutation) {
  if (!mutation || kvo_mutation_begin(&root->mutation, mutation)) return;
  // Out of memory: report a plain "setting" change instead of the detailed one.
  kvo_mutation_destroy(&root->mutation);
  root->mutation.kind = KVO_SETTING;
}

// Reads old values for the members of `before` that the root has added.
static void read_before(const kvo_frame *frame, kvo_propagation *propagation, kvo_root *root,
    uint32_t start, bool also_detailed) {
  if (root->mutation.kind != KVO_SETTING)
    kvo_mutation_read_before(&root->mutation, frame->object, root->id,
        options_of_detailed(&propagation->before, root));
  read_all(frame, propagation, &propagation->before, start, KVO_OLD, also_detailed);
}

void kvo_change_expect_joins(kvo_frame *frame, uint32_t joins) {
  if (frame->flags & KVO_FRAME_PROPAGATES) frame->propagation->first.expected_joins = joins;
}

// By which links at the key are followed.
static void begin_delta(const kvo_frame *frame, const kvo_root *root) {
  kvo_part_named part;
  if (root->delta && kvo_mutation_name_part(&root->mutation, &part))
    kvo_delta_begin(root->delta, frame->object, &part);
}

kvo_propagation *kvo_propagation_make(kvo_frame *frame) {
  kvo_propagation *propagation = make();
  if (propagation) put_into(frame, propagation);
  return propagation;
}

bool kvo_propagation_begin(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_frame_hold(frame);
  frame->joins = 0;
  kvo_propagation *propagation = kvo_propagation_make(frame);
  if (!propagation) return false;
  kvo_root *root = &propagation->first;
  root->id = frame->id;
  begin_mutation(root, mutation);
  propagation->has_before = kvo_recipients_find_before(propagation, frame->object, root);
  if (propagation->has_before) read_before(frame, propagation, root, 0, false);
  if (propagation->has_before) begin_delta(frame, root);
  return propagation->has_before;
}

void kvo_propagation_resume(kvo_frame *frame, const kvo_chain *chain, kvo_registration *recipient) {
  kvo_propagation *propagation = kvo_propagation_make(frame);
  if (!propagation) return;
  propagation->first.id = frame->id;
  propagation->has_before = kvo_recipients_adopt(&propagation->before, frame, chain, recipient);
}

static bool has_prior(const kvo_recipients *recipients, uint32_t start) {
  for (uint32_t i = start; i < recipients->member_count; i++)
    if (recipients->members[i].registration->options & KVO_PRIOR) return true;
  return false;
}

static void call_priors(const kvo_frame *frame, const kvo_propagation *propagation,
    uint32_t start) {
  for (uint32_t i = start; i < propagation->before.member_count; i++)
    call_prior(frame, propagation, &propagation->before.members[i]);
}

void kvo_propagation_deliver_priors(kvo_frame *frame) {
  const kvo_propagation *propagation = frame->propagation;
  if (has_prior(&propagation->before, 0)) call_priors(frame, propagation, 0);
}

bool kvo_propagation_add(kvo_frame *frame, kvo_root *root, const kvo_mutation *mutation) {
  kvo_propagation *propagation = frame->propagation;
  kvo_recipients *before = &propagation->before;
  uint32_t affected_count = before->affected_count, start = before->member_count;
  begin_mutation(root, mutation);
  if (!kvo_recipients_find_before(propagation, frame->object, root)) {
    kvo_recipients_shorten(before, affected_count, start);
    return false;
  }
  propagation->has_before = true;
  read_before(frame, propagation, root, start, true);
  if (has_prior(before, start)) call_priors(frame, propagation, start);
  return true;
}

static void find_after(kvo_frame *frame, kvo_propagation *propagation, bool is_again) {
  for (kvo_root *root = &propagation->first; root; root = root->next)
    kvo_recipients_find_after(propagation, frame->object, root, is_again);
}

// Changes that joined this one may have changed other elements, and a did may have named others than its will.
static bool follow_part(const kvo_frame *frame, const kvo_root *root, kvo_link *link) {
  bool is_alone = frame->joins <= root->expected_joins && root->mutation.kind != KVO_SETTING;
  return root->delta && is_alone && kvo_delta_follow(root->delta, frame->object, link);
}

// The delta holds elements, which must not live until the observers have returned.
static void end_delta(kvo_root *root) {
  kvo_delta_end(root->delta);
  root->delta = NULL;
}

// Follows again the links that lead on, and the tracked keys, that the change affects. Returns false if there are
// none, or if all tracked keys are seen to lead to the same place as before.
static bool follow(const kvo_frame *frame, kvo_propagation *propagation) {
  kvo_links *links = &propagation->links;
  for (size_t i = 0; i < links->count; i++)
    if (!follow_part(frame, &propagation->first, links->items[i])) kvo_link_follow(links->items[i]);
  end_delta(&propagation->first);
  bool any = links->count;
  for (size_t i = 0; i < links->tracked_count; i++) {
    kvo_tracked *tracked = &links->tracked[i];
    if (kvo_derivation_is_current(tracked->derivation)) continue;
    kvo_derivation_follow(tracked->derivation, &tracked->answer);
    any = true;
  }
  return any;
}

static bool has_distinct(const kvo_recipients *recipients) {
  for (uint32_t i = 0; i < recipients->member_count; i++)
    if (is_distinct(&recipients->members[i])) return true;
  return false;
}

static void read_new(kvo_frame *frame, kvo_propagation *propagation) {
  if (has_distinct(&propagation->after)) kvo_change_take_ticket(frame);
  for (kvo_root *root = &propagation->first; root; root = root->next)
    if (root->mutation.kind != KVO_SETTING)
      kvo_mutation_read_after(&root->mutation, frame->object, root->id,
          options_of_detailed(&propagation->after, root));
  read_all(frame, propagation, &propagation->after, 0, KVO_NEW | KVO_DISTINCT, false);
}

void kvo_propagation_finish(kvo_frame *frame) {
  kvo_frame_hold(frame);
  if (!(frame->flags & KVO_FRAME_PROPAGATES)) {
    kvo_propagation *made = kvo_propagation_make(frame);
    if (!made) return;
    made->first.id = frame->id;
  }
  kvo_propagation *propagation = frame->propagation;
  uint64_t shortages = kvo_shortages;
  find_after(frame, propagation, false);
  if (follow(frame, propagation)) {
    kvo_recipients_destroy(&propagation->after);
    find_after(frame, propagation, true);
  }
  for (uint32_t i = 0; i < propagation->after.member_count; i++)
    find_late(frame, propagation, &propagation->after.members[i]);
  read_new(frame, propagation);
  propagation->is_short = kvo_shortages != shortages;
  for (uint32_t i = 0; i < propagation->after.member_count; i++)
    call_final(frame, propagation, &propagation->after.members[i]);
}
