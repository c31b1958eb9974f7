// Finds the recipients of a change, breadth first from the changed key to the keys derived from it (D13, F2).
//
// The derived keys of one level are sorted by name, and those of one name by when they were first watched. The
// observers of one key are in the order of registration; a node has the position of the registration that it serves.
// Each key is found once, by the stamp of this search, and so is each registration, by a hash index once there are
// many members. The observers of a tracked path are among those of the property that changed, like those of a path of
// keys.
//
// A registration that another open change will notify is *left* to that change. That is the case if the change which
// searches is made *behind* the other one on the registration's path (open_path_changes.c), or if the registration
// observes what is *held* by an in-place mutation (in_place.c). The search adds it all the same, as a member that
// `is_behind`: the change skips it. In the set of the other change it `is_owed`.
//
// Functions named `reach_…` add to the set what the search has come to, or merge it with what is there.
//
// The graph lock is held throughout, and an object's lock while its observers are looked at. Nothing is read from
// objects here.
#include "delivery/kvo_general_delivery.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "base/kvo_word_hash.h"
#include "graph/kvo_path_cache.h"

#include <stdlib.h>
#include <string.h>

enum { INLINE_DIRTY_KEYS = 2, INLINE_PENDING = 3 };
_Static_assert(sizeof((kvo_recipients){0}.inline_dirty_keys) ==
                       INLINE_DIRTY_KEYS * sizeof(kvo_dirty_key) &&
                   sizeof((kvo_recipients){0}.inline_pending) ==
                       INLINE_PENDING * sizeof(kvo_pending_notification),
    "the room in place");

// Copies a full array, whose first items may be stored inline, to one with room for twice as many, and at least four.
// Returns NULL, with the old array unchanged, if out of memory.
static void *recipients_grown(void *items, const void *in_place, size_t count, size_t size) {
  size_t room = (count ? count : 2) * 2;
  void *copy = kvo_alloc(room * size);
  if (!copy) return NULL;
  if (count) memcpy(copy, items, count * size);
  if (items != in_place) kvo_free(items);
  return copy;
}

// MARK: Index

enum { MOST_WITHOUT_INDEX = 8 };

static kvo_recipient_index_entry *recipients_index_entry(const kvo_recipients *recipients,
    const kvo_registration *registration) {
  uint32_t i = (uint32_t)(kvo_hash_pointer(registration) >> 32);
  for (;; i++) {
    kvo_recipient_index_entry *found = &recipients->index[i & recipients->index_mask];
    if (!found->registration || found->registration == registration) return found;
  }
}

static uint32_t recipients_index_of(const kvo_recipients *recipients,
    const kvo_registration *registration) {
  if (recipients->index) {
    const kvo_recipient_index_entry *found = recipients_index_entry(recipients, registration);
    return found->registration ? found->position : KVO_NO_INDEX;
  }
  for (uint32_t i = 0; i < recipients->pending_count; i++)
    if (recipients->pending[i].registration == registration) return i;
  return KVO_NO_INDEX;
}

static void index_from(kvo_recipients *recipients, uint32_t start) {
  for (uint32_t i = start; recipients->index && i < recipients->pending_count; i++)
    *recipients_index_entry(recipients, recipients->pending[i].registration) =
        (kvo_recipient_index_entry){recipients->pending[i].registration, i};
}

static kvo_recipient_index_entry *recipients_make_index(uint32_t room) {
  return kvo_alloc_zeroed(room * sizeof(kvo_recipient_index_entry));
}

static void exchange_index(kvo_recipients *recipients, kvo_recipient_index_entry *index,
    uint32_t room) {
  kvo_free(recipients->index);
  recipients->index = index;
  recipients->index_mask = room - 1;
  index_from(recipients, 0);
}

// The index has at least twice as many slots as there are members.
static bool enlarge_index(kvo_recipients *recipients) {
  uint32_t room = MOST_WITHOUT_INDEX * 4;
  while (room < recipients->pending_count * 2) room *= 2;
  uint64_t shortages = kvo_shortages;
  kvo_recipient_index_entry *larger = recipients_make_index(room);
  kvo_shortages = shortages; // not an error: all are notified without the index
  if (larger) exchange_index(recipients, larger, room);
  return larger;
}

// Adds the newest member to the index. If memory for a larger index is out, the old one is used while it has a free
// slot. After that members are searched linearly.
static void index_newest(kvo_recipients *recipients) {
  uint32_t count = recipients->pending_count,
           room = recipients->index ? recipients->index_mask + 1 : 0;
  bool is_large_enough = count * 2 <= room;
  if (count <= MOST_WITHOUT_INDEX || (!is_large_enough && enlarge_index(recipients))) return;
  if (count < room) index_from(recipients, count - 1);
  else if (room) exchange_index(recipients, NULL, 0);
}

// MARK: Arrays

static bool add_dirty_key(kvo_recipients *recipients, kvo_dirty_key dirty) {
  uint32_t count = recipients->dirty_key_count;
  if (count == recipients->dirty_key_capacity) {
    kvo_dirty_key *larger = recipients_grown(recipients->dirty_keys, recipients->inline_dirty_keys,
        count, sizeof dirty);
    if (!larger) return false;
    recipients->dirty_keys = larger;
    recipients->dirty_key_capacity = count * 2;
  }
  dirty.operations->unowned_retain(dirty.object);
  recipients->dirty_keys[recipients->dirty_key_count++] = dirty;
  return true;
}

