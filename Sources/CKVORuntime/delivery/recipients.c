// Finds the recipients of a change, breadth first from the changed key to the keys derived from it (D13, F2).
//
// The derived keys of one level are sorted by name, and those of one name by when they were first watched. The
// observers of one key are in the order of registration; a link has the position of the registration that it serves.
// Each key is found once, by the stamp of this search, and so is each registration, by a hash index once there are
// many members. The observers of a tracked path are among those of the property that changed, like those of a path of
// keys.
//
// The graph lock is held throughout, and an object's lock while its observers are looked at. Nothing is read from
// objects here.
#include "delivery/kvo_propagation.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "graph/kvo_route.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_AFFECTED = 2, FEW_MEMBERS = 3 };
_Static_assert(sizeof((kvo_recipients){0}.few_affected) == FEW_AFFECTED * sizeof(kvo_affected) &&
                   sizeof((kvo_recipients){0}.few_members) == FEW_MEMBERS * sizeof(kvo_member),
    "the room in place");

// Doubles an array whose first items may be stored inline. Returns NULL, with the old array unchanged, if memory is
// out.
static void *grown(void *items, const void *in_place, size_t count, size_t size) {
  size_t room = (count ? count : 2) * 2;
  void *copy = kvo_alloc(room * size);
  if (!copy) return NULL;
  if (count) memcpy(copy, items, count * size);
  if (items != in_place) kvo_free(items);
  return copy;
}

// MARK: Index

enum { FEW_PLACES = 8 };

static kvo_placed *placed(const kvo_recipients *recipients, const kvo_registration *registration) {
  uint32_t i = (uint32_t)(((uintptr_t)registration * 0x9E3779B97F4A7C15u) >> 32);
  for (;; i++) {
    kvo_placed *found = &recipients->index[i & recipients->index_mask];
    if (!found->registration || found->registration == registration) return found;
  }
}

static uint32_t place_of(const kvo_recipients *recipients, const kvo_registration *registration) {
  if (recipients->index) {
    const kvo_placed *found = placed(recipients, registration);
    return found->registration ? found->place : KVO_NO_PLACE;
  }
  for (uint32_t i = 0; i < recipients->member_count; i++)
    if (recipients->members[i].registration == registration) return i;
  return KVO_NO_PLACE;
}

static void index_from(kvo_recipients *recipients, uint32_t start) {
  for (uint32_t i = start; recipients->index && i < recipients->member_count; i++)
    *placed(recipients, recipients->members[i].registration) =
        (kvo_placed){recipients->members[i].registration, i};
}

static kvo_placed *make_index(uint32_t room) { return kvo_alloc_zeroed(room * sizeof(kvo_placed)); }

static void exchange_index(kvo_recipients *recipients, kvo_placed *index, uint32_t room) {
  kvo_free(recipients->index);
  recipients->index = index;
  recipients->index_mask = room - 1;
  index_from(recipients, 0);
}

// The index has at least twice as many slots as there are members.
static bool enlarge_index(kvo_recipients *recipients) {
  uint32_t room = FEW_PLACES * 4;
  while (room < recipients->member_count * 2) room *= 2;
  uint64_t shortages = kvo_shortages;
  kvo_placed *larger = make_index(room);
  kvo_shortages = shortages; // not an error: all are notified without the index
  if (larger) exchange_index(recipients, larger, room);
  return larger;
}

// If memory for a larger index is out, the old one is used while it has a free slot. After that members are searched
// linearly.
static void index_newest(kvo_recipients *recipients) {
  uint32_t count = recipients->member_count,
           room = recipients->index ? recipients->index_mask + 1 : 0;
  bool is_large = count * 2 <= room;
  if (count <= FEW_PLACES || (!is_large && enlarge_index(recipients))) return;
  if (count < room) index_from(recipients, count - 1);
  else if (room) exchange_index(recipients, NULL, 0);
}

// MARK: Arrays

