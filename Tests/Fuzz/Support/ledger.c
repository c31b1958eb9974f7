#include "ledger.h"

#include "fuzz.h"

#include <string.h>

ledger fuzz_ledger;

static ledger_set bit(const ledger_entry *entry) {
  return (ledger_set)1 << (entry - fuzz_ledger.entries);
}

// Whether memory has run out. If the runtime has reported this as misuse, paths are no longer followed.
static bool is_short(void) {
  if (fuzz_misuses > fuzz_ledger.misuses) fuzz_ledger.is_short = true;
  return fuzz_ledger.is_short || fuzz_memory_is_out();
}

// MARK: Registrations

ledger_entry *ledger_add(ledger_entry entry) {
  if (fuzz_ledger.count == LEDGER_ROOM) return NULL;
  ledger_entry *added = &fuzz_ledger.entries[fuzz_ledger.count++];
  *added = entry;
  added->is_live = true;
  added->within = fuzz_ledger.top;
  added->is_being_made = entry.options & KVO_INITIAL;
  added->last = model_read(entry.object, entry.path);
  added->compared = ++fuzz_ledger.time;
  added->is_known = true;
  return added;
}

void ledger_added(ledger_entry *entry) {
  entry->is_being_made = false;
  if (is_short()) entry->is_unsure = true; // the value at registration may not have been kept
}

void ledger_end(ledger_entry *entry) {
  entry->is_live = false;
  for (size_t i = 0; i < fuzz_ledger.count && entry->group; i++)
    if (fuzz_ledger.entries[i].group == entry->group) fuzz_ledger.entries[i].is_live = false;
}

void ledger_end_of_node(const graph_node *node, bool also_as_observer) {
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (entry->object == node || (also_as_observer && entry->observer == node))
      entry->is_live = false;
  }
}

ledger_entry *ledger_find(const graph_node *object, const graph_node *observer, const char *path,
    void *const *context) {
  for (size_t i = fuzz_ledger.count; i-- > 0;) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (entry->is_live && entry->object == object && entry->observer == observer &&
        !strcmp(entry->path, path) && (!context || entry->context == *context))
      return entry;
  }
  return NULL;
}

// MARK: Changes

static bool is_stale(void) {
  for (const ledger_change *change = fuzz_ledger.top; change; change = change->outer)
    if (change->is_stale) return true;
  return false;
}

// Whether it is unknown which observers must be called.
static bool is_unsure(void) { return is_short() || is_stale(); }

static ledger_set reached(const graph_node *node, const char *key) {
  ledger_set all = 0;
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    if (entry->is_live && model_reaches(entry->object, entry->path, node, key)) all |= bit(entry);
  }
  return all;
}

// The open changes that notify the entry, because they reached it when they began.
static size_t covering(const ledger_entry *entry, model_place *places) {
  size_t count = 0;
  for (const ledger_change *open = fuzz_ledger.open; open; open = open->opened_before) {
    if (!(open->reached & bit(entry))) continue;
    FUZZ_REQUIRE(count < LEDGER_OPEN);
    places[count++] = (model_place){open->node, open->key};
  }
  return count;
}

// The entries that the change reaches only behind open changes of links, which notify them (G5).
static ledger_set reached_behind(const ledger_change *change, ledger_set all) {
  ledger_set behind = 0;
  model_place places[LEDGER_OPEN], changed = {change->node, change->key};
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    size_t count = all & bit(entry) ? covering(entry, places) : 0;
    if (count && !model_reaches_past(entry->object, entry->path, changed, places, count))
      behind |= bit(entry);
  }
  return behind;
}

bool ledger_has_observers(const graph_node *node, const char *key) { return reached(node, key); }

// The open automatic change of the same key, which this change joins, or NULL.
static ledger_change *joined_by(const ledger_change *change) {
  for (ledger_change *outer = fuzz_ledger.top; outer; outer = outer->outer)
    if (outer->is_automatic && outer->is_open && outer->node == change->node &&
        !strcmp(outer->key, change->key))
      return outer;
  return NULL;
}

static void read_all(const ledger_change *change, model_value *values) {
  for (size_t i = 0; i < change->known; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    if (entry->is_live) values[i] = model_read(entry->object, entry->path);
  }
}