static bool add_pending(kvo_recipients *recipients, kvo_pending_notification pending) {
  uint32_t count = recipients->pending_count;
  if (count == recipients->pending_capacity) {
    kvo_pending_notification *larger =
        recipients_grown(recipients->pending, recipients->inline_pending, count, sizeof pending);
    if (!larger) return false;
    recipients->pending = larger;
    recipients->pending_capacity = count * 2;
  }
  kvo_registration_retain(pending.registration);
  if (pending.path) kvo_dependent_key_retain(pending.path);
  recipients->pending[recipients->pending_count++] = pending;
  index_newest(recipients);
  return true;
}

static bool add_tracked(kvo_path_nodes *nodes, kvo_dependent_key *dependent_key) {
  if (nodes->tracked_count == nodes->tracked_capacity) {
    size_t count = nodes->tracked_count;
    kvo_tracked *larger = recipients_grown(nodes->tracked, NULL, count, sizeof *larger);
    if (!larger) return false;
    nodes->tracked = larger;
    nodes->tracked_capacity = count ? count * 2 : 4;
  }
  dependent_key->index = (uint32_t)nodes->tracked_count;
  nodes->tracked[nodes->tracked_count++] =
      (kvo_tracked){kvo_dependent_key_retain(dependent_key), {.is_read = false}};
  return true;
}

static bool add_node(kvo_path_nodes *nodes, kvo_path_node *node) {
  if (nodes->count == nodes->capacity) {
    kvo_path_node **larger = recipients_grown(nodes->items, NULL, nodes->count, sizeof *larger);
    if (!larger) return false;
    nodes->items = larger;
    nodes->capacity = nodes->count ? nodes->count * 2 : 4;
  }
  kvo_registration_retain(&node->entry);
  nodes->items[nodes->count++] = node;
  return true;
}

void kvo_recipients_init(kvo_recipients *recipients) {
  recipients->index = NULL;
  recipients->dirty_keys = recipients->inline_dirty_keys;
  recipients->pending = recipients->inline_pending;
  recipients->dirty_key_count = recipients->pending_count = 0;
  recipients->has_due = false;
  recipients->dirty_key_capacity = INLINE_DIRTY_KEYS;
  recipients->pending_capacity = INLINE_PENDING;
}

// May be called again if an object that dies with a value throws. Each count is lowered last, so the interrupted step
// is repeated, with a value that is nil by then.
static void destroy_from(kvo_recipients *recipients, uint32_t dirty_key_count,
    uint32_t member_count) {
  for (; recipients->dirty_key_count > dirty_key_count; recipients->dirty_key_count--) {
    kvo_dirty_key *dirty = &recipients->dirty_keys[recipients->dirty_key_count - 1];
    if (dirty->is_read) kvo_value_destroy(&dirty->value);
    dirty->operations->unowned_release(dirty->object);
  }
  for (; recipients->pending_count > member_count; recipients->pending_count--) {
    kvo_pending_notification *pending = &recipients->pending[recipients->pending_count - 1];
    if (pending->is_read) kvo_value_destroy(&pending->value);
    kvo_dependent_key_release(pending->path);
    kvo_registration_release(pending->registration);
  }
}

void kvo_recipients_shorten(kvo_recipients *recipients, uint32_t dirty_key_count,
    uint32_t member_count) {
  destroy_from(recipients, dirty_key_count, member_count);
  if (!recipients->index) return;
  memset(recipients->index, 0, (recipients->index_mask + 1) * sizeof *recipients->index);
  index_from(recipients, 0);
}

void kvo_recipients_destroy(kvo_recipients *recipients) {
  destroy_from(recipients, 0, 0);
  if (recipients->dirty_keys != recipients->inline_dirty_keys) kvo_free(recipients->dirty_keys);
  if (recipients->pending != recipients->inline_pending) kvo_free(recipients->pending);
  kvo_free(recipients->index);
  kvo_recipients_init(recipients);
}

void kvo_path_nodes_destroy(kvo_path_nodes *nodes) {
  while (nodes->count) kvo_registration_release(&nodes->items[--nodes->count]->entry);
  for (; nodes->tracked_count; nodes->tracked_count--) {
    kvo_tracked *tracked = &nodes->tracked[nodes->tracked_count - 1];
    kvo_read_result_destroy(&tracked->result);
    kvo_dependent_key_release(tracked->dependent_key);
  }
  kvo_free(nodes->items);
  kvo_free(nodes->tracked);
  *nodes = (kvo_path_nodes){0};
}

// MARK: The search