static bool add_affected(kvo_recipients *recipients, kvo_affected affected) {
  uint32_t count = recipients->affected_count;
  if (count == recipients->affected_capacity) {
    kvo_affected *larger =
        grown(recipients->affected, recipients->few_affected, count, sizeof affected);
    if (!larger) return false;
    recipients->affected = larger;
    recipients->affected_capacity = count * 2;
  }
  affected.operations->unowned_retain(affected.object);
  recipients->affected[recipients->affected_count++] = affected;
  return true;
}

static bool add_member(kvo_recipients *recipients, kvo_member member) {
  uint32_t count = recipients->member_count;
  if (count == recipients->member_capacity) {
    kvo_member *larger = grown(recipients->members, recipients->few_members, count, sizeof member);
    if (!larger) return false;
    recipients->members = larger;
    recipients->member_capacity = count * 2;
  }
  kvo_registration_hold(member.registration);
  if (member.path) kvo_derivation_retain(member.path);
  recipients->members[recipients->member_count++] = member;
  index_newest(recipients);
  return true;
}

static bool add_tracked(kvo_links *links, kvo_derivation *derivation) {
  if (links->tracked_count == links->tracked_capacity) {
    size_t count = links->tracked_count;
    kvo_tracked *larger = grown(links->tracked, NULL, count, sizeof *larger);
    if (!larger) return false;
    links->tracked = larger;
    links->tracked_capacity = count ? count * 2 : 4;
  }
  derivation->place = (uint32_t)links->tracked_count;
  links->tracked[links->tracked_count++] =
      (kvo_tracked){kvo_derivation_retain(derivation), {.is_read = false}};
  return true;
}

static bool add_link(kvo_links *links, kvo_link *link) {
  if (links->count == links->capacity) {
    kvo_link **larger = grown(links->items, NULL, links->count, sizeof *larger);
    if (!larger) return false;
    links->items = larger;
    links->capacity = links->count ? links->count * 2 : 4;
  }
  kvo_registration_hold(&link->entry);
  links->items[links->count++] = link;
  return true;
}

void kvo_recipients_init(kvo_recipients *recipients) {
  recipients->index = NULL;
  recipients->affected = recipients->few_affected;
  recipients->members = recipients->few_members;
  recipients->affected_count = recipients->member_count = 0;
  recipients->affected_capacity = FEW_AFFECTED;
  recipients->member_capacity = FEW_MEMBERS;
}

static void destroy_from(kvo_recipients *recipients, uint32_t affected_count,
    uint32_t member_count) {
  for (uint32_t i = affected_count; i < recipients->affected_count; i++) {
    kvo_affected *affected = &recipients->affected[i];
    if (affected->is_read) kvo_value_destroy(&affected->value);
    affected->operations->unowned_release(affected->object);
  }
  for (uint32_t i = member_count; i < recipients->member_count; i++) {
    kvo_member *member = &recipients->members[i];
    if (member->is_read) kvo_value_destroy(&member->value);
    kvo_derivation_release(member->path);
    kvo_registration_let_go(member->registration);
  }
}

void kvo_recipients_shorten(kvo_recipients *recipients, uint32_t affected_count,
    uint32_t member_count) {
  destroy_from(recipients, affected_count, member_count);
  recipients->affected_count = affected_count;
  recipients->member_count = member_count;
  if (!recipients->index) return;
  memset(recipients->index, 0, (recipients->index_mask + 1) * sizeof *recipients->index);
  index_from(recipients, 0);
}

void kvo_recipients_destroy(kvo_recipients *recipients) {
  destroy_from(recipients, 0, 0);
  if (recipients->affected != recipients->few_affected) kvo_free(recipients->affected);
  if (recipients->members != recipients->few_members) kvo_free(recipients->members);
  kvo_free(recipients->index);
  kvo_recipients_init(recipients);
}

