// Conditions that hold when all threads have returned.
//
// A change and a registration are compared only where the rules allow a single answer: the registration existed
// throughout the change or not at all, and the links on its path did not change, except by the change itself.
#include "oracle.h"

#include "failure.h"
#include "perform.h"

void begin_end(registration *registration) {
  if (!registration->end_begin) registration->end_begin = schedule_now();
  registration->ends_asked++;
}

void finish_end(registration *registration) {
  if (!registration->end_end) registration->end_end = schedule_now();
  if (schedule_thread() >= 0) registration->ended_by |= (uint8_t)(1 << schedule_thread());
}

// MARK: Links

// Whether a node's link stayed the same throughout a change, except for the change itself.
static bool was_stable(int node, const change *change, int *to) {
  *to = NOWHERE;
  for (int i = 0; i < past.link_count; i++) {
    const stored_link *link = &past.links[i];
    if (link->node != node) continue;
    if (link->at < change->begin) *to = link->to;
    else if (link->at <= change->end && change->node != node) return false;
  }
  for (int i = 0; i < past.change_count; i++) {
    const struct change *other = &past.changes[i];
    if (other == change || other->node != node || !(other->keys & 1 << KEY_NEXT)) continue;
    if (other->begin < change->end && !(other->end && other->end <= change->begin)) return false;
  }
  return true;
}

static bool links_were_stable(const registration *registration, const change *change,
    links *links) {
  for (int i = 0; i < NODES; i++) links->next[i] = NOWHERE, links->is_odd[i] = false;
  int at = registration->node;
  for (int i = 0; i < links_on(registration->path) && at != NOWHERE; i++) {
    if (!was_stable(at, change, &links->next[at])) return false;
    at = links->next[at];
  }
  return true;
}

static bool affects(const change *change, const registration *registration, const links *links) {
  for (int key = 0; key < KEYS; key++)
    if (change->keys & 1 << key &&
        is_affected(registration->node, registration->path, links, change->node, (node_key)key))
      return true;
  return false;
}

// MARK: Changes

// Whether an observer, a getter or a mutation made a change within another.
static bool is_within(int number, int outer) {
  const change *nested = &past.changes[number], *batch = &past.changes[outer];
  return nested->is_nested && nested->thread == batch->thread && nested->begin > batch->begin &&
         nested->begin < batch->end;
}

int mutation_around(int number) {
  for (int outer = number - 1; outer >= 0; outer--)
    if (is_mutation(&past.changes[outer]) && is_within(number, outer)) return outer;
  return NO_CHANGE;
}

// Whether a change has stored one of the keys, a bit for each, after the store `from` and up to `to`.
static bool has_stored(int change, uint8_t keys, int from, int to) {
  for (int i = from + 1; i <= to; i++)
    if (past.stores[i].change == change && keys & 1 << past.stores[i].key) return true;
  return false;
}

typedef struct {
  int finals, priors;
  int before_store; // of the prior calls
} counts;

static counts calls_of(const registration *registration, int change) {
  counts counts = {0};
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    if (call->change != change || call->registration != number_of(registration)) continue;
    if (call->is_prior) counts.priors++;
    else counts.finals++;
    counts.before_store += call->is_prior && !has_stored(change, UINT8_MAX, 0, call->before);
  }
  return counts;
}

static _Noreturn void fail_count(const char *kind, const registration *registration, int change,
    counts counts, const char *wanted) {
  const struct change *changed = &past.changes[change];
  fail_schedule(kind,
      "change %d (%s) notified registration %s %d times, and %d before; it must be %s", change,
      describe_change(changed).text, describe_registration(registration).text, counts.finals,
      counts.priors, wanted);
}

static bool was_there(const registration *registration, const change *change) {
  return registration->add_end && registration->add_end <= change->begin &&
         !registration->is_unsure &&
         (!registration->end_begin || registration->end_begin >= change->end);
}