typedef struct {
  kvo_recipients *recipients;   // the set to be filled
  const kvo_recipients *before; // after the change: the recipients from before it
  kvo_path_nodes *collected;    // first search after the change: where to add what must be followed
  const kvo_path_nodes *followed; // second one: what the first one collected, followed by now
  kvo_changed_key *changed_key;
  kvo_general_delivery *general_delivery; // of the change that searches
  bool leads_on;                          // a path continues from a key that was found
  // How the current key or path was reached, as in kvo_dirty_key.
  bool is_led;
  uint64_t behind;
  uint64_t stamp; // marks the dependent keys that this search has reached
  // The keys with a stamp from this one on, up to the search's own, are held; 0 if no key is.
  uint64_t held_since;
  bool has_open;                // the thread has changes open to which recipients may be left
  bool has_left;                // a recipient has been left to another change
  bool is_extending;            // only finds what an open change reaches now
  uint32_t changed;             // index of the changed key among the dirty keys
  uint32_t first_added;         // index of the first member that this search has added
  uint32_t current;             // index of the dirty key whose observers are searched
  kvo_dependent_key *path;      // the tracked path whose observers are searched instead
  kvo_dependent_key *next_path; // tracked paths found at that key, linked by `next_path`
  bool ok;
} search;

// The key's index among the tracked keys that were read for this change. KVO_NO_INDEX if a thread has tracked the key
// since then, or is tracking it now: that thread has the newer value.
static uint32_t index_of_tracked(const search *search, const kvo_dependent_key *dependent_key) {
  const kvo_path_nodes *followed = search->followed;
  uint32_t index = dependent_key->index; // perhaps that of another change's search
  if (!followed || !dependent_key->is_tracked || index >= followed->tracked_count)
    return KVO_NO_INDEX;
  const kvo_tracked *tracked = &followed->tracked[index];
  bool is_current = tracked->dependent_key == dependent_key && tracked->result.is_read &&
                    tracked->result.ticket == dependent_key->issued;
  return is_current ? index : KVO_NO_INDEX;
}

// The member of an open change, or of what it has reached since it began; NULL if it is in neither.
static kvo_pending_notification *find_member(kvo_general_delivery *delivery,
    const kvo_registration *registration) {
  kvo_recipients *recipients = &delivery->before;
  uint32_t index = recipients_index_of(recipients, registration);
  if (index == KVO_NO_INDEX && delivery->newer) {
    recipients = delivery->newer;
    index = recipients_index_of(recipients, registration);
  }
  return index == KVO_NO_INDEX ? NULL : &recipients->pending[index];
}

bool kvo_recipients_leave_to_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration, bool also_behind) {
  kvo_pending_notification *member = find_member(delivery, registration);
  if (!member || (member->is_behind && !also_behind)) return false;
  member->is_newer = member->is_behind; // nothing was read for it when the change began
  member->is_owed = delivery->notifies_for_others = true;
  if (delivery->is_batch) kvo_open_path_changes_add_locked(delivery);
  return true;
}

bool kvo_recipients_contain_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration) {
  return find_member(delivery, registration);
}

bool kvo_recipients_was_left_to_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration) {
  if (!delivery->notifies_for_others) return false;
  const kvo_pending_notification *member = find_member(delivery, registration);
  return member && member->is_owed;
}

// Lets an open change of a node stand for a change behind the node: the open one notifies the registration even if it
// is cancelled. It owes no more than that: if the path is led elsewhere before the open change ends, the change that
// leads it there notifies (G5).
static bool let_stand_for(kvo_general_delivery *open, const kvo_registration *registration) {
  if (open->is_batch) return kvo_recipients_leave_to_locked(open, registration, false);
  kvo_pending_notification *member = find_member(open, registration);
  if (!member || member->is_behind) return false;
  member->stands_for_others = open->notifies_for_others = true;
  return true;
}

// Leaves the registration to the open change of a node behind which it was reached, if there is one. A batch to which
// it was left before gets all further changes of it until the batch ends.
static bool leave_to_open(const search *search, const kvo_registration *registration,
    uint64_t behind) {
  kvo_general_delivery *open = NULL;
  while ((open = kvo_open_path_changes_next_locked(open))) {
    if (open == search->general_delivery) continue;
    if (behind & open->bit && let_stand_for(open, registration)) return true;
    if (open->is_batch && kvo_recipients_was_left_to_locked(open, registration)) return true;
  }
  return false;
}

// Leaves the registration to another open change. These are asked in turn: in-place mutations that had it among their
// recipients when they began; changes of nodes; mutations that have come to reach it since, or left it to another
// change.
static bool leave_to_other_change(const search *search, const kvo_registration *registration,
    uint64_t behind) {
  const kvo_general_delivery *searching = search->general_delivery;
  if (search->held_since && kvo_in_place_leave_locked(registration, searching, false)) return true;
  return leave_to_open(search, registration, behind) ||
         (search->held_since && kvo_in_place_leave_locked(registration, searching, true));
}

// Leaves the registration to another change, if one will notify it. False if none will.
KVO_INLINE bool try_leave(search *search, const kvo_registration *registration, uint64_t behind) {
  if (KVO_LIKELY(!search->has_open) || !leave_to_other_change(search, registration, behind))
    return false;
  search->has_left = true;
  return true;
}