void kvo_links_destroy(kvo_links *links) {
  for (size_t i = 0; i < links->count; i++) kvo_registration_let_go(&links->items[i]->entry);
  for (size_t i = 0; i < links->tracked_count; i++) {
    kvo_answer_destroy(&links->tracked[i].answer);
    kvo_derivation_release(links->tracked[i].derivation);
  }
  kvo_free(links->items);
  kvo_free(links->tracked);
  *links = (kvo_links){0};
}

// MARK: The search

typedef struct {
  kvo_recipients *recipients;
  const kvo_recipients *before;
  kvo_links *links;
  const kvo_links *read; // tracked keys that have been read already
  kvo_root *root;
  const kvo_propagation *propagation;
  bool leads_on;        // a path goes on from what has been found
  bool by_other_thread; // how the key or path that is looked at was reached, as in kvo_affected
  bool is_behind;
  uint64_t stamp;
  uint32_t start;          // index of the root among the affected keys
  uint32_t index;          // index of the affected key that is looked at
  kvo_derivation *path;    // the tracked path whose observers are looked at instead
  kvo_derivation *pending; // tracked paths found at that key, linked by `pending`
  bool ok;
} search;

// The key's index among the tracked keys that were read for this change. KVO_NO_PLACE if a thread has tracked the key
// since then, or is tracking it now: that thread has the newer value.
static uint32_t place_of_tracked(const search *search, const kvo_derivation *derivation) {
  const kvo_links *read = search->read;
  uint32_t place = derivation->place;
  if (!read || !derivation->is_tracked || place >= read->tracked_count) return KVO_NO_PLACE;
  const kvo_tracked *tracked = &read->tracked[place];
  bool is_current = tracked->derivation == derivation && tracked->answer.is_read &&
                    tracked->answer.ticket == derivation->issued;
  return is_current ? place : KVO_NO_PLACE;
}

// Whether an open change of a link notifies the registration, which then was there when that change began.
static bool is_notified_by_other(const search *search, const kvo_registration *registration) {
  kvo_propagation *open = NULL;
  while ((open = kvo_open_links_next_locked(open))) {
    if (open == search->propagation || place_of(&open->before, registration) == KVO_NO_PLACE)
      continue;
    open->has_others = true;
    return true;
  }
  return false;
}

static void find_member(search *search, kvo_registration *registration, bool is_whole,
    bool by_other_thread, bool is_behind) {
  uint32_t place = place_of(search->recipients, registration);
  if (place != KVO_NO_PLACE) {
    kvo_member *known = &search->recipients->members[place];
    if (search->index == search->start && is_whole) known->is_whole = true;
    known->is_behind = known->is_behind && is_behind;
    known->is_within |= known->serial <= search->root->last_serial;
    return;
  }
  kvo_member member = {.registration = registration,
      .serial = kvo_registration_serial(registration),
      .thread = kvo_registration_thread(registration),
      .path = search->path,
      .affected = search->index,
      .tracked = search->path ? place_of_tracked(search, search->path) : KVO_NO_PLACE,
      .is_whole = is_whole || search->index > search->start || search->path,
      .by_other_thread = by_other_thread,
      .is_behind = is_behind && is_notified_by_other(search, registration),
      .is_within = kvo_registration_serial(registration) <= search->root->last_serial,
      .was_place = search->before ? place_of(search->before, registration) : KVO_NO_PLACE};
  search->ok = search->ok && add_member(search->recipients, member);
}

static void find_tracked(search *search, kvo_derivation *derivation) {
  if (search->links && derivation->is_tracked)
    search->ok = search->ok && add_tracked(search->links, derivation);
}

// A getter may set what it reads. For the key that is being read that is no change, or the reading would never end.
static bool is_being_read(const kvo_derivation *derivation) {
  return kvo_thread_is_reading(derivation->object, derivation->accessors->id);
}

// Changes that the setter of a derived key makes to other keys are part of the derived key's own change (D6, F2).
static bool is_being_set(const kvo_derivation *derivation) {
  const kvo_thread *thread = kvo_this_thread;
  return thread && kvo_thread_has_open(thread, derivation->object, derivation->accessors->id);
}

