// The life of a change that reaches further than the observers of one key.
//
// At will the audience is found and old is read; at did, what leads on from the keys that the
// change affects is followed anew, the audience is found again, and new is read: told are those
// found both times, in the order of the second. Audiences hold registrations, not objects: each
// object that is read or called is held meanwhile by a frame that guards it as well, so that
// `ended` waits for the call. One that is late, for another thread has made the registration in between
// or led it here, is told as change.c does: of a setting, from what there is to what there is where
// nobody has read old for it.
#include "kvo_reach.h"

#include "kvo_collection_internal.h"
#include "kvo_lock.h"
#include "kvo_memory.h"

// MARK: Memory

static kvo_reach *make(void) {
  kvo_reach *reach = kvo_alloc(sizeof *reach);
  if (!reach) return NULL;
  reach->references = 1;
  reach->has_before = reach->is_short = reach->has_distinct = false;
  reach->mutation = (kvo_mutation_record){.kind = KVO_SETTING};
  reach->links = (kvo_links){0};
  kvo_audience_init(&reach->before);
  kvo_audience_init(&reach->after);
  return reach;
}

kvo_reach *kvo_reach_retain(kvo_reach *reach) {
  __atomic_fetch_add(&reach->references, 1, __ATOMIC_RELAXED);
  return reach;
}

void kvo_reach_end_tellings(kvo_reach *reach) {
  for (uint32_t i = 0; i < reach->after.member_count; i++)
    kvo_distinct_end(&reach->after.members[i].telling);
}

void kvo_reach_release(kvo_reach *reach) {
  if (__atomic_sub_fetch(&reach->references, 1, __ATOMIC_ACQ_REL)) return;
  kvo_audience_destroy(&reach->before);
  kvo_audience_destroy(&reach->after);
  kvo_links_destroy(&reach->links);
  kvo_mutation_destroy(&reach->mutation);
  kvo_free(reach);
}

static void put_into(kvo_frame *frame, kvo_reach *reach) {
  frame->reach = reach;
  frame->flags |= KVO_FRAME_REACH;
}

// MARK: Holding

// A frame that guards the object and, unless it is the changed one, which its setter's caller
// holds, keeps it alive. NULL if the object is dying, or memory is out.
static kvo_frame *visit(const kvo_frame *frame, kvo_object *object,
    const kvo_class_operations *operations) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *guard = thread ? kvo_frame_push(thread, object) : NULL;
  if (!guard || object == frame->object) return guard;
  if (operations->try_retain(object)) {
    guard->flags |= KVO_FRAME_RETAINED;
    return guard;
  }
  kvo_frame_pop(guard);
  return NULL;
}

// MARK: Reading

static bool is_detailed(const kvo_reach *reach, const kvo_member *member) {
  return reach->mutation.kind != KVO_SETTING && !member->is_whole;
}

static const kvo_chain *chain_of(const kvo_member *member) {
  kvo_link *link = kvo_link_of(member->registration);
  return link ? link->chain : NULL;
}

static void read_affected(const kvo_frame *frame, kvo_affected *affected) {
  kvo_frame *guard = visit(frame, affected->object, affected->operations);
  if (!guard) return;
  kvo_frame_reads(guard, affected->id);
  const kvo_accessors *accessors = kvo_change_accessors(affected->object, affected->id);
  affected->is_read = accessors && kvo_change_read(accessors, affected->object, &affected->value);
  kvo_frame_pop(guard);
}

// What a tracked key answered when it was read for this change, once for all who are told of it.
static bool copy_answer(const kvo_reach *reach, uint32_t place, kvo_value *value) {
  if (place == KVO_NO_PLACE) return false;
  if (kvo_value_copy(value, &reach->links.tracked[place].answer.value)) return false;
  return kvo_value_snapshot(value) == KVO_OK;
}

static void read_tracked(const kvo_frame *frame, kvo_member *member) {
  const kvo_derivation *path = member->path;
  kvo_frame *guard = visit(frame, path->object, path->operations);
  if (!guard) return;
  kvo_frame_reads(guard, path->accessors->id);
  member->is_read =
      kvo_change_read(kvo_accessors_current(path->accessors), path->object, &member->value);
  kvo_frame_pop(guard);
}