// Decides again whether a member is left to another change, because another way leads to it than the one by which it
// was found behind an open change, in this search or in that for an earlier key of a batch. A member that is newer than
// the change stays behind, because nothing has been read for it.
static __attribute__((noinline)) void reconsider_behind(search *search,
    kvo_pending_notification *known, uint64_t behind) {
  if (known->is_newer) return;
  known->behind &= behind;
  known->is_behind = try_leave(search, known->registration, known->behind);
  bool was_added_earlier = known - search->recipients->pending < search->first_added;
  known->is_due = was_added_earlier && !known->is_behind;
  search->recipients->has_due |= known->is_due;
}

// Whether a batch searches before a change, and an in-place mutation that is part of the same batch holds what the
// registration observes.
static bool is_held_within_own_batch(const search *search, const kvo_registration *registration) {
  if (KVO_LIKELY(!search->held_since)) return false;
  kvo_general_delivery *delivery = search->general_delivery;
  bool is_before = search->recipients == &delivery->before;
  return is_before && delivery->newer &&
         recipients_index_of(delivery->newer, registration) != KVO_NO_INDEX;
}

// Merges another way to a member with what is known of it.
static void reach_again(search *search, kvo_pending_notification *known, bool is_whole, bool is_led,
    uint64_t behind) {
  if (search->current == search->changed && is_whole) known->is_whole = true;
  known->is_led &= is_led;
  if (KVO_UNLIKELY(known->is_behind)) reconsider_behind(search, known, behind);
  known->is_within |= known->serial <= search->changed_key->last_serial;
}

static void reach_registration(search *search, kvo_registration *registration, bool is_whole,
    bool is_led, uint64_t behind) {
  uint32_t index = recipients_index_of(search->recipients, registration);
  if (index != KVO_NO_INDEX) {
    reach_again(search, &search->recipients->pending[index], is_whole, is_led, behind);
    return;
  }
  if (search->is_extending && find_member(search->general_delivery, registration)) return;
  bool is_owed = is_held_within_own_batch(search, registration);
  if (is_owed) search->general_delivery->notifies_for_others = true;
  bool is_newer = is_owed || search->is_extending;
  kvo_pending_notification pending = {.registration = registration,
      .serial = kvo_registration_serial(registration),
      .thread = kvo_registration_thread(registration),
      .path = search->path,
      .dirty_key = search->current,
      .tracked = search->path ? index_of_tracked(search, search->path) : KVO_NO_INDEX,
      .is_whole = is_whole || search->current > search->changed || search->path,
      .is_led = is_led,
      .behind = behind,
      .is_behind = is_newer || try_leave(search, registration, behind),
      .is_newer = is_newer,
      .is_owed = is_owed,
      .is_within = kvo_registration_serial(registration) <= search->changed_key->last_serial,
      .index_before =
          search->before ? recipients_index_of(search->before, registration) : KVO_NO_INDEX};
  search->ok = search->ok && add_pending(search->recipients, pending);
}

// Whether what was found behind an open change is left unread, because it may lead to a property that is being mutated
// in place. The change of that property reads it.
static bool is_unreadable(const search *search, uint64_t behind) {
  return KVO_UNLIKELY(behind) && search->held_since;
}

// Stamps rise. Those from `held_since` on that are not this search's own were set by the searches from properties that
// are being mutated. When this search stamps a key, it keeps the answer in the key.
static bool is_held(const search *search, const kvo_dependent_key *dependent_key) {
  if (KVO_LIKELY(!search->held_since)) return false;
  return dependent_key->stamp == search->stamp ? dependent_key->is_held
                                               : dependent_key->stamp >= search->held_since;
}

static void mark_reached(const search *search, kvo_dependent_key *dependent_key, uint64_t behind) {
  dependent_key->is_held = is_held(search, dependent_key);
  dependent_key->behind = behind | (dependent_key->is_held ? KVO_HELD : 0);
  dependent_key->stamp = search->stamp;
}

static void collect_tracked(search *search, kvo_dependent_key *dependent_key) {
  if (search->collected && dependent_key->is_tracked &&
      !is_unreadable(search, dependent_key->behind))
    search->ok = search->ok && add_tracked(search->collected, dependent_key);
}

// A getter may set the properties that it reads. That does not count as a change of the key being read, or the
// reading would never end.
static bool is_being_read(const kvo_dependent_key *dependent_key) {
  return kvo_thread_is_reading(dependent_key->object, dependent_key->accessors->id);
}

// Changes that the setter of a derived key makes to other keys are part of the derived key's own change, and join it
// (D6, F2).
static bool joins_own_change(const kvo_dependent_key *dependent_key) {
  const kvo_thread *thread = kvo_this_thread;
  return thread &&
         kvo_thread_join_open(thread, dependent_key->object, dependent_key->accessors->id);
}

static void add_derived_key(search *search, const kvo_dependent_key *dependent_key,
    uint64_t behind) {
  kvo_dirty_key dirty = {.object = dependent_key->object,
      .operations = dependent_key->operations,
      .id = dependent_key->accessors->id,
      .key = dependent_key->accessors->key,
      .serial = dependent_key->serial,
      .tracked = index_of_tracked(search, dependent_key),
      .is_led = dependent_key->is_led,
      .behind = behind};
  search->ok = search->ok && add_dirty_key(search->recipients, dirty);
}

