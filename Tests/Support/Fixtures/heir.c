#include "fixture_heir.h"

#include "fixture_threads.h"
#include "require.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct heir {
  kvo_object object;
  struct heir *parent; // not owned
  struct heir *first, *second;
  kvo_collection *many;
  struct heir *held;
  bool *lends, *borrows;
  int number;
} heir;

#define HEIR_PROPERTIES(PROPERTY)                       \
  PROPERTY(heir, struct heir *, first, First, RETAIN)   \
  PROPERTY(heir, struct heir *, second, Second, RETAIN) \
  PROPERTY(heir, kvo_collection *, many, Many, RETAIN)
KVO_CLASS_INTERFACE(heir, HEIR_PROPERTIES)

static _Thread_local size_t deaths;
static _Thread_local size_t deaths_with_loan;
static _Thread_local char *deaths_order; // where deaths are recorded, or NULL
static _Thread_local size_t room;

static void note(const heir *self) {
  if (self->number < 0) return;
  char text[32];
  if (self->parent) snprintf(text, sizeof text, " %d<%d", self->number, self->parent->number);
  else snprintf(text, sizeof text, "%d", self->number);
  size_t length = strlen(deaths_order);
  snprintf(deaths_order + length, room - length, "%s", text);
}

static void dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  deaths++;
  if (deaths_order) note((heir *)self);
  heir *dying = (heir *)self;
  if (dying->borrows && *dying->borrows) deaths_with_loan++;
  if (dying->held) kvo_object_release(&dying->held->object);
  if (dying->lends) *dying->lends = false;
}

static void set_up(kvo_class *cls) { require_hook(cls, "dealloc", (kvo_imp)dealloc); }
KVO_CLASS_IMPLEMENTATION(heir, "CHeir", kvo_root_class, HEIR_PROPERTIES, set_up)

static heir *make(heir *parent, int number) {
  heir *made = (heir *)kvo_object_create(heir_class());
  made->parent = parent;
  made->number = number;
  return made;
}

// Leaves the objects to the collection alone.
static void own_many(heir *owner, kvo_collection_kind kind, heir *one, heir *other) {
  kvo_value values[] = {kvo_value_int(1), kvo_value_object(&one->object), KVO_VALUE_NIL};
  if (other) values[2] = kvo_value_object(&other->object);
  kvo_collection *many = kvo_collection_create(kind, values, other ? 3 : 2, NULL);
  for (int i = 0; i < 3; i++) kvo_value_destroy(&values[i]);
  kvo_object_release(&one->object);
  if (other) kvo_object_release(&other->object);
  heir_setMany(owner, many);
  kvo_object_release((kvo_object *)many);
}

static void own(heir *owner, heir *owned, bool is_second) {
  if (is_second) heir_setSecond(owner, owned);
  else heir_setFirst(owner, owned);
  kvo_object_release(&owned->object);
}

static void release(void *object) { kvo_object_release(object); }

static void associate(heir *owner, heir *owned) {
  static const char key;
  kvo_error error = {0};
  require_ok(kvo_object_associate(&owner->object, &key, owned, release, &error), &error);
}

static void link_by(heir_link link, heir *owner, heir *owned) {
  switch (link) {
  case HEIR_FIRST: own(owner, owned, false); break;
  case HEIR_SECOND: own(owner, owned, true); break;
  case HEIR_ARRAY: own_many(owner, KVO_ARRAY, owned, NULL); break;
  case HEIR_SET: own_many(owner, KVO_SET, owned, NULL); break;
  case HEIR_HELD: owner->held = owned; break;
  case HEIR_ASSOCIATED: associate(owner, owned); break;
  }
}

size_t heir_end_chain(size_t length, heir_link link) {
  heir *head = make(NULL, 0);
  for (size_t i = 1; i < length; i++) {
    heir *owner = make(NULL, 0);
    link_by(link, owner, head);
    head = owner;
  }
  deaths = 0;
  kvo_object_release(&head->object);
  return deaths;
}

typedef struct {
  size_t length, deaths_with_loan;
} lenders;

static void *end_lenders(void *opaque) {
  lenders *lenders = opaque;
  bool *loans = calloc(lenders->length, sizeof *loans);
  heir *head = NULL;
  for (size_t i = 0; i < lenders->length; i++) {
    heir *owner = make(NULL, 0);
    loans[i] = true;
    owner->lends = &loans[i];
    owner->held = head;
    if (head) head->borrows = &loans[i];
    head = owner;
  }
  kvo_object_release(&head->object);
  lenders->deaths_with_loan = deaths_with_loan;
  free(loans);
  return NULL;
}

size_t heir_end_lenders(size_t length, size_t stack_size) {
  lenders lenders = {.length = length};
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, stack_size) ||
      pthread_create(&thread, &attributes, end_lenders, &lenders))
    abort();
  fixture_join(thread);
  pthread_attr_destroy(&attributes);
  return lenders.deaths_with_loan;
}

static heir *make_tree(heir *parent, int depth, int *number) {
  heir *made = make(parent, (*number)++);
  if (!depth) return made;
  own(made, make_tree(made, depth - 1, number), false);
  own(made, make_tree(made, depth - 1, number), true);
  heir *one = make_tree(made, depth - 1, number);
  own_many(made, KVO_ARRAY, one, make_tree(made, depth - 1, number));
  return made;
}

void heir_end_tree(char *order, size_t capacity, size_t depth) {
  int number = 0;
  heir *root = make_tree(NULL, 2, &number);
  for (size_t i = 0; i < depth; i++) {
    heir *owner = make(NULL, -1);
    own(owner, root, false);
    root = owner;
  }
  *order = 0;
  deaths_order = order;
  room = capacity;
  kvo_object_release(&root->object);
  deaths_order = NULL;
}
