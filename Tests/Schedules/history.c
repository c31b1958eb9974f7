// The history, for whoever looks into a failure.
#include "history.h"

history past;

static void print_registrations(void) {
  for (int i = 0; i < REGISTRATIONS; i++) {
    const registration *registration = &past.registrations[i];
    if (!registration->is_made) continue;
    printf(
        "  registration #%d: node %d %s, options %d, added %llu-%llu, ended %llu-%llu, told %llu%s\n",
        registration->label, registration->node, path_names[registration->path],
        registration->options, (unsigned long long)registration->add_begin,
        (unsigned long long)registration->add_end, (unsigned long long)registration->end_begin,
        (unsigned long long)registration->end_end, (unsigned long long)registration->ended_at,
        registration->is_unsure ? ", unsure" : "");
  }
}

static void print_changes(void) {
  for (int i = 0; i < past.change_count; i++) {
    const change *change = &past.changes[i];
    printf("  change %d: thread %d, node %d, keys %d, verb %d, %llu-%llu%s%s\n", i, change->thread,
        change->node, change->keys, change->verb, (unsigned long long)change->begin,
        (unsigned long long)change->end, change->is_nested ? ", nested" : "",
        change->was_left ? ", left" : "");
  }
}

static void print_calls(void) {
  for (int i = 0; i < past.call_count; i++) {
    const call *call = &past.calls[i];
    printf("  call at %llu: thread %d, registration #%d, change %d%s, reads %d\n",
        (unsigned long long)call->at, call->thread, past.registrations[call->registration].label,
        call->change, call->is_prior ? ", prior" : "", call->read);
  }
}

static void print_links(void) {
  for (int i = 0; i < past.link_count; i++)
    printf("  link at %llu: %d to %d\n", (unsigned long long)past.links[i].at, past.links[i].node,
        past.links[i].to);
}

void print_history(void) {
  printf("history:\n");
  print_registrations();
  print_changes();
  print_calls();
  print_links();
}