// A key that was reached behind an open change, or through a node that a change has placed, and is now reached by a way
// without that, is searched again: its observers get this change after all, or are not taken for late.
static void reach_dependent_key(search *search, kvo_dependent_key *dependent_key, bool is_led,
    uint64_t behind) {
  bool was_reached = dependent_key->stamp == search->stamp;
  bool is_less_behind = dependent_key->behind & ~behind;
  bool is_less_led = dependent_key->is_led && !is_led;
  if (was_reached && !is_less_behind && !is_less_led) return;
  if (is_being_read(dependent_key) || joins_own_change(dependent_key)) return;
  bool is_uncollected = !was_reached || is_unreadable(search, dependent_key->behind);
  if (was_reached) {
    behind &= dependent_key->behind;
    is_led &= dependent_key->is_led;
  }
  mark_reached(search, dependent_key, behind);
  dependent_key->is_led = is_led;
  if (is_uncollected) collect_tracked(search, dependent_key);
  const kvo_property_description *property = dependent_key->accessors->property;
  if (dependent_key->is_tracked && (property->is_path || property->has_link))
    search->leads_on = true;
  if (dependent_key->is_tracked && property->is_path) {
    dependent_key->next_path = search->next_path;
    search->next_path = dependent_key;
  } else {
    add_derived_key(search, dependent_key, behind);
  }
}

// Whether the path's value is another one than that of the node's key: the path continues after the node, or has an
// operator.
static bool path_has_other_value(const kvo_path_node *node) {
  const kvo_key_path *path = node->observation->path;
  bool has_operator = false;
  for (size_t i = 0; i <= node->depth; i++) has_operator |= path->components[i].operates;
  return !kvo_path_node_is_last(node) || has_operator;
}

// Whether a change or another thread placed the node. A path's first node is the user's registration, which records its
// own thread and is judged by that (general_delivery.c).
static bool is_led_by_node(const kvo_path_node *node) {
  if (!node->parent && !node->observation->dependent_key) return false;
  return node->is_led || node->entry.thread != kvo_thread_number();
}

// Announces the change to a node. The elements that the change names are those of the changed key; in a batch other
// changes of the key may follow.
static void recipients_announce(search *search, kvo_path_node *node) {
  kvo_changed_key *changed_key = search->changed_key;
  bool is_named = changed_key->mutation.kind != KVO_SETTING && !changed_key->last_serial &&
                  search->current == search->changed && !search->path;
  kvo_path_node_announce_locked(node, is_named ? &changed_key->delta : NULL);
}

static void reach_node(search *search, kvo_path_node *node) {
  const kvo_path_observation *observation = node->observation;
  bool is_led = search->is_led || is_led_by_node(node);
  uint64_t behind =
      search->behind | kvo_open_path_changes_before_locked(node, search->general_delivery);
  if (!kvo_path_node_is_last(node)) {
    search->leads_on = true;
    bool must_follow = search->collected && !is_unreadable(search, search->behind);
    bool is_before_change = !search->collected && !search->followed && !search->is_extending;
    if (must_follow) search->ok = search->ok && add_node(search->collected, node);
    else if (is_before_change) recipients_announce(search, node);
  }
  kvo_dependent_key *derived = observation->dependent_key;
  if (derived) {
    reach_dependent_key(search, derived, is_led,
        behind | (is_held(search, derived) ? KVO_HELD : 0));
  } else if (observation->first &&
             !kvo_thread_is_reading(observation->root, (uintptr_t)observation)) {
    reach_registration(search, &observation->first->entry, path_has_other_value(node), is_led,
        behind);
  }
}

static void reach_entry(search *search, kvo_registration *entry) {
  if (!entry || entry->state != KVO_LIVE) return;
  kvo_path_node *node = kvo_path_node_of(entry);
  if (node) reach_node(search, node);
  else reach_registration(search, entry, false, search->is_led, search->behind);
}

// A group key cannot be retained, so it is promoted to a full registration first.
static bool reach_group_key(search *search, kvo_object *object, uintptr_t id) {
  kvo_cell *cell = kvo_table_find(kvo_table_of(object), id);
  if (!kvo_cell_promote_locked(cell)) return false;
  reach_entry(search, kvo_observers_registration(cell->observers));
  return search->ok;
}

static void search_observers_locked(search *search, kvo_observers observers) {
  kvo_dependent_key *dependent_key = kvo_observers_dependent_key(observers);
  if (dependent_key && dependent_key->stamp != search->stamp && !is_being_read(dependent_key)) {
    mark_reached(search, dependent_key, 0);
    collect_tracked(search, dependent_key);
  }
  if (!kvo_observers_is_list(observers)) {
    reach_entry(search, kvo_observers_registration(observers));
    return;
  }
  kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = 0; i < list->count; i++) reach_entry(search, list->items[i]);
}

static int compare_pending(const void *a, const void *b) {
  const kvo_pending_notification *left = a, *right = b;
  if (left->dirty_key != right->dirty_key) return left->dirty_key < right->dirty_key ? -1 : 1;
  return (left->serial > right->serial) - (left->serial < right->serial);
}

static int compare_dirty_keys(const void *a, const void *b) {
  const kvo_dirty_key *left = a, *right = b;
  int order = strcmp(left->key, right->key);
  return order ? order : (left->serial > right->serial) - (left->serial < right->serial);
}