// Whether the search has found it, but not by a way that no open change of a link covers.
static bool is_found(const search *search, const kvo_derivation *derivation, bool is_behind) {
  return derivation->stamp == search->stamp && (is_behind || !derivation->is_behind);
}

// One that is found again by a way that leads past the open change of a link is looked at again.
static void find_derived(search *search, kvo_derivation *derivation, bool by_other_thread,
    bool is_behind) {
  if (is_found(search, derivation, is_behind)) return;
  if (is_being_read(derivation) || is_being_set(derivation)) return;
  bool is_new = derivation->stamp != search->stamp;
  derivation->stamp = search->stamp;
  derivation->by_other_thread = by_other_thread;
  derivation->is_behind = is_behind;
  if (is_new) find_tracked(search, derivation);
  if (derivation->is_tracked && derivation->accessors->property->is_path) {
    search->leads_on = true;
    derivation->pending = search->pending;
    search->pending = derivation;
    return;
  }
  kvo_affected affected = {.object = derivation->object,
      .operations = derivation->operations,
      .id = derivation->accessors->id,
      .key = derivation->accessors->key,
      .serial = derivation->serial,
      .tracked = place_of_tracked(search, derivation),
      .by_other_thread = by_other_thread,
      .is_behind = is_behind};
  search->ok = search->ok && add_affected(search->recipients, affected);
}

// Whether the path continues after the link, by a key or only by an operator.
static bool leads_on(const kvo_link *link) {
  const kvo_key_path *path = link->chain->path;
  return !kvo_link_is_last(link) || path->components[link->depth].operates;
}

// Whether another thread placed the link. A user's registration, which records its own thread, is not considered.
static bool is_placed_by_other_thread(const kvo_link *link) {
  return (link->parent || link->chain->derivation) && link->entry.thread != kvo_thread_number();
}

// Tells a link that the change begins. The elements that the change names are those of the changed key; in a batch other changes
// of the key may follow.
static void announce(search *search, kvo_link *link) {
  kvo_root *root = search->root;
  bool is_named = root->mutation.kind != KVO_SETTING && !root->last_serial &&
                  search->index == search->start && !search->path;
  kvo_link_announce_locked(link, is_named ? &root->delta : NULL);
}

static void find_link(search *search, kvo_link *link) {
  const kvo_chain *chain = link->chain;
  bool by_other_thread = search->by_other_thread || is_placed_by_other_thread(link);
  bool is_behind = search->is_behind || kvo_open_links_are_before_locked(link, search->propagation);
  if (!kvo_link_is_last(link)) {
    search->leads_on = true;
    if (search->links) search->ok = search->ok && add_link(search->links, link);
    else if (!search->read) announce(search, link);
  }
  if (chain->derivation) find_derived(search, chain->derivation, by_other_thread, is_behind);
  else if (chain->first && !kvo_thread_is_reading(chain->root, (uintptr_t)chain))
    find_member(search, &chain->first->entry, leads_on(link), by_other_thread, is_behind);
}

static void find_entry(search *search, kvo_registration *entry) {
  if (!entry || entry->state != KVO_LIVE) return;
  kvo_link *link = kvo_link_of(entry);
  if (link) find_link(search, link);
  else find_member(search, entry, false, search->by_other_thread, search->is_behind);
}

// A seat cannot be retained, so it is promoted to a full registration first.
static bool find_seat(search *search, kvo_object *object, uintptr_t id) {
  kvo_cell *cell = kvo_table_find(kvo_table_of(object), id);
  if (!kvo_cell_promote_locked(cell)) return false;
  find_entry(search, kvo_observers_registration(cell->observers));
  return search->ok;
}

static void look_at_locked(search *search, kvo_observers observers) {
  kvo_derivation *derivation = kvo_observers_derivation(observers);
  if (derivation && derivation->stamp != search->stamp && !is_being_read(derivation)) {
    derivation->stamp = search->stamp;
    find_tracked(search, derivation);
  }
  if (!kvo_observers_is_list(observers)) {
    find_entry(search, kvo_observers_registration(observers));
    return;
  }
  kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = 0; i < list->count; i++) find_entry(search, list->items[i]);
}