static void read_path(const kvo_frame *frame, const kvo_chain *chain, kvo_member *member) {
  kvo_frame *guard = visit(frame, chain->root, chain->operations);
  if (!guard) return;
  kvo_frame_reads(guard, (uintptr_t)chain);
  member->is_read = kvo_change_read_path(chain->root, chain, &member->value);
  kvo_frame_pop(guard);
}

static void read_path_key(const kvo_frame *frame, const kvo_reach *reach, kvo_member *member) {
  bool is_distinct = member->registration->options & KVO_DISTINCT;
  member->is_read = !is_distinct && copy_answer(reach, member->tracked, &member->value);
  if (!member->is_read) read_tracked(frame, member);
}

static void read_key(const kvo_frame *frame, const kvo_reach *reach, kvo_affected *affected) {
  affected->is_read = copy_answer(reach, affected->tracked, &affected->value);
  if (!affected->is_read) read_affected(frame, affected);
}

static void read_all(const kvo_frame *frame, const kvo_reach *reach, kvo_audience *audience,
    uint32_t wanted) {
  for (uint32_t i = 0; i < audience->member_count; i++) {
    kvo_member *member = &audience->members[i];
    const kvo_chain *chain = chain_of(member);
    uint32_t needed = wanted | (member->lacks_old ? KVO_OLD : 0);
    if (!(member->registration->options & needed) || is_detailed(reach, member)) continue;
    if (chain) read_path(frame, chain, member);
    else if (member->path) read_path_key(frame, reach, member);
    else if (!audience->affected[member->affected].is_read)
      read_key(frame, reach, &audience->affected[member->affected]);
  }
}

static uint32_t options_of_detailed(const kvo_reach *reach, const kvo_audience *audience) {
  uint32_t options = 0;
  for (uint32_t i = 0; i < audience->member_count; i++)
    if (is_detailed(reach, &audience->members[i]))
      options |= audience->members[i].registration->options;
  return options;
}

// What was read for a member, or NULL.
static const kvo_value *value_of(const kvo_audience *audience, const kvo_member *member) {
  if (chain_of(member) || member->path) return member->is_read ? &member->value : NULL;
  const kvo_affected *affected = &audience->affected[member->affected];
  return affected->is_read ? &affected->value : NULL;
}

// MARK: Calling

static const kvo_class_operations *operations_of(const kvo_audience *audience,
    const kvo_member *member) {
  const kvo_chain *chain = chain_of(member);
  if (chain) return chain->operations;
  return member->path ? member->path->operations : audience->affected[member->affected].operations;
}