// Sorts the members from `start` on by their keys, and those of one key by registration. Usually they are in order.
static void sort_pending(kvo_recipients *recipients, uint32_t start) {
  bool sorted = true;
  for (uint32_t i = start + 1; sorted && i < recipients->pending_count; i++)
    sorted = compare_pending(&recipients->pending[i - 1], &recipients->pending[i]) < 0;
  if (sorted) return;
  qsort(recipients->pending + start, recipients->pending_count - start, sizeof *recipients->pending,
      compare_pending);
  index_from(recipients, start);
}

static void search_key(search *search, kvo_object *object, uintptr_t id) {
  KVO_LOCKED_OBJECTS(object, NULL);
  kvo_object_share_locked(object); // its observers are going to be called
  kvo_observers observers = kvo_object_observers_locked(object, id);
  if (kvo_observers_is_group_key(observers))
    search->ok = reach_group_key(search, object, id) && search->ok;
  else if (observers) search_observers_locked(search, observers);
}

// Observers of tracked paths belong to the current level; keys derived from those paths belong to the next one.
static void search_paths(search *search) {
  while (search->next_path) {
    search->path = search->next_path;
    search->next_path = search->path->next_path;
    search->is_led = search->path->is_led;
    search->behind = search->path->behind;
    search_key(search, search->path->object, search->path->accessors->id);
  }
  search->path = NULL;
}

static void search_from(search *search, uint32_t index) {
  const kvo_dirty_key dirty = search->recipients->dirty_keys[index];
  uint32_t start = search->recipients->pending_count;
  search->current = index;
  search->is_led = dirty.is_led;
  search->behind = dirty.behind;
  search_key(search, dirty.object, dirty.id);
  search_paths(search);
  sort_pending(search->recipients, start);
}

static void search_levels(search *search) {
  kvo_recipients *recipients = search->recipients;
  uint32_t start = search->changed;
  while (start < recipients->dirty_key_count && search->ok) {
    uint32_t end = recipients->dirty_key_count;
    for (uint32_t i = start; i < end; i++) search_from(search, i);
    if (recipients->dirty_key_count - end > 1)
      qsort(recipients->dirty_keys + end, recipients->dirty_key_count - end,
          sizeof *recipients->dirty_keys, compare_dirty_keys);
    start = end;
  }
}

KVO_INLINE bool recipients_find_locked(search *search, kvo_object *object) {
  kvo_dirty_key changed = {.object = object,
      .operations = kvo_class_of(object)->operations,
      .id = search->changed_key->id,
      .changed_key = search->changed_key,
      .tracked = KVO_NO_INDEX};
  search->ok = true;
  search->changed = search->recipients->dirty_key_count;
  search->first_added = search->recipients->pending_count;
  search->stamp = kvo_graph_next_stamp_locked();
  if (!add_dirty_key(search->recipients, changed)) return false;
  search_levels(search);
  return search->ok;
}

// Notes whether other changes are open to which recipients may be left, and finds the keys that in-place mutations
// hold. False if there is no memory to find these, so that nothing may be read.
static bool note_open_changes_locked(search *search) {
  uint64_t stamp = kvo_in_place_newest ? kvo_graph_next_stamp_locked() : 0;
  bool is_open = false, ok = !stamp || kvo_in_place_hold_locked(&is_open);
  if (is_open) search->held_since = stamp;
  search->has_open = is_open || kvo_open_path_changes_next_locked(NULL);
  return ok;
}

bool kvo_recipients_find_before(kvo_general_delivery *delivery, kvo_object *object,
    kvo_changed_key *changed_key) {
  search search = {
      .general_delivery = delivery, .recipients = &delivery->before, .changed_key = changed_key};
  KVO_LOCKED(&kvo_graph_lock);
  bool ok = note_open_changes_locked(&search) && recipients_find_locked(&search, object);
  if (ok && (search.leads_on || search.has_left)) kvo_open_path_changes_add_locked(delivery);
  return ok;
}

// Adds to `before`, the members from when the change began, those that it has come to reach since and that another
// change has left to it.
static bool add_newer(kvo_recipients *before, kvo_recipients *newer) {
  for (uint32_t i = 0; i < newer->pending_count; i++) {
    kvo_pending_notification *pending = &newer->pending[i], added = *pending;
    bool is_there = recipients_index_of(before, pending->registration) != KVO_NO_INDEX;
    if (!pending->is_owed || is_there) continue;
    added.dirty_key = before->dirty_key_count;
    if (!add_dirty_key(before, newer->dirty_keys[pending->dirty_key])) return false;
    if (!add_pending(before, added)) return false;
    pending->is_read = false; // `before` has the value now
  }
  return true;
}

bool kvo_recipients_find_after(kvo_general_delivery *delivery, kvo_object *object,
    kvo_changed_key *changed_key, bool is_again) {
  search search = {.general_delivery = delivery,
      .recipients = &delivery->after,
      .before = delivery->has_before ? &delivery->before : NULL,
      .collected = is_again ? NULL : &delivery->nodes,
      .followed = is_again ? &delivery->nodes : NULL,
      .changed_key = changed_key};
  KVO_LOCKED(&kvo_graph_lock);
  kvo_open_path_changes_end_locked(delivery);
  if (delivery->newer && !add_newer(&delivery->before, delivery->newer)) return false;
  return note_open_changes_locked(&search) && recipients_find_locked(&search, object);
}