void ledger_begin(ledger_change *change) {
  ledger_change *joined = joined_by(change);
  if (joined && model_leads_on(change->key)) joined->is_stale = true;
  change->is_stale = is_stale(); // a pair may outlive the change in whose prior call it was opened
  if (joined) joined->kind = 0;
  change->is_joining = joined;
  change->reached = joined || change->is_silent ? 0 : reached(change->node, change->key);
  change->behind = reached_behind(change, change->reached);
  change->recipients = change->reached & ~change->behind;
  change->is_automatic = change->is_automatic && !joined;
  change->known = fuzz_ledger.count;
  change->before = model_read(change->node, change->key);
  read_all(change, change->old);
  change->opened_before = fuzz_ledger.open;
  fuzz_ledger.open = change;
}

static void leave_open(const ledger_change *change) {
  ledger_change **open = &fuzz_ledger.open;
  while (*open && *open != change) open = &(*open)->opened_before;
  if (*open) *open = change->opened_before;
}

void ledger_lose(const ledger_change *change) { leave_open(change); }

void ledger_push(ledger_change *change) {
  change->outer = fuzz_ledger.top;
  fuzz_ledger.top = change;
}

void ledger_pop(ledger_change *change) {
  FUZZ_REQUIRE(fuzz_ledger.top == change);
  fuzz_ledger.top = change->outer;
}

// Records the elements that a mutation of a to-many key removed and inserted.
static void read_mutation(ledger_change *change) {
  model_value after = model_read(change->node, change->key);
  if (after.kind == MODEL_SET) {
    change->came = model_filter(&after, &change->before, false);
    change->goes = model_filter(&change->before, &after, false);
  } else if (after.kind == MODEL_ARRAY && change->index < after.count) {
    change->came = (model_value){.kind = MODEL_ARRAY, .count = 1};
    change->came.nodes[0] = after.nodes[change->index];
  }
}

static ledger_set first_entries(size_t count) { return (ledger_set)(((uint64_t)1 << count) - 1); }

// Whether it was registered during the change, and no change has led a path here since.
static bool gets_next(const ledger_change *change, const ledger_entry *entry) {
  return change->made_within & ~change->notified[false] & bit(entry);
}

// The change has been made, and no observer has been called for it yet.
static void begin_finals(ledger_change *change) {
  ledger_set reaches = reached(change->node, change->key);
  change->has_begun_finals = true;
  leave_open(change);
  change->late = change->is_joining || change->is_silent ? 0 : reaches & ~change->recipients;
  change->late &= ~reached_behind(change, change->late);
  change->made_within = change->late & ~first_entries(change->known);
  change->known = fuzz_ledger.count;
  read_all(change, change->new);
  change->read_at = ++fuzz_ledger.time;
  change->recipients = (change->recipients & reaches) | change->late;
  if (change->kind && change->kind != KVO_SETTING) read_mutation(change);
}

// Whether observers of the path get it as a mutation, because the path ends with the key. A late one gets a setting.
static bool is_mutation(const ledger_change *change, const ledger_entry *entry) {
  if (change->late & bit(entry)) return false;
  const char *dot = strrchr(entry->path, '.'), *last = dot ? dot + 1 : entry->path;
  return change->kind != KVO_SETTING && !strcmp(last, change->key);
}

// Whether distinct, which compares settings, must withhold the change from this entry; with `may_be`, whether it may.
static bool is_left_out(const ledger_change *change, const ledger_entry *entry, bool may_be) {
  const model_value *new = &change->new[entry - fuzz_ledger.entries];
  if (!(entry->options & KVO_DISTINCT)) return false;
  if (is_mutation(change, entry) && (change->kind || !may_be)) return false;
  if (entry->is_unsure) return may_be;
  if (change->read_at < entry->compared) return true;
  if (!entry->is_known) return false;
  if (entry->last.kind == MODEL_UNKNOWN || new->kind == MODEL_UNKNOWN) return may_be;
  return model_equal(&entry->last, new);
}

// The last value of an entry that was called. If the call carries elements, there is none.
static void note_last(const ledger_change *change, ledger_entry *entry,
    const kvo_change *notified) {
  entry->is_unsure = is_unsure();
  entry->is_known = kvo_change_get_kind(notified) == KVO_SETTING;
  if (entry->compared < change->read_at) entry->compared = change->read_at;
  if (entry->is_known) entry->last = change->new[entry - fuzz_ledger.entries];
}

