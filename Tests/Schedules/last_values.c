// The last value that an observer has got is the property's, when all threads have returned.
//
// An observer must read the property when it is called, since calls that overlap may bring their values in another
// order than that in which they were read (I5). An observer of distinct changes must use what the calls bring (D3).
#include "failure.h"
#include "oracle.h"
#include "perform.h"

static bool is_live(const registration *registration) {
  return registration->add_end && !registration->end_begin && is_held(registration->node);
}

// Whether a thread has left a change before it could notify the registration.
static bool may_have_missed(const registration *registration) {
  uint8_t keys = last_keys(registration->path);
  if (links_on(registration->path)) keys |= 1 << KEY_NEXT;
  if (!is_followed_by_links(registration->path)) keys = UINT8_MAX;
  for (int i = 0; i < past.change_count; i++)
    if (!is_over(&past.changes[i]) && past.changes[i].keys & keys) return true;
  return false;
}

static bool was_called(const registration *registration) {
  for (int i = 0; i < past.call_count; i++)
    if (past.calls[i].registration == number_of(registration) && !past.calls[i].is_prior)
      return true;
  return false;
}

// Whether the registration may have missed changes while it was being made, beside other threads. It is then attached
// to the keys that it depends on one after the other, so it may be notified of a change and miss a later one; an
// initial call makes up for that (I3), or with distinct a call of its own (D3).
static bool was_made_in_parts(const registration *registration) {
  return registration->path >= PATH_SUM &&
         !(registration->options & (KVO_INITIAL | KVO_DISTINCT)) &&
         registration->add_end > past.first_point;
}

// Whether the registration may have come to depend in a mutation on the property that was mutated. A program must not do
// that, since the property is then read before it is stored (E4).
static bool may_have_come_in_mutation(const registration *registration) {
  uint8_t keys = links_on(registration->path) ? 1 << KEY_NEXT : 0;
  if (!is_followed_by_links(registration->path)) keys |= 1 << KEY_VALUE;
  for (int i = 0; i < past.change_count; i++) {
    const change *change = &past.changes[i];
    if (change->is_nested && change->keys & keys && mutation_around(i) != NO_CHANGE) return true;
  }
  return false;
}

// Whether a thread has left its registration's initial call. A value that had overtaken that call's would have followed
// it (D3).
static bool was_left(const registration *registration) { return !registration->add_end; }

bool may_lack_last(const registration *registration) {
  return may_have_missed(registration) || was_made_in_parts(registration) ||
         was_left(registration) || may_have_come_in_mutation(registration);
}

// Whether the last value that the registration has got must be the current one. Without an initial call it has got none
// before its first call, and registering does not wait for stores that are not visible yet (I3).
static bool must_be_current(const registration *registration) {
  if (!is_live(registration) || registration->is_unsure || may_lack_last(registration))
    return false;
  if (registration->options & KVO_DISTINCT && !(registration->options & KVO_NEW)) return false;
  if (registration->options & KVO_INITIAL || registration->add_end <= past.first_point) return true;
  return current_outcome->schedule.stores == STORES_AT_ONCE && was_called(registration);
}

// MARK: Distinct

static bool is_final_of(const registration *registration, const call *call) {
  return call->registration == number_of(registration) && !call->is_prior;
}

// The time after which the value that a call brings was read: the last store of its change. An initial value is read
// while the observer is registered.
static uint64_t earliest_reading(const registration *registration, const call *call) {
  if (call->change < 0) return registration->add_begin;
  for (int i = call->before; i > 0; i--)
    if (past.stores[i].change == call->change) return past.stores[i].at;
  return past.changes[call->change].begin;
}

// Whether the values of two calls may have been compared and noted in the other order than that of the calls. A thread
// calls at once after it has compared. So the threads differ, and the later call's value was read before the earlier
// call (D3, I5).
static bool may_be_noted_before(const registration *registration, const call *later,
    const call *earlier) {
  return later->thread != earlier->thread && earliest_reading(registration, later) < earlier->at;
}

// Whether the value that a call brought may be the one noted last, although others came after it.
static bool may_be_last(const registration *registration, const call *call) {
  for (const struct call *later = call + 1; later < past.calls + past.call_count; later++)
    if (is_final_of(registration, later) && later->received != call->received &&
        !may_be_noted_before(registration, later, call))
      return false;
  return true;
}

// Whether the value is the one that the observer has got last. Before its first call that is the value at registration.
static bool is_received_last(const registration *registration, int value) {
  bool is_first = true;
  for (const struct call *call = past.calls; call < past.calls + past.call_count; call++) {
    if (!is_final_of(registration, call)) continue;
    is_first = false;
    if (call->received == value && may_be_last(registration, call)) return true;
  }
  return is_first && registration->first_read == value;
}

// MARK: All

static void check_last_value(const registration *registration) {
  if (!must_be_current(registration)) return;
  int there = read_path(registration->node, registration->path);
  bool is_compared = registration->options & KVO_DISTINCT && registration->path != PATH_ITEMS;
  bool is_current =
      is_compared ? is_received_last(registration, there) : registration->last_read == there;
  if (!is_current)
    fail_schedule("stale", "registration %s has %s last another value than %d, which is there",
        describe_registration(registration).text, is_compared ? "received" : "read", there);
}

void check_last_values(void) {
  for (int i = 0; i < REGISTRATIONS; i++) check_last_value(&past.registrations[i]);
}