// MARK: Recipients that other changes have left

static kvo_recipients *make_newer(void) {
  kvo_recipients *newer = kvo_alloc(sizeof *newer);
  if (newer) kvo_recipients_init(newer);
  return newer;
}

// The members are in a set of their own: those that were found when the change began may be being read or called.
bool kvo_recipients_extend_locked(kvo_general_delivery *delivery, kvo_object *object,
    uintptr_t id) {
  kvo_recipients *newer = delivery->newer ? delivery->newer : make_newer();
  if (!newer) return false;
  delivery->newer = newer;
  uint32_t dirty_key_count = newer->dirty_key_count, count = newer->pending_count;
  kvo_changed_key changed_key = {.id = id};
  search search = {.general_delivery = delivery,
      .recipients = newer,
      .changed_key = &changed_key,
      .is_extending = true};
  bool ok = recipients_find_locked(&search, object);
  if (newer->dirty_key_count > dirty_key_count)
    newer->dirty_keys[dirty_key_count].changed_key = NULL; // it is this function's
  if (newer->pending_count == count) destroy_from(newer, dirty_key_count, count);
  return ok;
}

// The index in `after` of the dirty key of a member of `before`, if the member is there with the same key.
static uint32_t dirty_key_after(const kvo_recipients *after, const kvo_recipients *before,
    uint32_t index) {
  const kvo_pending_notification *member = &before->pending[index];
  const kvo_dirty_key *dirty = &before->dirty_keys[member->dirty_key];
  uint32_t position = recipients_index_of(after, member->registration);
  if (position == KVO_NO_INDEX) return KVO_NO_INDEX;
  uint32_t key = after->pending[position].dirty_key;
  const kvo_dirty_key *found = &after->dirty_keys[key];
  return found->object == dirty->object && found->id == dirty->id ? key : KVO_NO_INDEX;
}

// The index in `after` of this member's dirty key, if other members of that key are there. The search begins with the
// previous member, which usually has been added, so adding all members of a key is linear.
static uint32_t dirty_key_of_others(const kvo_recipients *after, const kvo_recipients *before,
    uint32_t index) {
  uint32_t key = before->pending[index].dirty_key, found = KVO_NO_INDEX;
  for (uint32_t i = index; found == KVO_NO_INDEX && i-- > 0 && before->pending[i].dirty_key == key;)
    found = dirty_key_after(after, before, i);
  for (uint32_t i = index + 1;
      found == KVO_NO_INDEX && i < before->pending_count && before->pending[i].dirty_key == key;
      i++)
    found = dirty_key_after(after, before, i);
  return found;
}

// Adds a member that other changes have left to this one, and that the search after the change has not reached. Nothing
// has been read for it. If other observers of its key were reached, it gets the value that is read for them.
static bool add_owed(kvo_recipients *after, const kvo_recipients *before, uint32_t index) {
  kvo_pending_notification owed = before->pending[index];
  kvo_dirty_key dirty = before->dirty_keys[owed.dirty_key];
  dirty.is_read = owed.is_read = owed.is_behind = false;
  dirty.changed_key = NULL;
  dirty.tracked = owed.tracked = KVO_NO_INDEX;
  owed.is_whole = true;
  owed.index_before = index;
  owed.dirty_key = dirty_key_of_others(after, before, index);
  if (owed.dirty_key != KVO_NO_INDEX) return add_pending(after, owed);
  owed.dirty_key = after->dirty_key_count;
  return add_dirty_key(after, dirty) && add_pending(after, owed);
}

void kvo_recipients_add_owed(kvo_general_delivery *delivery) {
  const kvo_recipients *before = &delivery->before;
  KVO_LOCKED(&kvo_graph_lock);
  for (uint32_t i = 0; delivery->notifies_for_others && i < before->pending_count; i++) {
    const kvo_pending_notification *pending = &before->pending[i];
    bool is_missing = pending->is_owed && (!pending->is_behind || pending->is_newer) &&
                      pending->registration->state == KVO_LIVE &&
                      recipients_index_of(&delivery->after, pending->registration) == KVO_NO_INDEX;
    if (is_missing && !add_owed(&delivery->after, before, i)) break;
  }
  sort_pending(&delivery->after, 0);
}

static bool take_value(kvo_pending_notification *pending, const kvo_value *value, bool has_prior) {
  uint32_t options = pending->registration->options;
  if (options & KVO_PRIOR && !has_prior) return false;
  bool needs_value = options & KVO_OLD;
  if (!value) return !needs_value;
  if (pending->is_read) return false;
  pending->value = *value;
  pending->is_read = true;
  return true;
}

bool kvo_recipients_take_value_locked(kvo_general_delivery *delivery,
    const kvo_registration *registration, const kvo_value *value, bool has_prior) {
  kvo_pending_notification *member = find_member(delivery, registration);
  bool is_waiting = member && member->is_behind && (!member->is_newer || member->is_owed);
  if (!is_waiting || !take_value(member, value, has_prior)) return false;
  member->is_behind = member->is_newer = false;
  return true;
}