// Values that were compared and not delivered.
static void note_withheld(const ledger_change *change) {
  for (size_t i = 0; i < change->known; i++) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!(change->recipients & bit(entry)) || change->notified[false] & bit(entry)) continue;
    bool is_unknown = change->may_be_silent || is_unsure() || gets_next(change, entry);
    if (is_unknown) entry->is_unsure = true;
    else if (entry->compared < change->read_at) entry->compared = change->read_at;
  }
}

// A call of an observer object does not say for which of its equal registrations it is.
static bool are_alike(const ledger_entry *one, const ledger_entry *other) {
  if (!one->observer) return one == other;
  return one->object == other->object && one->observer == other->observer &&
         one->context == other->context && !strcmp(one->path, other->path);
}

// Whether equal entries that were called, though distinct might have dropped them, make up for those that had to be
// called and were not.
static bool is_stood_for(const ledger_change *change, const ledger_entry *entry) {
  size_t missing = 0, spare = 0;
  for (size_t i = 0; i < change->known; i++) {
    const ledger_entry *other = &fuzz_ledger.entries[i];
    if (!are_alike(entry, other) || !other->is_live || !(change->recipients & bit(other))) continue;
    bool is_notified = change->notified[false] & bit(other),
         may_miss = is_left_out(change, other, true);
    spare += is_notified && may_miss;
    missing += !is_notified && !may_miss && !gets_next(change, other);
  }
  return missing <= spare;
}

void ledger_finish(ledger_change *change) {
  if (!change->has_begun_finals) begin_finals(change);
  note_withheld(change);
  if (change->may_be_silent || is_unsure()) return;
  for (size_t i = 0; i < change->known; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!entry->is_live || !(change->recipients & bit(entry)) || gets_next(change, entry)) continue;
    FUZZ_REQUIRE(change->notified[false] & bit(entry) || is_left_out(change, entry, true) ||
                 is_stood_for(change, entry));
    // An observer that is late for its prior call gets none if the change is withheld.
    bool is_withheld = !(change->notified[false] & bit(entry)) && is_left_out(change, entry, true);
    FUZZ_REQUIRE(change->notified[true] & bit(entry) || !(entry->options & KVO_PRIOR) ||
                 is_withheld);
  }
}

// MARK: Calls

static void check_value(const kvo_value *notified, const model_value *expected, bool is_asked) {
  FUZZ_REQUIRE(notified ? is_asked : !is_asked || is_unsure());
  FUZZ_REQUIRE(!notified || model_matches(expected, notified) || is_stale());
}

static void check_initial(ledger_entry *entry, const kvo_change *change) {
  model_value now = model_read(entry->object, entry->path);
  entry->is_being_made = false;
  entry->last = now;
  entry->compared = ++fuzz_ledger.time;
  FUZZ_REQUIRE(!kvo_change_is_prior(change));
  FUZZ_REQUIRE(kvo_change_get_kind(change) == KVO_SETTING);
  FUZZ_REQUIRE(!kvo_change_get_indexes(change) && !kvo_change_get_old(change));
  check_value(kvo_change_get_new(change), &now, entry->options & KVO_NEW);
}

// Entries of one path are called in order of registration, observers of the changed object's keys by level and name.
static void check_order(const ledger_change *change, const ledger_entry *entry, bool is_prior) {
  int rank = entry->object == change->node ? model_rank(change->key, entry->path) : MODEL_UNRANKED;
  for (size_t i = 0; i < change->known; i++) {
    const ledger_entry *other = &fuzz_ledger.entries[i];
    if (!(change->notified[is_prior] & bit(other)) || other->object != entry->object) continue;
    FUZZ_REQUIRE(other < entry || strcmp(other->path, entry->path));
    if (rank == MODEL_UNRANKED) continue;
    int other_rank = model_rank(change->key, other->path);
    FUZZ_REQUIRE(other_rank <= rank || other_rank == MODEL_UNRANKED);
  }
}

