// The registrations that programs make and end.
#include "doing.h"

#include "failure.h"
#include "oracle.h"
#include "perform.h"

// MARK: Ends

void drop_node(int node) {
  if (!holders[doing.thread][node]) return;
  holders[doing.thread][node] = false;
  for (int i = 0; i < REGISTRATIONS && !is_held(node); i++) {
    registration *registration = &past.registrations[i];
    if (registration->is_made && (registration->node == node || registration->observer == node))
      begin_end(registration);
  }
  kvo_object_release(object_of(node));
}

static void begin_end_of_all(registration *head) {
  for (int i = 0; i < head->members; i++) begin_end(head + i);
}

static void finish_end_of_all(registration *head) {
  for (int i = 0; i < head->members; i++) finish_end(head + i);
}

// A token belongs to its maker until registering has returned. The initial call may use it (C3).
bool has_token(const registration *head, const registration *adding) {
  return head->handle && !head->is_taken && (head->add_end || head == adding);
}

void release_token(registration *head) {
  if (!head->handle || head->is_taken || head->users) return;
  head->is_taken = true;
  begin_end_of_all(head);
  kvo_handle_release(head->handle);
  finish_end_of_all(head);
}

void invalidate_token(registration *head) {
  head->users++;
  begin_end_of_all(head);
  kvo_handle_invalidate(head->handle);
  finish_end_of_all(head);
  head->users--;
}

void remove_observer(registration *registration) {
  if (!registration->add_end || !may_use(registration->node) || !may_use(registration->observer))
    return;
  bool had_ended = registration->end_end;
  begin_end(registration);
  kvo_status status = kvo_remove_observer_with_context(object_of(registration->node),
      object_of(registration->observer), path_names[registration->path], registration, NULL);
  if (status && registration->ends_asked == 1 && !registration->is_unsure)
    fail_schedule("not registered", "registration %d can't be removed", registration->label);
  if (!status && (had_ended || registration->removals++))
    fail_schedule("removed twice", "registration %d", registration->label);
  finish_end(registration);
}

// Whether a token is valid, which another thread may be making. It must not be released while it is asked.
static bool is_valid(registration *head) {
  if (!head->handle || head->is_taken) return false;
  head->users++;
  bool is_valid = kvo_handle_is_valid(head->handle);
  head->users--;
  return is_valid;
}

// Registrations that are being made may or may not have ended afterwards. One has if its token has become invalid.
void remove_all_observers(int node) {
  registration *met[REGISTRATIONS], *asked[REGISTRATIONS];
  int count = 0, asked_count = 0;
  past.removals_open[node]++; // before others may run
  for (int i = 0; i < REGISTRATIONS; i++) {
    registration *registration = &past.registrations[i];
    if (!registration->is_made || registration->node != node) continue;
    if (registration->add_end) begin_end(met[count++] = registration);
    else registration->is_unsure = true;
    if (!registration->add_end && is_valid(registration->head)) asked[asked_count++] = registration;
  }
  kvo_remove_all_observers(object_of(node));
  past.removals_open[node]--;
  for (int i = 0; i < count; i++) finish_end(met[i]);
  for (int i = 0; i < asked_count; i++)
    if (!is_valid(asked[i]->head)) begin_end(asked[i]), finish_end(asked[i]);
}

// MARK: Registering

static registration *make_registration(const op *op, int member) {
  registration *registration = &past.registrations[(op->label - 1) * 3 + member];
  *registration = (struct registration){.is_made = true,
      .node = op->node,
      .path =
          op->verb == WATCH_KEYS ? (int)(member == 2 ? PATH_NEXT : PATH_VALUE + member) : op->to,
      .options = op->options,
      .act = op->act,
      .label = op->label,
      .observer = op->verb == OBSERVE ? op->observer : NOWHERE,
      .head = registration - member,
      .members = op->verb == WATCH_KEYS && !member ? 3 : 1,
      .is_unsure = past.removals_open[op->node] > 0,
      .thread = doing.thread,
      .before = past.store_count,
      .add_begin = schedule_now()};
  registration->first_read = read_path(registration->node, registration->path);
  registration->last_read = registration->first_read;
  return registration;
}

static kvo_status add(const op *op, registration *head) {
  kvo_options options = (kvo_options)op->options;
  if (op->verb == OBSERVE)
    return kvo_add_observer(object_of(op->node), object_of(op->observer), path_names[op->to],
        options, head, NULL);
  if (op->verb == WATCH)
    return kvo_add_callback(object_of(op->node), path_names[op->to], options, observer_is_called,
        head, registration_has_ended, &head->handle, NULL);
  const char *keys[3];
  for (int i = 0; i < 3; i++) keys[i] = path_names[head[i].path];
  return kvo_add_callback_for_keys(object_of(op->node), keys, 3, options,
      observer_is_called_for_key, head, 0, registration_has_ended, &head->handle, NULL);
}

void make_registrations(const op *op) {
  if (!may_use(op->observer)) return;
  registration *head = make_registration(op, 0);
  if (op->verb == WATCH_KEYS)
    for (int i = 1; i < 3; i++) make_registration(op, i);
  doing.adding = head;
  doing.may_leave = true;
  kvo_status status = add(op, head);
  doing.may_leave = false;
  doing.adding = NULL;
  if (status) fail_schedule("not registered", "%s: status %d", path_names[op->to], status);
  for (int i = 0; i < head->members; i++) head[i].add_end = schedule_now();
  for (int i = 0; i < head->members; i++) check_added(&head[i]);
}