static int compare_members(const void *a, const void *b) {
  uint64_t left = ((const kvo_member *)a)->serial, right = ((const kvo_member *)b)->serial;
  return (left > right) - (left < right);
}

static int compare_affected(const void *a, const void *b) {
  const kvo_affected *left = a, *right = b;
  int order = strcmp(left->key, right->key);
  return order ? order : (left->serial > right->serial) - (left->serial < right->serial);
}

// Sorts the members of one key, which usually are in order already.
static void sort_members(kvo_recipients *recipients, uint32_t start) {
  bool sorted = true;
  for (uint32_t i = start + 1; sorted && i < recipients->member_count; i++)
    sorted = compare_members(&recipients->members[i - 1], &recipients->members[i]) < 0;
  if (sorted) return;
  qsort(recipients->members + start, recipients->member_count - start, sizeof *recipients->members,
      compare_members);
  index_from(recipients, start);
}

static void look_at_key(search *search, kvo_object *object, uintptr_t id) {
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_object_share_locked(object); // its observers are going to be called
  kvo_observers observers = kvo_object_observers_locked(object, id);
  if (kvo_observers_is_seat(observers)) search->ok = find_seat(search, object, id) && search->ok;
  else if (observers) look_at_locked(search, observers);
}

// Observers of tracked paths belong to the current level; keys derived from those paths belong to the next one.
static void look_at_paths(search *search) {
  while (search->pending) {
    search->path = search->pending;
    search->pending = search->path->pending;
    search->by_other_thread = search->path->by_other_thread;
    search->is_behind = search->path->is_behind;
    look_at_key(search, search->path->object, search->path->accessors->id);
  }
  search->path = NULL;
}

static void look_at(search *search, uint32_t index) {
  const kvo_affected affected = search->recipients->affected[index];
  uint32_t start = search->recipients->member_count;
  search->index = index;
  search->by_other_thread = affected.by_other_thread;
  search->is_behind = affected.is_behind;
  look_at_key(search, affected.object, affected.id);
  look_at_paths(search);
  sort_members(search->recipients, start);
}

static void go_on(search *search) {
  kvo_recipients *recipients = search->recipients;
  uint32_t start = search->start;
  while (start < recipients->affected_count && search->ok) {
    uint32_t end = recipients->affected_count;
    for (uint32_t i = start; i < end; i++) look_at(search, i);
    if (recipients->affected_count - end > 1)
      qsort(recipients->affected + end, recipients->affected_count - end,
          sizeof *recipients->affected, compare_affected);
    start = end;
  }
}

KVO_INLINE bool find_locked(search *search, kvo_object *object) {
  kvo_affected changed = {.object = object,
      .operations = kvo_class_of(object)->operations,
      .id = search->root->id,
      .root = search->root,
      .tracked = KVO_NO_PLACE};
  search->ok = true;
  search->start = search->recipients->affected_count;
  search->stamp = kvo_graph_next_stamp_locked();
  if (!add_affected(search->recipients, changed)) return false;
  go_on(search);
  return search->ok;
}

bool kvo_recipients_find_before(kvo_propagation *propagation, kvo_object *object, kvo_root *root) {
  search search = {.propagation = propagation, .recipients = &propagation->before, .root = root};
  KVO_LOCKED(&kvo_graph_lock);
  bool ok = find_locked(&search, object);
  if (ok && search.leads_on) kvo_open_links_add_locked(propagation);
  return ok;
}

bool kvo_recipients_find_after(kvo_propagation *propagation, kvo_object *object, kvo_root *root,
    bool is_again) {
  search search = {.propagation = propagation,
      .recipients = &propagation->after,
      .before = propagation->has_before ? &propagation->before : NULL,
      .links = is_again ? NULL : &propagation->links,
      .read = is_again ? &propagation->links : NULL,
      .root = root};
  KVO_LOCKED(&kvo_graph_lock);
  if (propagation->slot) kvo_open_links_remove_locked(propagation);
  return find_locked(&search, object);
}

