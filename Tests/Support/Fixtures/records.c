#include "fixture_records.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#include "fixture_threads.h"
#include "threads/kvo_thread.h"

static kvo_object *make(void) {
  kvo_object *object = kvo_object_create(gauge_class());
  if (!object) abort();
  return object;
}

static void ignore(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static kvo_handle *observe(kvo_object *object) {
  kvo_handle *handle;
  if (kvo_add_callback(object, "first", 0, ignore, NULL, NULL, &handle, NULL)) abort();
  return handle;
}

static kvo_frame *begin(kvo_object *object) {
  return kvo_stored_property_will_change_key(object, kvo_key_intern("first"));
}

// MARK: Records

int records_listed(void) {
  int count = 0;
  for (kvo_thread *thread = kvo_thread_first(); thread; thread = kvo_thread_next(thread)) count++;
  return count;
}

static void set_first(void *object, int index) { gauge_setFirst(object, index); }

int records_after_threads(int count) {
  kvo_object *object = make();
  kvo_handle *handle = observe(object);
  int before = records_listed();
  fixture_run_threads(count, set_first, object);
  int after = records_listed();
  kvo_handle_release(handle);
  kvo_object_release(object);
  return after - before;
}

static kvo_frame *suspended;

static void suspend(void *object, int index) {
  (void)index;
  suspended = begin(object);
}

records_left records_of_suspended_change(void) {
  kvo_object *object = make();
  kvo_handle *handle = observe(object);
  int before = records_listed();
  fixture_run_threads(1, suspend, object);
  records_left left = {.meanwhile = records_listed() - before};
  if (suspended) kvo_stored_property_did_change(suspended);
  left.then = records_listed() - before;
  kvo_handle_release(handle);
  kvo_object_release(object);
  return left;
}

// MARK: Frames

int frames_blocks(void) { return kvo_this_thread ? (int)kvo_this_thread->block_count : 0; }

// Each change is of a different object, because changes of one object would join.
int frames_of_overlapping_changes(int count, int open) {
  kvo_object **objects = calloc((size_t)open, sizeof *objects);
  kvo_handle **handles = calloc((size_t)open, sizeof *handles);
  kvo_frame **frames = calloc((size_t)open, sizeof *frames);
  if (!objects || !handles || !frames) abort();
  for (int i = 0; i < open; i++) handles[i] = observe(objects[i] = make());
  int most = 0;
  for (int i = 0; i < count; i++) {
    if (frames[i % open]) kvo_stored_property_did_change(frames[i % open]);
    frames[i % open] = begin(objects[i % open]);
    if (frames_blocks() > most) most = frames_blocks();
  }
  for (int i = 0; i < open; i++) {
    if (frames[i]) kvo_stored_property_did_change(frames[i]);
    kvo_handle_release(handles[i]);
    kvo_object_release(objects[i]);
  }
  free(objects);
  free(handles);
  free(frames);
  return most;
}

typedef struct {
  kvo_object *objects[2];
  kvo_frame *begun;
  int count, most;
  sem_t is_begun, is_taken;
} relay;

static void begin_each(relay *self) {
  for (int i = 0; i < self->count; i++) {
    self->begun = begin(self->objects[i % 2]);
    if (frames_blocks() > self->most) self->most = frames_blocks();
    sem_post(&self->is_begun);
    sem_wait(&self->is_taken);
  }
}

// The last one stays open until the next has begun.
static void end_each(relay *self) {
  kvo_frame *last = NULL;
  for (int i = 0; i < self->count; i++) {
    sem_wait(&self->is_begun);
    if (last) kvo_stored_property_did_change(last);
    last = self->begun;
    sem_post(&self->is_taken);
  }
  if (last) kvo_stored_property_did_change(last);
}

static void take_part(void *opaque, int index) {
  if (index) end_each(opaque);
  else begin_each(opaque);
}

int frames_of_changes_ended_elsewhere(int count) {
  relay relay = {.objects = {make(), make()}, .count = count};
  kvo_handle *handles[] = {observe(relay.objects[0]), observe(relay.objects[1])};
  sem_init(&relay.is_begun, 0, 0);
  sem_init(&relay.is_taken, 0, 0);
  fixture_run_threads(2, take_part, &relay);
  for (int i = 0; i < 2; i++) {
    kvo_handle_release(handles[i]);
    kvo_object_release(relay.objects[i]);
  }
  sem_destroy(&relay.is_begun);
  sem_destroy(&relay.is_taken);
  return relay.most;
}