// Gives the value to the newest of this task's open changes that still lacks it. False, without taking the value over,
// if there is none.
static bool hand_to_next(const kvo_registration *registration, const kvo_value *value,
    bool has_prior) {
  kvo_general_delivery *open = NULL;
  KVO_LOCKED(&kvo_graph_lock);
  while ((open = kvo_open_path_changes_next_locked(open)))
    if (kvo_recipients_take_value_locked(open, registration, value, has_prior)) return true;
  return kvo_in_place_take_value_locked(registration, value, has_prior);
}

// Each change that takes a value no longer waits for one, so the loop ends.
void kvo_recipients_hand_on(const kvo_registration *registration, const kvo_value *value,
    bool has_prior) {
  kvo_value copy;
  do {
    if (value && kvo_value_copy(&copy, value)) return;
  } while (hand_to_next(registration, value ? &copy : NULL, has_prior));
  if (value) kvo_value_destroy(&copy);
}

// MARK: A known recipient

static kvo_value take_old(kvo_frame *frame) {
  frame->flags &= ~(uint32_t)KVO_FRAME_HAS_OLD;
  return frame->old_value;
}

static bool init_with_dependent_key(kvo_recipients *recipients, kvo_frame *frame,
    const kvo_path_observation *observation, kvo_registration *recipient) {
  const kvo_dirty_key derived = {.object = observation->root,
      .operations = observation->operations,
      .id = observation->accessors->id,
      .key = observation->accessors->key,
      .tracked = KVO_NO_INDEX};
  const kvo_pending_notification pending = {.registration = recipient,
      .dirty_key = 1,
      .is_whole = true,
      .tracked = KVO_NO_INDEX,
      .index_before = KVO_NO_INDEX};
  if (!add_dirty_key(recipients, derived) || !add_pending(recipients, pending)) return false;
  kvo_dirty_key *added = &recipients->dirty_keys[1];
  added->is_read = frame->flags & KVO_FRAME_HAS_OLD;
  if (added->is_read) added->value = take_old(frame);
  return true;
}

// Adds the only member, which takes over the frame's old value.
static bool init_with_pending(kvo_recipients *recipients, kvo_frame *frame,
    kvo_pending_notification pending) {
  pending.tracked = pending.index_before = KVO_NO_INDEX;
  pending.is_read = frame->flags & KVO_FRAME_HAS_OLD;
  if (!add_pending(recipients, pending)) return false;
  if (pending.is_read) recipients->pending[0].value = take_old(frame);
  return true;
}

static bool init_with_path(kvo_recipients *recipients, kvo_frame *frame,
    const kvo_path_observation *observation, kvo_registration *recipient) {
  if (!observation->first || &observation->first->entry != recipient) return true; // it has ended
  return init_with_pending(recipients, frame,
      (kvo_pending_notification){.registration = recipient});
}

static bool has_item(kvo_observers observers, const kvo_registration *sought) {
  if (!kvo_observers_is_list(observers)) return kvo_observers_single(observers) == sought;
  const kvo_list *list = kvo_observers_list(observers);
  for (uint32_t i = 0; i < list->count; i++)
    if (list->items[i] == sought) return true;
  return false;
}

// The dependent key of a tracked path, or NULL if the registration that was found before the change has ended. A
// registration at the same address may be a newer one, so the serial number is checked as well.
static kvo_dependent_key *dependent_key_of(const kvo_path_cache *cache, const kvo_frame *frame,
    const kvo_registration *recipient) {
  kvo_object *origin = cache->steps[0].object;
  KVO_LOCKED_OBJECTS(origin, NULL);
  kvo_observers observers = kvo_object_observers_locked(origin, cache->accessors->id);
  bool is_there =
      observers && has_item(observers, recipient) && !kvo_registration_is_late(recipient, frame);
  return is_there ? kvo_observers_dependent_key(observers) : NULL;
}

static bool init_with_path_cache(kvo_recipients *recipients, kvo_frame *frame,
    const kvo_path_cache *cache, kvo_registration *recipient) {
  kvo_dependent_key *dependent_key = dependent_key_of(cache, frame, recipient);
  if (!dependent_key) return true; // it has ended
  const kvo_pending_notification pending = {.registration = recipient,
      .serial = kvo_registration_serial(recipient),
      .thread = kvo_registration_thread(recipient),
      .path = dependent_key,
      .is_whole = true};
  return init_with_pending(recipients, frame, pending);
}

bool kvo_recipients_init_with_locked(kvo_recipients *recipients, kvo_frame *frame,
    const kvo_path_observation *observation, kvo_registration *recipient) {
  const kvo_dirty_key changed = {.object = frame->object,
      .operations = kvo_class_of(frame->object)->operations,
      .id = frame->id,
      .tracked = KVO_NO_INDEX};
  if (!add_dirty_key(recipients, changed)) return false;
  if (observation->is_tracked)
    return init_with_path_cache(recipients, frame, observation->path_cache, recipient);
  return observation->dependent_key
             ? init_with_dependent_key(recipients, frame, observation, recipient)
             : init_with_path(recipients, frame, observation, recipient);
}
