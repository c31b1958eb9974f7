// The oracles.
//
// A change and a registration are compared only where the rules allow a single answer: the registration existed
// throughout the change or not at all, and the links on its path did not change, except by the change itself.
#include "oracle.h"

#include "failure.h"
#include "perform.h"

static int number_of(const registration *registration) {
  return (int)(registration - past.registrations);
}

void begin_end(registration *registration) {
  if (!registration->end_begin) registration->end_begin = schedule_now();
  registration->ends_asked++;
}

void finish_end(registration *registration) {
  if (!registration->end_end) registration->end_end = schedule_now();
}

// MARK: One call

static void check_number(const registration *registration, const kvo_value *value) {
  if (!value || registration->path > PATH_NEXT_NEXT_VALUE || registration->path == PATH_NEXT ||
      registration->path == PATH_ITEMS || registration->path == PATH_SUM || kvo_value_is_nil(value))
    return;
  int64_t number = kvo_value_get_int(value);
  if (number < 1000) return; // it existed at the beginning
  int stored = number < (int64_t)sizeof past.stored_by ? past.stored_by[number] - 1 : -1;
  node_key key = registration->path == PATH_OTHER ? KEY_OTHER : KEY_VALUE;
  bool is_own = registration->path <= PATH_OTHER;
  if (stored < 0 || stored % KEYS != (int)key || (is_own && stored / KEYS != registration->node))
    fail_schedule("wrong value", "registration %s received %lld, which was not stored there",
        describe_registration(registration).text, (long long)number);
}

static void check_presence(const registration *registration, const call *call,
    const kvo_change *change) {
  kvo_change_kind kind = kvo_change_get_kind(change);
  bool has_old = kvo_change_get_old(change), has_new = kvo_change_get_new(change);
  bool wants_old =
      registration->options & KVO_OLD && call->change != INITIAL && kind != KVO_INSERTION;
  bool wants_new = registration->options & KVO_NEW && !call->is_prior && kind != KVO_REMOVAL;
  if (has_old != wants_old || has_new != wants_new)
    fail_schedule("wrong record", "registration %s: a call of kind %d%s has %s old and %s new",
        describe_registration(registration).text, kind, call->is_prior ? ", prior," : "",
        has_old ? "an" : "no", has_new ? "a" : "no");
}

void check_call(const registration *registration, const call *call, const kvo_change *change) {
  if (registration->ended)
    fail_schedule("called after the end", "registration %s",
        describe_registration(registration).text);
  if (call->is_prior && !(registration->options & KVO_PRIOR))
    fail_schedule("wrong record", "registration %d is called before a change", registration->label);
  check_presence(registration, call, change);
  check_number(registration, kvo_change_get_old(change));
  check_number(registration, kvo_change_get_new(change));
}

void check_added(const registration *registration) {
  int calls = 0;
  for (int i = 0; i < past.call_count; i++)
    calls +=
        past.calls[i].change == INITIAL && past.calls[i].registration == number_of(registration);
  int wanted = registration->options & KVO_INITIAL ? 1 : 0;
  if (calls == wanted || (calls < wanted && (registration->end_begin || registration->is_unsure)))
    return;
  fail_schedule("initial calls", "registration %s has had %d, not %d",
      describe_registration(registration).text, calls, wanted);
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
  for (int i = 0; i < 3 && at != NOWHERE; i++) {
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

typedef struct {
  int finals, priors;
} counts;

static counts calls_of(const registration *registration, int change) {
  counts counts = {0, 0};
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    if (call->change != change || call->registration != number_of(registration)) continue;
    if (call->is_prior) counts.priors++;
    else counts.finals++;
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
  return change->end <= registration->add_begin ||
         (registration->end_end && change->begin >= registration->end_end &&
             !registration->is_unsure);
}

static bool is_exact(const registration *registration, const change *change) {
  return !(registration->options & KVO_DISTINCT) && is_followed_by_links(registration->path) &&
         !change->is_nested;
}

// A registration added late in a batch, also by a link set during the batch, is notified of the change that it found,
// and of later ones at the end (M1).
static int most_calls(const registration *registration, const change *change, bool had_links) {
  bool is_batch = change->keys == (1 << KEY_VALUE | 1 << KEY_OTHER);
  return is_batch && !(had_links && was_there(registration, change)) ? 2 : 1;
}

static void compare(const registration *registration, int number) {
  const change *change = &past.changes[number];
  counts counts = calls_of(registration, number);
  if (was_absent(registration, change) && (counts.finals || counts.priors))
    fail_count("called without a registration", registration, number, counts, "none");
  if (!is_exact(registration, change)) return;
  links links;
  bool had_links = links_were_stable(registration, change, &links);
  int most = most_calls(registration, change, had_links);
  if (counts.finals > most)
    fail_count("called too often", registration, number, counts,
        most > 1 ? "twice at most" : "once at most");
  if (registration->options & KVO_PRIOR && counts.finals && !counts.priors)
    fail_count("not called before", registration, number, counts, "once before, late as it is");
  if (!had_links) return;
  bool is_affected = affects(change, registration, &links);
  if (!is_affected && counts.finals)
    fail_count("called without a change", registration, number, counts, "none");
  if (!was_there(registration, change) || !is_affected) return;
  if (counts.finals != 1) fail_count("not called", registration, number, counts, "once");
  if (registration->options & KVO_PRIOR && counts.priors != 1)
    fail_count("not called before", registration, number, counts, "once before");
}

void check_changes(void) {
  for (int change = 0; change < past.change_count; change++) {
    const struct change *changed = &past.changes[change];
    if (changed->node == NOWHERE || changed->was_left || !changed->end) continue;
    for (int i = 0; i < REGISTRATIONS; i++)
      if (past.registrations[i].is_made) compare(&past.registrations[i], change);
  }
}

// MARK: After all threads

static bool is_live(const registration *registration) {
  return registration->add_end && !registration->end_begin && is_held(registration->node);
}

static bool any_was_left(void) {
  for (int i = 0; i < past.change_count; i++)
    if (!past.changes[i].end || past.changes[i].was_left) return true;
  return false;
}

// A registration without an initial call has read nothing before its first call.
static void check_last_read(const registration *registration) {
  if (!is_live(registration) || registration->is_unsure) return;
  if (!(registration->options & KVO_INITIAL) && registration->add_end > past.first_point) return;
  int there = read_path(registration->node, registration->path);
  if (registration->last_read != there)
    fail_schedule("stale", "registration %s has last read %d; there is %d",
        describe_registration(registration).text, registration->last_read, there);
}

static bool may_be_silent(const registration *registration, node_key key) {
  return registration->options & KVO_DISTINCT &&
         (key == KEY_NEXT || !is_followed_by_links(registration->path));
}

static void check_probe(int node, node_key key) {
  links links = current_links();
  int number = probe(node, key);
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    if (!registration->add_end || registration->is_unsure || may_be_silent(registration, key))
      continue;
    int wanted = is_live(registration) &&
                 is_affected(registration->node, registration->path, &links, node, key);
    counts counts = calls_of(registration, number);
    if (counts.finals != wanted)
      fail_count("wrong when quiet", registration, number, counts, wanted ? "once" : "none");
  }
}

void check_quiet(void) {
  if (!any_was_left())
    for (int i = 0; i < REGISTRATIONS; i++) check_last_read(&past.registrations[i]);
  for (int node = 0; node < MORTAL; node++)
    for (int key = 0; key < KEYS; key++) check_probe(node, (node_key)key);
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