static void check_mutation(const ledger_change *change, const ledger_entry *entry,
    const kvo_change *notified) {
  bool is_prior = kvo_change_is_prior(notified);
  if (is_unsure()) return;
  const kvo_index_set *indexes = kvo_change_get_indexes(notified);
  FUZZ_REQUIRE(kvo_change_get_kind(notified) == change->kind);
  FUZZ_REQUIRE(!indexes == (change->before.kind == MODEL_SET));
  FUZZ_REQUIRE(!indexes || (kvo_index_set_count(indexes) == 1 &&
                               kvo_index_set_contains(indexes, change->index)));
  check_value(kvo_change_get_old(notified), &change->goes,
      entry->options & KVO_OLD && change->kind != KVO_INSERTION);
  check_value(kvo_change_get_new(notified), &change->came,
      entry->options & KVO_NEW && change->kind != KVO_REMOVAL && !is_prior);
}

static void check_setting(const ledger_change *change, const ledger_entry *entry,
    const kvo_change *notified) {
  size_t i = (size_t)(entry - fuzz_ledger.entries);
  FUZZ_REQUIRE(kvo_change_get_kind(notified) == KVO_SETTING);
  FUZZ_REQUIRE(!kvo_change_get_indexes(notified));
  const model_value *old = change->late & bit(entry) ? change->new : change->old;
  check_value(kvo_change_get_old(notified), &old[i], entry->options & KVO_OLD);
  check_value(kvo_change_get_new(notified), &change->new[i],
      entry->options & KVO_NEW && !kvo_change_is_prior(notified));
}

// The finals begin with the first one, or with the prior call of an observer that is late. One of these entries is
// called.
static void begin_finals_if_due(ledger_change *change, ledger_set called, bool is_prior) {
  called &= ~change->notified[is_prior];
  bool is_late = !(called & first_entries(change->known));
  bool is_due = !is_prior || !is_unsure() || is_late;
  for (size_t i = 0; i < change->known && is_prior; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    bool awaits_prior = entry->options & KVO_PRIOR && !(change->notified[true] & bit(entry));
    if (called & change->recipients & bit(entry) && awaits_prior) is_due = false;
  }
  if (is_due && !change->has_begun_finals) begin_finals(change);
}

static void check_change(ledger_change *change, ledger_entry *entry, const kvo_change *notified) {
  bool is_prior = kvo_change_is_prior(notified);
  FUZZ_REQUIRE(!(change->notified[is_prior] & bit(entry)));
  begin_finals_if_due(change, bit(entry), is_prior);
  FUZZ_REQUIRE((size_t)(entry - fuzz_ledger.entries) < change->known);
  bool is_late = change->late & bit(entry);
  FUZZ_REQUIRE(!is_prior || entry->options & KVO_PRIOR);
  FUZZ_REQUIRE(!is_prior || is_late || !change->has_begun_finals || is_unsure());
  change->is_open = is_prior && !change->has_begun_finals;
  if (!is_unsure()) {
    FUZZ_REQUIRE(change->recipients & bit(entry));
    if (!is_prior || !is_late) check_order(change, entry, is_prior);
    FUZZ_REQUIRE(is_prior || !is_left_out(change, entry, false));
  }
  change->notified[is_prior] |= bit(entry);
  if (!is_prior) note_last(change, entry, notified);
  if (!is_mutation(change, entry)) check_setting(change, entry, notified);
  else if (change->kind) check_mutation(change, entry, notified);
}

static bool is_initial(const ledger_entry *entry) {
  return entry->is_being_made && fuzz_ledger.top == entry->within;
}

void ledger_called(ledger_entry *entry, const kvo_change *change) {
  FUZZ_REQUIRE(entry->is_live);
  fuzz_ledger.calls++;
  if (is_initial(entry)) {
    check_initial(entry, change);
  } else {
    FUZZ_REQUIRE(fuzz_ledger.top);
    check_change(fuzz_ledger.top, entry, change);
  }
}

static bool asks_for(const ledger_entry *entry, const kvo_change *notified) {
  return (!kvo_change_get_old(notified) || entry->options & KVO_OLD) &&
         (!kvo_change_get_new(notified) || entry->options & KVO_NEW);
}

