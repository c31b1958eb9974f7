// Prints the history, for debugging a failure.
#include "history.h"

history past;

static const char *name_of(int node) { return node == NOWHERE ? "nothing" : node_names[node]; }

description describe_registration(const registration *registration) {
  char options[OPTIONS_TEXT];
  description made;
  write_option_names(registration->options, options);
  snprintf(made.text, sizeof made.text, "#%d (%s %s %s)", registration->label,
      name_of(registration->node), path_names[registration->path], options);
  return made;
}

// The first paths are the keys.
description describe_change(const change *change) {
  description made;
  size_t length = (size_t)snprintf(made.text, sizeof made.text, "thread %d, %s %s", change->thread,
      name_of_verb(change->verb), name_of(change->node == NOWHERE ? change->root : change->node));
  const char *before = " ";
  for (int i = 0; i < KEYS; i++)
    if (change->keys & 1 << i) {
      length += (size_t)snprintf(made.text + length, sizeof made.text - length, "%s%s", before,
          path_names[i]);
      before = "+";
    }
  return made;
}

static void print_registrations(void) {
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    if (!registration->is_made) continue;
    printf("  registration %s: added %llu-%llu, ended %llu-%llu, notified %llu%s\n",
        describe_registration(registration).text, (unsigned long long)registration->add_begin,
        (unsigned long long)registration->add_end, (unsigned long long)registration->end_begin,
        (unsigned long long)registration->end_end, (unsigned long long)registration->ended_at,
        registration->is_unsure ? ", unsure" : "");
  }
}

static void print_changes(void) {
  for (int i = 0; i < past.change_count; i++) {
    const change *change = &past.changes[i];
    printf("  change %d: %s, %llu-%llu%s%s\n", i, describe_change(change).text,
        (unsigned long long)change->begin, (unsigned long long)change->end,
        change->is_nested ? ", nested" : "", change->was_left ? ", left" : "");
  }
}

static const char *name_of_cause(int change) {
  if (change == INITIAL) return "initial";
  return change == AFTER_INITIAL ? "after the initial one" : "no change";
}

static void print_calls(void) {
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    printf("  call at %llu: thread %d, registration #%d, ", (unsigned long long)call->at,
        call->thread, past.registrations[call->registration].label);
    if (call->change >= 0) printf("change %d", call->change);
    else printf("%s", name_of_cause(call->change));
    printf("%s, reads %d, received %d for %d\n", call->is_prior ? ", prior" : "", call->read,
        call->received, call->replaced);
  }
}

static void print_stores(void) {
  for (int i = 1; i <= past.store_count; i++) {
    const store *store = &past.stores[i];
    printf("  store %d: thread %d, change %d, %s %s, %d\n", i, store->thread, store->change,
        name_of(store->node), path_names[store->key], store->value);
  }
}

static void print_links(void) {
  for (int i = 0; i < past.link_count; i++)
    printf("  link at %llu: %s to %s\n", (unsigned long long)past.links[i].at,
        name_of(past.links[i].node), name_of(past.links[i].to));
}

void print_history(void) {
  printf("history:\n");
  print_registrations();
  print_changes();
  print_calls();
  print_stores();
  print_links();
}