static void call(const kvo_frame *frame, const kvo_audience *audience, const kvo_member *member,
    const kvo_change *change) {
  kvo_registration *registration = member->registration;
  if (!kvo_handle_is_valid(registration)) return;
  kvo_frame *guard = visit(frame, registration->object, operations_of(audience, member));
  if (!guard) return;
  uint64_t shortages = kvo_shortages;
  if (kvo_handle_is_valid(registration)) kvo_change_call(guard, registration, change);
  kvo_shortages = shortages; // what the observer had no memory for is not this change's
  kvo_frame_pop(guard);
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

static void call_prior(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  uint32_t options = member->registration->options;
  if (!(options & KVO_PRIOR)) return;
  const kvo_value *old = options & KVO_OLD ? value_of(&reach->before, member) : NULL;
  kvo_change change = {.kind = KVO_SETTING, .is_prior = true, .old_value = old};
  if (is_detailed(reach, member)) change = describe_prior(&reach->mutation, options);
  call(frame, &reach->before, member, &change);
}

// Where nothing led on at will, the plain observers of the changed key are those that were
// registered then, and old is the frame's.
static bool was_plain(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  return !reach->has_before && !chain_of(member) && !member->path && member->affected == 0 &&
         member->serial <= frame->serial;
}

// Those that were not there at will are this thread's own, which get the next change, or another
// thread's: then the one that was made, or led here, has read what there was, or may have (I3).
// When that was is not asked: they have their number before they can be found.
static bool is_of_other_thread(const kvo_member *member) {
  return member->by_other_thread || member->thread != kvo_thread_number();
}

static bool was_there(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  return member->was_place != KVO_NO_PLACE || was_plain(frame, reach, member);
}

static const kvo_value *old_value(const kvo_frame *frame, const kvo_reach *reach,
    const kvo_member *member) {
  if (member->was_place != KVO_NO_PLACE)
    return value_of(&reach->before, &reach->before.members[member->was_place]);
  bool known = was_plain(frame, reach, member) && frame->flags & KVO_FRAME_HAS_OLD;
  return known ? &frame->old_value : NULL;
}

// What it asks for of a part of the key was not read at will, for it or for want of memory.
static bool lacks_details(const kvo_reach *reach, const kvo_member *member) {
  const kvo_mutation_record *mutation = &reach->mutation;
  uint32_t options = member->registration->options;
  if (!is_detailed(reach, member)) return false;
  if (options & KVO_OLD && mutation->kind != KVO_INSERTION && !mutation->has_predicted) return true;
  bool compares = mutation->set_mutation && !mutation->is_told;
  return options & KVO_NEW && compares && !mutation->has_before;
}

// Those who are late, or lack part of what they asked for, are told of a setting.
static void find_late(const kvo_frame *frame, kvo_reach *reach, kvo_member *member) {
  member->is_late = !was_there(frame, reach, member) && is_of_other_thread(member);
  if (member->is_late || lacks_details(reach, member)) member->is_whole = true;
  bool wants_old = member->registration->options & KVO_OLD && !is_detailed(reach, member);
  member->lacks_old = wants_old && !old_value(frame, reach, member);
}

// There was no memory to read it.
static bool lacks(const kvo_change *change, uint32_t options) {
  bool needs_old = options & KVO_OLD && change->kind != KVO_INSERTION;
  bool needs_new = options & KVO_NEW && change->kind != KVO_REMOVAL && !change->is_prior;
  return (needs_old && !change->old_value) || (needs_new && !change->new_value);
}

static void call_late(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  kvo_registration *registration = member->registration;
  const kvo_value *new = value_of(&reach->after, member);
  if (!new && registration->options & (KVO_OLD | KVO_NEW)) return;
  if (!kvo_handle_is_valid(registration)) return;
  kvo_frame *guard = visit(frame, registration->object, operations_of(&reach->after, member));
  if (!guard) return;
  uint64_t shortages = kvo_shortages;
  if (kvo_handle_is_valid(registration)) kvo_change_call_late(guard, registration, NULL, new);
  kvo_shortages = shortages;
  kvo_frame_pop(guard);
}

static void call_final(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  uint32_t options = member->registration->options;
  if (member->is_late) {
    call_late(frame, reach, member);
    return;
  }
  if (member->is_unchanged || !was_there(frame, reach, member)) return;
  const kvo_value *old = old_value(frame, reach, member);
  const kvo_value *new = value_of(&reach->after, member);
  if (member->lacks_old && !(frame->flags & KVO_FRAME_REPORTED)) old = new;
  kvo_change change = {.kind = KVO_SETTING,
      .old_value = options & KVO_OLD ? old : NULL,
      .new_value = options & KVO_NEW ? new : NULL};
  if (is_detailed(reach, member)) change = describe(&reach->mutation, options);
  if (KVO_UNLIKELY(lacks(&change, options))) return;
  call(frame, &reach->after, member, &change);
}

// MARK: Steps

static bool is_distinct(const kvo_member *member) {
  return member->registration->options & KVO_DISTINCT;
}

// The one of these before it that is a key of the same token.
static const kvo_member *find_sibling(const kvo_audience *audience, const kvo_member *member) {
  if (!(member->registration->options & KVO_GROUPED)) return NULL;
  for (const kvo_member *other = audience->members; other < member; other++)
    if (is_distinct(other) && kvo_distinct_is_one(other->registration, member->registration))
      return other;
  return NULL;
}

static void note_distinct(const kvo_audience *audience, kvo_member *member) {
  const kvo_member *sibling = find_sibling(audience, member);
  if (sibling) member->distinction = sibling->distinction;
  else kvo_distinct_note(&member->distinction, member->registration);
  member->passed = kvo_distinct_count_passed(member->registration);
  member->is_shared = sibling;
}

static void note_all_distinct(kvo_reach *reach) {
  for (uint32_t i = 0; i < reach->before.member_count; i++) {
    kvo_member *member = &reach->before.members[i];
    if (!is_distinct(member)) continue;
    note_distinct(&reach->before, member);
    reach->has_distinct = true;
  }
}

bool kvo_reach_begin(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_reach *reach = make();
  if (!reach) return false;
  put_into(frame, reach);
  if (mutation && !kvo_mutation_begin(&reach->mutation, mutation)) {
    // Told as a setting, which says less but nothing wrong.
    kvo_mutation_destroy(&reach->mutation);
    reach->mutation.kind = KVO_SETTING;
  }
  reach->has_before = kvo_audience_find(&reach->before, NULL, frame->object, frame->id, NULL, NULL);
  if (!reach->has_before) return false;
  if (reach->mutation.kind != KVO_SETTING)
    kvo_mutation_read_before(&reach->mutation, frame->object, frame->id,
        options_of_detailed(reach, &reach->before));
  note_all_distinct(reach);
  read_all(frame, reach, &reach->before, KVO_OLD | KVO_DISTINCT);
  return true;
}

void kvo_reach_resume(kvo_frame *frame, const kvo_chain *chain, kvo_registration *recipient) {
  kvo_reach *reach = make();
  if (!reach) return;
  put_into(frame, reach);
  reach->has_before = kvo_audience_adopt(&reach->before, frame, chain, recipient);
}

static bool has_prior(const kvo_audience *audience) {
  for (uint32_t i = 0; i < audience->member_count; i++)
    if (audience->members[i].registration->options & KVO_PRIOR) return true;
  return false;
}

void kvo_reach_deliver_priors(kvo_frame *frame) {
  const kvo_reach *reach = frame->reach;
  if (!has_prior(&reach->before)) return;
  if (kvo_class_of(frame->object)->operations->try_retain(frame->object))
    frame->flags |= KVO_FRAME_RETAINED;
  for (uint32_t i = 0; i < reach->before.member_count; i++)
    call_prior(frame, reach, &reach->before.members[i]);
}

static void find_after(kvo_frame *frame, kvo_reach *reach, kvo_links *links,
    const kvo_links *read) {
  kvo_audience_find(&reach->after, reach->has_before ? &reach->before : NULL, frame->object,
      frame->id, links, read);
}

// Follows the links that lead on from what is affected, and what tracked keys read now. False if
// there are none.
static bool follow(kvo_reach *reach) {
  kvo_links *links = &reach->links;
  for (size_t i = 0; i < links->count; i++) kvo_link_follow(links->items[i]);
  for (size_t i = 0; i < links->tracked_count; i++)
    kvo_derivation_follow(links->tracked[i].derivation, &links->tracked[i].answer);
  return links->count || links->tracked_count;
}

// He does not stand any more where the change is told. Who has told him since has told what it has
// stored; but who has passed him over may have found that, and then he is told of it here.
static void lose(kvo_reach *reach, uint32_t place) {
  const kvo_member *member = &reach->before.members[place];
  if (!is_distinct(member) || !kvo_handle_is_valid(member->registration)) return;
  if (kvo_distinct_may_miss(&member->distinction, member->passed, member->registration))
    kvo_audience_add_lost(&reach->after, &reach->before, place);
  else kvo_distinct_lose(member->registration);
}

static void look_for_lost(kvo_reach *reach) {
  for (uint32_t i = 0; i < reach->after.member_count; i++) {
    uint32_t place = reach->after.members[i].was_place;
    if (place != KVO_NO_PLACE) reach->before.members[place].is_found = true;
  }
  for (uint32_t i = 0; i < reach->before.member_count; i++)
    if (!reach->before.members[i].is_found) lose(reach, i);
}

// False if there is nobody.
static bool begin_distinct(kvo_frame *frame, kvo_reach *reach) {
  bool any = false;
  frame->telling.registration = NULL;
  frame->flags |= KVO_FRAME_TELLS;
  for (uint32_t i = 0; i < reach->after.member_count; i++) {
    kvo_member *member = &reach->after.members[i];
    if (!is_distinct(member)) continue;
    if (!member->is_late && !was_there(frame, reach, member)) continue; // gets the next change
    kvo_distinct_begin(&member->telling, member->registration);
    any = true;
  }
  if (any) kvo_distinct_settle();
  return any;
}

static uint32_t count_tellings(const kvo_reach *reach, kvo_registration *registration) {
  uint32_t count = 0;
  if (!(registration->options & KVO_GROUPED)) return 1;
  for (uint32_t i = 0; i < reach->after.member_count; i++) {
    kvo_registration *told = reach->after.members[i].telling.registration;
    count += told && kvo_distinct_is_one(told, registration);
  }
  return count;
}

static const kvo_distinction *distinction_of(const kvo_frame *frame, const kvo_reach *reach,
    const kvo_member *member) {
  uint32_t place = member->was_place;
  return place == KVO_NO_PLACE ? &frame->distinction : &reach->before.members[place].distinction;
}

// Nothing else has been told between its will and its did (distinct.c).
static bool is_unchanged(const kvo_frame *frame, const kvo_reach *reach, const kvo_member *member) {
  const kvo_distinction *was = distinction_of(frame, reach, member);
  const kvo_value *old = old_value(frame, reach, member), *new = value_of(&reach->after, member);
  if (member->is_late || !was_there(frame, reach, member) || is_detailed(reach, member))
    return false;
  if (!old || !new) return false;
  uint32_t of_this = count_tellings(reach, member->registration);
  return !kvo_distinct_is_overtaken(was, member->registration, of_this) &&
         kvo_value_equal(old, new);
}

static void pass(const kvo_frame *frame, const kvo_reach *reach, kvo_member *member) {
  uint32_t place = member->was_place;
  bool is_shared = place != KVO_NO_PLACE && reach->before.members[place].is_shared;
  kvo_distinct_pass(&member->telling, is_shared ? NULL : distinction_of(frame, reach, member));
}

// Who is passed over has not been told; the others have when they return. Keys of one observer are judged
// by the same counts: none of them changes before all have been.
static void judge_distinct(const kvo_frame *frame, kvo_reach *reach) {
  for (uint32_t i = 0; i < reach->after.member_count; i++) {
    kvo_member *member = &reach->after.members[i];
    if (member->telling.registration) member->is_unchanged = is_unchanged(frame, reach, member);
  }
  for (uint32_t i = 0; i < reach->after.member_count; i++)
    if (reach->after.members[i].is_unchanged) pass(frame, reach, &reach->after.members[i]);
}

static void call_finals(kvo_frame *frame, kvo_reach *reach) {
  for (uint32_t i = 0; i < reach->after.member_count; i++) {
    kvo_member *member = &reach->after.members[i];
    if (i) kvo_distinct_call(&member->telling);
    call_final(frame, reach, member);
    kvo_distinct_end(&member->telling);
  }
  frame->flags &= (uint16_t)~KVO_FRAME_TELLS;
}

static void read_new(kvo_frame *frame, kvo_reach *reach) {
  bool any_distinct = begin_distinct(frame, reach);
  if (reach->mutation.kind != KVO_SETTING)
    kvo_mutation_read_after(&reach->mutation, frame->object, frame->id,
        options_of_detailed(reach, &reach->after));
  read_all(frame, reach, &reach->after, KVO_NEW | KVO_DISTINCT);
  if (any_distinct) judge_distinct(frame, reach);
}

void kvo_reach_finish(kvo_frame *frame) {
  if (!(frame->flags & KVO_FRAME_REACH)) {
    kvo_reach *made = make();
    if (!made) return;
    put_into(frame, made);
  }
  kvo_reach *reach = frame->reach;
  uint64_t shortages = kvo_shortages;
  find_after(frame, reach, &reach->links, NULL);
  if (follow(reach)) {
    kvo_audience_destroy(&reach->after);
    find_after(frame, reach, NULL, &reach->links);
  }
  if (KVO_UNLIKELY(reach->has_distinct)) look_for_lost(reach);
  for (uint32_t i = 0; i < reach->after.member_count; i++)
    find_late(frame, reach, &reach->after.members[i]);
  read_new(frame, reach);
  reach->is_short = kvo_shortages != shortages;
  call_finals(frame, reach);
}
