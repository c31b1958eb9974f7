// The calls of observers. Each is recorded in the history, then the observer performs its action (`act`).
#include "doing.h"

#include "failure.h"
#include "interpose.h"
#include "oracle.h"
#include "perform.h"

#include <string.h>

static void act_as(registration *registration, bool is_prior) {
  if (observers_do_nothing || doing.depth > 1) return;
  struct registration *adding = doing.adding;
  doing.adding = NULL; // what it does is not part of that
  switch (registration->act) {
  case ACT_END:
    if (has_token(registration->head, adding)) invalidate_token(registration->head);
    break;
  case ACT_SET: do_change(&(op){.verb = SET, .node = OTHER_LEAF, .to = KEY_OTHER}); break;
  case ACT_LINK:
    do_change(&(op){.verb = LINK, .node = OTHER_MIDDLE, .to = (int8_t)(LEAF + next_number() % 2)});
    break;
  case ACT_WATCH: make_passing(LEAF, "value"); break;
  case ACT_DROP:
    if (doing.may_drop && !is_prior && !adding) drop_node(MORTAL);
    break;
  case ACT_LEAVE:
    if (!doing.may_leave || !current_program->come_and_go || schedule_thread() < 0) break;
    if (doing.change >= 0) past.changes[doing.change].was_left = true;
    registration->calls_open--;
    schedule_leave();
  default: break;
  }
}

static int cause_of_call(const registration *registration) {
  if (!doing.adding || doing.adding->head != registration->head) return doing.change;
  if (!(registration->options & KVO_INITIAL)) return AFTER_INITIAL;
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    bool is_of_it = &past.registrations[call->registration] == registration;
    if (is_of_it && call->change == INITIAL) return AFTER_INITIAL;
  }
  return INITIAL;
}

static void is_called(registration *registration, const kvo_change *change) {
  check_unlocked("an observer");
  buffers_fence(
      __ATOMIC_SEQ_CST); // an observer that reads what other threads set takes a lock (I5)
  if (past.call_count == CALLS) fail_schedule("no room", "too many calls");
  int cause = cause_of_call(registration);
  call *call = &past.calls[past.call_count++];
  *call = (struct call){.registration = number_of(registration),
      .change = cause,
      .is_prior = kvo_change_is_prior(change),
      .thread = doing.thread,
      .before = past.store_count,
      .at = schedule_now(),
      .received = received_by(registration->path, kvo_change_get_new(change)),
      .replaced = received_by(registration->path, kvo_change_get_old(change)),
      .read = is_held(registration->node) ? read_path(registration->node, registration->path)
                                          : NOWHERE};
  if (!call->is_prior && is_held(registration->node)) registration->last_read = call->read;
  check_call(registration, call, change);
  registration->calls_open++;
  doing.depth++;
  struct registration *adding = doing.adding;
  int outer = doing.change;
  const struct call *outer_call = doing.call;
  doing.call = call;
  act_as(registration, call->is_prior);
  doing.call = outer_call;
  doing.adding = adding;
  doing.change = outer;
  doing.depth--;
  registration->calls_open--;
}

static void check_recipient(const registration *registration, const kvo_object *object,
    const char *key_path) {
  if (object != &nodes[registration->node]->object)
    fail_schedule("wrong object", "registration %s", describe_registration(registration).text);
  if (strcmp(key_path, path_names[registration->path]))
    fail_schedule("wrong key", "registration %s: %s", describe_registration(registration).text,
        key_path);
}

void observer_is_called(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  check_recipient(context, object, key_path);
  is_called(context, change);
}

void observer_is_called_for_key(void *context, kvo_object *object, const char *key,
    const kvo_change *change) {
  registration *registration = (struct registration *)context + kvo_change_get_key_index(change);
  check_recipient(registration, object, key);
  is_called(registration, change);
}

void node_observes(kvo_object *observer, const kvo_object *observed, const char *key_path,
    const kvo_change *change, void *context) {
  registration *registration = context;
  if (object_of(registration->observer) != observer)
    fail_schedule("wrong observer", "another is called");
  check_recipient(registration, observed, key_path);
  is_called(registration, change);
}

void registration_has_ended(void *context) {
  check_unlocked("an end");
  registration *registration = context;
  for (int i = 0; i < registration->members; i++) {
    struct registration *member = registration + i;
    member->ended_at = schedule_now();
    if (++member->ended > 1) fail_schedule("ended twice", "registration %d", member->label);
    if (member->calls_open) fail_schedule("ended in a call", "registration %d", member->label);
    if (member->add_end && !member->end_begin && !member->is_unsure)
      fail_schedule("ended by itself", "registration %d", member->label);
  }
  if (registration->act == ACT_REGISTER && !observers_do_nothing && may_use(registration->node) &&
      nodes[registration->node])
    make_passing(registration->node, "other");
}