// Whether it is this entry's turn among equal ones.
static bool is_next(const ledger_entry *entry, const kvo_change *notified) {
  ledger_change *change = fuzz_ledger.top;
  bool is_prior = kvo_change_is_prior(notified);
  if (!change || change->notified[is_prior] & bit(entry)) return false;
  if (!(first_entries(change->known) & bit(entry))) return false;
  if (is_prior && !(entry->options & KVO_PRIOR)) return false;
  if (is_unsure()) return asks_for(entry, notified);
  return change->recipients & bit(entry) && (is_prior || !is_left_out(change, entry, false));
}

// Whether a later registration of the same path has been called for the change.
static bool is_passed(const ledger_entry *entry, bool is_prior) {
  for (size_t i = (size_t)(entry - fuzz_ledger.entries) + 1; i < fuzz_ledger.count; i++) {
    const ledger_entry *later = &fuzz_ledger.entries[i];
    if (fuzz_ledger.top->notified[is_prior] & bit(later) && later->object == entry->object &&
        !strcmp(later->path, entry->path))
      return true;
  }
  return false;
}

// The values present are those that the observer asks for. A mutation may lack some.
static bool has_just_what(const ledger_entry *entry, const kvo_change *notified) {
  if (kvo_change_get_kind(notified) != KVO_SETTING) return asks_for(entry, notified);
  bool asks_new = entry->options & KVO_NEW && !kvo_change_is_prior(notified);
  return !kvo_change_get_old(notified) == !(entry->options & KVO_OLD) &&
         !kvo_change_get_new(notified) == !asks_new;
}

// Chooses among equal entries. An entry that distinct may drop counts as dropped once a later one has been called, or
// if the call has other values than the entry asks for.
static ledger_entry *whose_turn(ledger_set alike, const kvo_change *notified) {
  ledger_entry *next[2][2] = {{NULL}};
  for (size_t i = fuzz_ledger.count; i-- > 0;) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!(alike & bit(entry)) || !is_next(entry, notified)) continue;
    next[is_passed(entry, kvo_change_is_prior(notified))][has_just_what(entry, notified)] = entry;
  }
  return next[0][1] ? next[0][1] : next[0][0] ? next[0][0] : next[1][1] ? next[1][1] : next[1][0];
}

ledger_entry *ledger_observed(const graph_node *observer, const graph_node *object,
    const char *path, void *context, const kvo_change *change) {
  ledger_set alike = 0;
  ledger_entry *found = NULL;
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!entry->is_live || entry->object != object || entry->observer != observer ||
        entry->context != context || strcmp(entry->path, path))
      continue;
    alike |= bit(entry);
    if (is_initial(entry)) found = entry;
  }
  if (!found && fuzz_ledger.top)
    begin_finals_if_due(fuzz_ledger.top, alike, kvo_change_is_prior(change));
  if (!found) found = whose_turn(alike, change);
  FUZZ_REQUIRE(found);
  ledger_called(found, change);
  bool is_alone = alike == bit(found);
  for (size_t i = 0; !is_alone && i < fuzz_ledger.count;
      i++) // the call may have been for any of them
    if (alike & bit(&fuzz_ledger.entries[i])) fuzz_ledger.entries[i].is_unsure = true;
  return found;
}

// MARK: The runtime's list

typedef struct comparison {
  const graph_node *node;
  ledger_set seen;
} comparison;

// Registrations are listed by path, and for one path in order of registration.
static void compare(void *context, const kvo_registration_info *info) {
  comparison *comparison = context;
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    if (!entry->is_live || entry->object != comparison->node || comparison->seen & bit(entry) ||
        strcmp(entry->path, info->key_path))
      continue;
    comparison->seen |= bit(entry);
    FUZZ_REQUIRE(info->options == entry->options);
    FUZZ_REQUIRE(info->is_callback == !entry->observer);
    FUZZ_REQUIRE(info->context == entry->context);
    return;
  }
  FUZZ_REQUIRE(!"a registration that nobody has made");
}

void ledger_check(const graph_node *node) {
  comparison comparison = {node, 0};
  FUZZ_REQUIRE(!kvo_visit_registrations((const kvo_object *)node, compare, &comparison));
  for (size_t i = 0; i < fuzz_ledger.count; i++) {
    const ledger_entry *entry = &fuzz_ledger.entries[i];
    if (entry->is_live && entry->object == node) FUZZ_REQUIRE(comparison.seen & bit(entry));
  }
}