static bool was_absent(const registration *registration, const change *change) {
  return (change->end && change->end <= registration->add_begin) ||
         (registration->end_end && change->begin >= registration->end_end &&
             !registration->is_unsure);
}

// Whether a thread other than the one that makes the registration has notified it before this change began (I3). A
// derived key or a path is attached in parts, so it may still miss this change.
static bool was_notified_before(const registration *registration, const change *change) {
  bool has_ended = registration->end_begin && registration->end_begin < change->end;
  if (registration->path >= PATH_SUM || !registration->add_end || has_ended) return false;
  for (int i = 0; i < past.call_count && !registration->is_unsure; i++) {
    const call *call = &past.calls[i];
    bool is_of_other =
        call->registration == number_of(registration) && call->thread != registration->thread;
    if (is_of_other && !call->is_prior && call->at < change->begin) return true;
  }
  return false;
}

static bool is_exact(const registration *registration, const change *change) {
  return !(registration->options & KVO_DISTINCT) && is_followed_by_links(registration->path) &&
         !change->is_nested && is_over(change) && change->verb != CANCEL_IN_PLACE;
}

// A registration added late in a batch, also by a link set during the batch, is notified of the change that it found,
// and of later ones at the end (M1). So is a tracked key that another thread reads during the batch: it may find keys
// there that it has not read before. It may find a change at each of two keys, one after the other, if the second is set
// again.
static int most_calls(const registration *registration, const change *change, bool had_links) {
  bool was_found = had_links && registration->path != PATH_TRACKED;
  if (!is_batch(change) || (was_found && was_there(registration, change))) return 1;
  return change->verb == BATCH_IN_PLACE ? 3 : 2;
}

// Whether the later of two calls in a batch is for a store after the earlier one. A path or tracked key with several
// keys may have been found at one of them after the batch had recorded another.
static bool is_for_later_store(const registration *registration, int change) {
  uint8_t keys = last_keys(registration->path);
  if (keys & (keys - 1) || !is_followed_by_links(registration->path)) return true;
  int first = 0, last = 0;
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    bool is_one = call->change == change && call->registration == number_of(registration);
    if (!is_one || call->is_prior) continue;
    if (first) last = call->before;
    else first = call->before;
  }
  for (int i = 0; i < past.change_count; i++)
    if (is_within(i, change) && has_stored(i, keys, first, last)) return true;
  return has_stored(change, keys, first, last);
}

static void compare_absent(const registration *registration, int number, counts counts) {
  if (was_absent(registration, &past.changes[number]) && (counts.finals || counts.priors))
    fail_count("called without a registration", registration, number, counts, "none");
}

// Whether a change that was made within the batch or the mutation in place had its prior call at once, and left the other
// call to the batch's or the mutation's end (M1, E4).
static bool was_called_by_nested(const registration *registration, int number) {
  const change *change = &past.changes[number];
  if (!is_batch(change) && !is_mutation(change)) return false;
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    if (!call->is_prior || call->registration != number_of(registration) || call->change < 0)
      continue;
    if (is_within(call->change, number) && !calls_of(registration, call->change).finals)
      return true;
  }
  return false;
}

static void compare_most(const registration *registration, int number, counts counts, int most) {
  const change *change = &past.changes[number];
  if (counts.finals > most || counts.priors > most)
    fail_count("called too often", registration, number, counts,
        (const char *[]){"once at most", "twice at most", "three times at most"}[most - 1]);
  if (counts.finals > 1 && !is_for_later_store(registration, number))
    fail_count("called too often", registration, number, counts, "once for each store");
  if (!(registration->options & KVO_PRIOR) || !is_over(change)) return;
  if (was_called_by_nested(registration, number)) return;
  if (counts.finals && !counts.priors)
    fail_count("not called before", registration, number, counts, "once before, late as it is");
}

// A change that the getter makes while it is read for another change is no further one for its key: that has one
// notification (F2).
static bool is_part_of_reading(const change *change, const registration *registration) {
  return change->is_of_getter && registration->path == PATH_STAMPED &&
         registration->node == change->root;
}

