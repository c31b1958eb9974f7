#include "fixture_breaks.h"

#include <stdio.h>

static int64_t count;
static _Thread_local char last[512];

void kvo_break_on_misuse(const char *message) {
  __atomic_fetch_add(&count, 1, __ATOMIC_SEQ_CST);
  snprintf(last, sizeof last, "%s", message);
}

int64_t breaks_count(void) { return __atomic_load_n(&count, __ATOMIC_SEQ_CST); }

const char *breaks_last_message(void) { return last; }
