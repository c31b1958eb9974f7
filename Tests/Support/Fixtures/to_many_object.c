#include "fixture_to_many_object.h"

#include "require.h"

#include <pthread.h>
#include <string.h>

// names

static unsigned char count_names(to_many_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return (unsigned char)self->name_count;
}

static const char *name_at(to_many_object *self, const kvo_method *_cmd, short index) {
  (void)_cmd;
  return self->names[index];
}

static unsigned name_index(to_many_object *self, const kvo_method *_cmd, const char *name) {
  (void)_cmd;
  for (unsigned i = 0; i < self->name_count; i++)
    if (name && !strcmp(self->names[i], name)) return i;
  return (unsigned)-1;
}

static void insert_name(to_many_object *self, const kvo_method *_cmd, const char *name,
    short index) {
  (void)_cmd;
  for (size_t i = self->name_count++; i > (size_t)index; i--) self->names[i] = self->names[i - 1];
  self->names[index] = NULL;
  kvo_store_copied_string(&self->names[index], name);
}

static void remove_name(to_many_object *self, const kvo_method *_cmd, short index) {
  (void)_cmd;
  kvo_store_copied_string(&self->names[index], NULL);
  self->name_count--;
  for (size_t i = (size_t)index; i < self->name_count; i++) self->names[i] = self->names[i + 1];
  self->names[self->name_count] = NULL;
}

// colours

static long count_colours(to_many_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return (long)self->colour_count;
}

static rgb colour_at(to_many_object *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  return self->colours[index];
}

static void colours_in(to_many_object *self, const kvo_method *_cmd, rgb *buffer, size_t at,
    size_t length) {
  (void)_cmd;
  memcpy(buffer, self->colours + at, length * sizeof *buffer);
}

static void insert_colours(to_many_object *self, const kvo_method *_cmd, kvo_collection *colours,
    const kvo_index_set *indexes) {
  (void)_cmd;
  for (size_t i = 0; i < kvo_index_set_count(indexes); i++) {
    kvo_value value;
    size_t index = kvo_index_set_index(indexes, i);
    memmove(self->colours + index + 1, self->colours + index,
        (self->colour_count++ - index) * sizeof(rgb));
    kvo_collection_get(colours, i, &value, NULL);
    memcpy(&self->colours[index], kvo_value_bytes(&value), sizeof(rgb));
    kvo_value_destroy(&value);
  }
}

static void remove_colour(to_many_object *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  self->colour_count--;
  memmove(self->colours + index, self->colours + index + 1,
      (self->colour_count - index) * sizeof(rgb));
}

// friends

static size_t count_friends(to_many_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return self->friend_count;
}

static kvo_collection *all_friends(to_many_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  kvo_value values[TO_MANY_OBJECT_ROOM];
  for (size_t i = 0; i < self->friend_count; i++)
    values[i] = kvo_value_object(&self->friends[i]->object);
  kvo_collection *all = kvo_collection_create(KVO_SET, values, self->friend_count, NULL);
  for (size_t i = 0; i < self->friend_count; i++) kvo_value_destroy(&values[i]);
  return all;
}

static tracked *friend_equal_to(to_many_object *self, const kvo_method *_cmd, tracked *other) {
  (void)_cmd;
  for (size_t i = 0; i < self->friend_count; i++)
    if (self->friends[i] == other) return other;
  return NULL;
}

static void add_friend(to_many_object *self, const kvo_method *_cmd, tracked *friend) {
  if (!friend_equal_to(self, _cmd, friend))
    kvo_store_retained_object(&self->friends[self->friend_count++], friend);
}

static void remove_friend(to_many_object *self, const kvo_method *_cmd, tracked *friend) {
  (void)_cmd;
  for (size_t i = 0; i < self->friend_count; i++) {
    if (self->friends[i] != friend) continue;
    self->friends[i] = self->friends[--self->friend_count];
    self->friends[self->friend_count] = NULL;
    kvo_object_release(&friend->object);
    return;
  }
}

// blobs

static int count_blobs(to_many_object *self, const kvo_method *_cmd) {
  (void)self, (void)_cmd;
  return 3;
}

static blob blob_at(to_many_object *self, const kvo_method *_cmd, size_t index) {
  (void)self, (void)_cmd;
  return (blob){{(int64_t)index + 1}};
}

static void dealloc(kvo_object *object, const kvo_method *_cmd) {
  to_many_object *self = (to_many_object *)object;
  while (self->name_count) remove_name(self, _cmd, 0);
  while (self->friend_count) remove_friend(self, _cmd, self->friends[0]);
  kvo_object_release(self->numbers);
  kvo_object_release(self->crowd);
  kvo_object_release(self->line);
}

static const struct {
  const char *selector;
  kvo_imp imp;
  const char *encoding;
} methods[] = {
    {"countOfNames", (kvo_imp)count_names, "C@:"},
    {"objectInNamesAtIndex:", (kvo_imp)name_at, "*@:s"},
    {"indexInNamesOfObject:", (kvo_imp)name_index, "I@:*"},
    {"insertObject:inNamesAtIndex:", (kvo_imp)insert_name, "v@:*s"},
    {"removeObjectFromNamesAtIndex:", (kvo_imp)remove_name, "v@:s"},
    {"countOfColours", (kvo_imp)count_colours, "q@:"},
    {"objectInColoursAtIndex:", (kvo_imp)colour_at, "{rgb=CCC}@:Q"},
    {"getColours:range:", (kvo_imp)colours_in, "v@:^vQQ"},
    {"insertColours:atIndexes:", (kvo_imp)insert_colours, "v@:@^v"},
    {"removeObjectFromColoursAtIndex:", (kvo_imp)remove_colour, "v@:Q"},
    {"countOfFriends", (kvo_imp)count_friends, "Q@:"},
    {"enumeratorOfFriends", (kvo_imp)all_friends, "@@:"},
    {"memberOfFriends:", (kvo_imp)friend_equal_to, "@@:@"},
    {"addFriendsObject:", (kvo_imp)add_friend, "v@:@"},
    {"removeFriendsObject:", (kvo_imp)remove_friend, "v@:@"},
    {"countOfBlobs", (kvo_imp)count_blobs, "i@:"},
    {"objectInBlobsAtIndex:", (kvo_imp)blob_at, "{blob=[9q]}@:Q"},
};

static const kvo_class *make_class(void) {
  kvo_error error = {0};
  kvo_class *cls = kvo_class_create("CCrate", NULL, sizeof(to_many_object), &error);
  require_ok(error.status, &error);
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
    require_method(cls, methods[i].selector, methods[i].imp, KVO_ENCODED(methods[i].encoding));
  require_ivar(cls, "numbers", offsetof(to_many_object, numbers),
      (kvo_layout)KVO_STRUCT(void *, "@"));
  require_ivar(cls, "_crowd", offsetof(to_many_object, crowd), (kvo_layout)KVO_STRUCT(void *, "@"));
  require_ivar(cls, "line", offsetof(to_many_object, line), (kvo_layout)KVO_STRUCT(void *, "@"));
  require_hook(cls, "dealloc", (kvo_imp)dealloc);
  require_ok(kvo_class_register(cls, &error), &error);
  return cls;
}

static const kvo_class *made;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_once(void) { made = make_class(); }

const kvo_class *to_many_object_class(void) {
  pthread_once(&once, make_once);
  return made;
}