// A batch may deliver what a getter sets within it, or the getter's set does so at once (M1).
static bool may_be_of_getter(const change *change, const registration *registration) {
  return is_batch(change) && change->is_stamped && last_keys(registration->path) & 1 << KEY_STAMP &&
         registration->node == change->root;
}

static void compare(const registration *registration, int number) {
  const change *change = &past.changes[number];
  counts counts = calls_of(registration, number);
  links links;
  bool had_links = links_were_stable(registration, change, &links);
  compare_absent(registration, number, counts);
  if (may_be_of_getter(change, registration)) return;
  compare_most(registration, number, counts, most_calls(registration, change, had_links));
  if (is_part_of_reading(change, registration) && (counts.finals || counts.priors))
    fail_count("called too often", registration, number, counts, "none, while its key is read");
  if (!had_links || !is_exact(registration, change)) return;
  bool is_affected = affects(change, registration, &links);
  if (!is_affected && counts.finals)
    fail_count("called without a change", registration, number, counts, "none");
  if (is_affected && !counts.finals && was_notified_before(registration, change))
    fail_count("not called", registration, number, counts, "once, like a change before it");
  if (!was_there(registration, change) || !is_affected) return;
  if (counts.finals != 1) fail_count("not called", registration, number, counts, "once");
  bool is_before = counts.priors == 1 && (counts.before_store || is_batch(change));
  if (registration->options & KVO_PRIOR && !is_before &&
      !was_called_by_nested(registration, number))
    fail_count("not called before", registration, number, counts, "once before");
}

// How many final calls of a registration a change has made before the call `end`.
static int calls_before(int end, int registration, int change) {
  int count = 0;
  for (int i = 0; i < end; i++) {
    const call *call = &past.calls[i];
    count += call->change == change && call->registration == registration && !call->is_prior;
  }
  return count;
}

// Observers of one key or path are called in the order in which they were registered, and those of a batch's keys in
// the order in which the keys are set: value, then other. A batch may call twice.
static void compare_order(int number) {
  const registration *last = NULL;
  const change *change = &past.changes[number];
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    const registration *called = &past.registrations[call->registration];
    if (call->change != number || call->is_prior || !was_there(called, change)) continue;
    bool is_beside =
        last && last->node == called->node && last->path == called->path &&
        calls_before(i, number_of(last), number) == calls_before(i, call->registration, number) + 1;
    bool is_behind = last && last->path == PATH_OTHER && called->path == PATH_VALUE;
    if ((is_beside && called->add_end <= last->add_begin) || is_behind)
      fail_schedule("wrong order", "change %d (%s): registration #%d is called before #%d", number,
          describe_change(change).text, last->label, called->label);
    last = called;
  }
}

// A change that is made in a mutation notifies an observer at once, or leaves it to the mutation's change (E4).
static void compare_in_mutation(const registration *registration, int number, int mutation) {
  const change *change = &past.changes[number], *outer = &past.changes[mutation];
  links links;
  if (registration->options & KVO_DISTINCT || !is_followed_by_links(registration->path)) return;
  if (!was_there(registration, outer) || !links_were_stable(registration, outer, &links)) return;
  if (!links_were_stable(registration, change, &links)) return;
  counts counts = calls_of(registration, number);
  counts.finals += calls_of(registration, mutation).finals;
  if (affects(change, registration, &links) && !counts.finals)
    fail_count("not called", registration, number, counts, "once, or by the mutation");
}

void check_changes(void) {
  for (int change = 0; change < past.change_count; change++) {
    compare_order(change);
    for (int i = 0; i < REGISTRATIONS; i++)
      if (past.registrations[i].is_made) compare(&past.registrations[i], change);
    int mutation = past.changes[change].is_in_mutation ? mutation_around(change) : NO_CHANGE;
    for (int i = 0; mutation != NO_CHANGE && i < REGISTRATIONS; i++)
      if (past.registrations[i].is_made)
        compare_in_mutation(&past.registrations[i], change, mutation);
  }
}