// MARK: A known recipient

static kvo_value take_old(kvo_frame *frame) {
  frame->flags &= (uint16_t)~KVO_FRAME_HAS_OLD;
  return frame->old_value;
}

static bool adopt_derived(kvo_recipients *recipients, kvo_frame *frame, const kvo_chain *chain,
    kvo_registration *recipient) {
  const kvo_affected derived = {.object = chain->root,
      .operations = chain->operations,
      .id = chain->accessors->id,
      .key = chain->accessors->key,
      .tracked = KVO_NO_PLACE};
  const kvo_member member = {.registration = recipient,
      .affected = 1,
      .is_whole = true,
      .tracked = KVO_NO_PLACE,
      .was_place = KVO_NO_PLACE};
  if (!add_affected(recipients, derived) || !add_member(recipients, member)) return false;
  kvo_affected *added = &recipients->affected[1];
  added->is_read = frame->flags & KVO_FRAME_HAS_OLD;
  if (added->is_read) added->value = take_old(frame);
  return true;
}

// Adds the only member, which takes over the frame's old value.
static bool adopt_member(kvo_recipients *recipients, kvo_frame *frame, kvo_member member) {
  member.tracked = member.was_place = KVO_NO_PLACE;
  member.is_read = frame->flags & KVO_FRAME_HAS_OLD;
  if (!add_member(recipients, member)) return false;
  if (member.is_read) recipients->members[0].value = take_old(frame);
  return true;
}

static bool adopt_path(kvo_recipients *recipients, kvo_frame *frame, const kvo_chain *chain,
    kvo_registration *recipient) {
  if (!chain->first || &chain->first->entry != recipient) return true; // it has ended
  return adopt_member(recipients, frame, (kvo_member){.registration = recipient});
}

static bool has_item(kvo_observers observers, const kvo_registration *sought) {
  if (!kvo_observers_is_list(observers)) return kvo_observers_single(observers) == sought;
  const kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i] == sought) return true;
  return false;
}

// The derivation of a tracked path, or NULL if the registration that was found before the change has ended. A
// registration at the same address may be a newer one, so the serial number is checked as well.
static kvo_derivation *derivation_of(const kvo_route *route, const kvo_frame *frame,
    const kvo_registration *recipient) {
  kvo_object *origin = route->steps[0].object;
  KVO_LOCKED_OBJECTS(origin, NULL);
  kvo_observers observers = kvo_object_observers_locked(origin, route->accessors->id);
  bool is_there =
      observers && has_item(observers, recipient) && !kvo_registration_is_late(recipient, frame);
  return is_there ? kvo_observers_derivation(observers) : NULL;
}

static bool adopt_route(kvo_recipients *recipients, kvo_frame *frame, const kvo_route *route,
    kvo_registration *recipient) {
  kvo_derivation *derivation = derivation_of(route, frame, recipient);
  if (!derivation) return true; // it has ended
  const kvo_member member = {.registration = recipient,
      .serial = kvo_registration_serial(recipient),
      .thread = kvo_registration_thread(recipient),
      .path = derivation,
      .is_whole = true};
  return adopt_member(recipients, frame, member);
}

bool kvo_recipients_adopt(kvo_recipients *recipients, kvo_frame *frame, const kvo_chain *chain,
    kvo_registration *recipient) {
  const kvo_affected changed = {.object = frame->object,
      .operations = kvo_class_of(frame->object)->operations,
      .id = frame->id,
      .tracked = KVO_NO_PLACE};
  KVO_LOCKED(&kvo_graph_lock);
  if (!add_affected(recipients, changed)) return false;
  if (chain->is_tracked) return adopt_route(recipients, frame, chain->route, recipient);
  return chain->derivation ? adopt_derived(recipients, frame, chain, recipient)
                           : adopt_path(recipients, frame, chain, recipient);
}
