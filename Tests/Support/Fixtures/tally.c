#include "fixture_tally.h"

#include "require.h"

// An interned key is its own token.
static void tell(kvo_reads *reads, tally *self, const char *key) {
  const char *token = kvo_key_intern(key);
  if (reads && !kvo_reads_follow(reads, &self->object, token))
    kvo_reads_add_known(reads, &self->object, token, token);
}

static long read_x(tally *self, kvo_reads *reads) {
  tell(reads, self, "x");
  return self->x;
}

static long read_y(tally *self, kvo_reads *reads) {
  tell(reads, self, "y");
  return self->y;
}

static long chosen(tally *self, kvo_reads *reads) {
  tell(reads, self, "which");
  return self->which ? read_y(self, reads) : read_x(self, reads);
}

static long total(tally *self, kvo_reads *reads) {
  long sum = read_x(self, reads);
  tell(reads, self, "next");
  return self->next ? sum + total(self->next, reads) : sum;
}

static long echo(tally *self, kvo_reads *reads) {
  long x = read_x(self, reads);
  if (self->echoes && self->y != x) tally_setY(self, x);
  return x;
}

static long both(tally *self, kvo_reads *reads) {
  return 100 * read_x(self, reads) + read_y(self, reads);
}

typedef struct {
  const char *key;
  long (*getter)(tally *self, kvo_reads *reads);
} computed;

static const computed all[] = {
    {"chosen", chosen}, {"total", total}, {"echo", echo}, {"both", both}};

static void track(kvo_object *object, const void *binding, kvo_reads *reads) {
  ((tally *)object)->tracked++;
  kvo_value *answer = kvo_reads_result(reads);
  long value = ((const computed *)binding)->getter((tally *)object, reads);
  if (answer) *answer = kvo_value_int(value);
}

static kvo_status get(kvo_object *object, const void *binding, kvo_value *value, kvo_error *error) {
  (void)error;
  ((tally *)object)->got++;
  *value = kvo_value_int(((const computed *)binding)->getter((tally *)object, NULL));
  return KVO_OK;
}

static void set_up(kvo_class *cls) {
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    kvo_error error = {0};
    const kvo_property_description property = {.key = all[i].key,
        .type = kvo_type_for_encoding("q", &error),
        .get = get,
        .binding = &all[i],
        .track = track};
    require_ok(error.status, &error);
    require_ok(kvo_class_add_property(cls, &property, &error), &error);
  }
}

KVO_CLASS_IMPLEMENTATION(tally, "CTally", kvo_root_class, TALLY_PROPERTIES, set_up)