// MARK: After all threads

// Whether a registration is still there. The first call that it must get shows that if `kvo_remove_all_observers` was
// called, or its thread ended, while it was made. All keys of a token have the same fate.
static bool has_stayed(registration *registration, bool is_called) {
  if (registration->end_begin || !is_held(registration->node)) return false;
  if (registration->add_end && !registration->is_unsure) return true;
  fate *fate = &registration->head->fate;
  if (*fate == UNKNOWN) *fate = is_called ? STAYED : GONE;
  // Observer objects are not notified of the end of their registrations.
  if (*fate == GONE && registration->observer == NOWHERE && !registration->ended)
    fail_schedule("not called", "registration %s, which has not ended",
        describe_registration(registration).text);
  return *fate == STAYED;
}

// With distinct, a change to the same value is not delivered.
static bool is_silent(const registration *registration, int before) {
  return registration->options & KVO_DISTINCT && is_held(registration->node) &&
         read_path(registration->node, registration->path) == before;
}

// While nothing else changes, a call brings the value that is there and the one that was there before.
static void compare_values(const registration *registration, int number, int before) {
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    if (call->change != number || call->registration != number_of(registration)) continue;
    int there = call->is_prior ? before : read_path(registration->node, registration->path);
    bool is_new = call->received == NOWHERE || call->received == there;
    bool is_old = call->replaced == NOWHERE || call->replaced == before;
    if (!is_new || !is_old)
      fail_schedule("wrong value", "registration %s received %d for %d, in place of %d for %d",
          describe_registration(registration).text, call->received, call->replaced, there, before);
  }
}

static void compare_quiet(registration *registration, int number, bool is_affected, int before) {
  bool is_unchanged = is_silent(registration, before);
  if (is_unchanged && may_lack_last(registration)) return; // it may have got another value last
  counts counts = calls_of(registration, number);
  int wanted = is_affected && !is_unchanged && has_stayed(registration, counts.finals > 0);
  if (counts.finals != wanted)
    fail_count("wrong when quiet", registration, number, counts, wanted ? "once" : "none");
  if (wanted) compare_values(registration, number, before);
}

// The value that each registration would read.
static void read_all(int values[REGISTRATIONS]) {
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    bool is_read = registration->is_made && is_held(registration->node);
    values[i] = is_read ? read_path(registration->node, registration->path) : NOTHING;
  }
}

static void check_probe(int node, node_key key, int probe(int node, node_key key)) {
  links links = current_links();
  int before[REGISTRATIONS];
  read_all(before);
  int number = probe(node, key);
  if (number == NO_CHANGE) return;
  for (int i = 0; i < REGISTRATIONS; i++) {
    registration *registration = &past.registrations[i];
    if (registration->is_made)
      compare_quiet(registration, number,
          is_affected(registration->node, registration->path, &links, node, key), before[i]);
  }
}

void check_quiet(void) {
  check_last_values();
  for (int node = 0; node < MORTAL; node++)
    for (int key = 0; key < KEYS; key++) {
      // Distinct observers whose stored value is not the property's are called.
      if (key <= KEY_OTHER) check_probe(node, (node_key)key, probe_again);
      check_probe(node, (node_key)key, probe);
    }
}

void check_ends(void) {
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    if (registration->is_made && registration->observer == NOWHERE && registration->ended != 1)
      fail_schedule("not ended", "registration %s: its end is reported %d times",
          describe_registration(registration).text, registration->ended);
  }
  if (past.passing_made != past.passing_ended)
    fail_schedule("not ended", "%d short registrations, %d ends", past.passing_made,
        past.passing_ended);
  if (past.kept != past.given_back)
    fail_schedule("not given back", "%d associations, %d given back", past.kept, past.given_back);
}
