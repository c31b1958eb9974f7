#include "fixture_transferred_changes.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_offset_object.h"
#include "fixture_threads.h"

static kvo_object *make(void) {
  kvo_object *object = kvo_object_create(gauge_class());
  if (!object) abort();
  return object;
}

static kvo_handle *observe_key(kvo_object *object, const char *key, kvo_options options,
    kvo_callback callback, void *context, void (*ended)(void *context)) {
  kvo_handle *handle;
  if (kvo_add_callback(object, key, options, callback, context, ended, &handle, NULL)) abort();
  return handle;
}

static kvo_handle *observe(kvo_object *object, kvo_options options, kvo_callback callback,
    void *context, void (*ended)(void *context)) {
  return observe_key(object, "first", options, callback, context, ended);
}

static void run_thread(void *(*body)(void *context), void *context) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, context)) abort();
  fixture_join(thread);
}

static kvo_frame *carried;

static void *begin_change(void *object) {
  carried = kvo_stored_property_will_change_key(object, kvo_key_intern("first"));
  return NULL;
}

// MARK: Forks

enum { HANDLES = 3 };

typedef struct {
  kvo_handle *handles[HANDLES];
  pid_t child;
  bool is_carried, is_called;
  int calls, ends, early_ends;
} forking;

static void release(forking *self, int from, int to) {
  for (int i = from; i < to; i++) kvo_handle_release(self->handles[i]);
}

static void fork_in_call(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  forking *self = context;
  self->calls++;
  self->is_called = true;
  int before = self->is_carried ? 1 : HANDLES;
  release(self, 0, before);
  self->child = fork();
  if (self->child == 0) fixture_limit_child();
  release(self, before, HANDLES);
  self->is_called = false;
}

static void count_end(void *context) {
  forking *self = context;
  self->ends++;
  self->early_ends += self->is_called;
}

bool transferred_changes_fork_in_call(bool is_carried) {
  forking self = {.child = -1, .is_carried = is_carried};
  kvo_object *object = make();
  for (int i = 0; i < HANDLES; i++)
    self.handles[i] = observe(object, 0, fork_in_call, &self, count_end);
  if (is_carried) {
    run_thread(begin_change, object);
    if (carried) kvo_stored_property_did_change(carried);
  } else gauge_setFirst((gauge *)object, 1);
  bool is_right = self.calls == 1 && self.ends == HANDLES && !self.early_ends;
  if (self.child == 0) _exit(!is_right);
  kvo_object_release(object);
  int status;
  return self.child > 0 && waitpid(self.child, &status, 0) == self.child && status == 0 && is_right;
}

// MARK: Records of threads that have ended

static void count_call(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)object, (void)key_path, (void)change;
  ++*(int *)context;
}

static void exit_thread(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path;
  if (kvo_change_is_prior(change)) pthread_exit(NULL);
}

static void *change_by_hand(void *object) {
  kvo_will_change(object, "first");
  return NULL;
}

static void *set_first(void *object) {
  gauge_setFirst(object, 1);
  return NULL;
}

int transferred_changes_calls_beside(void) {
  kvo_object *object = make();
  int calls = 0;
  kvo_handle *handle = observe(object, 0, count_call, &calls, NULL);
  run_thread(begin_change, object);
  run_thread(set_first, object);
  if (carried) kvo_stored_property_did_change(carried);
  kvo_handle_release(handle);
  kvo_object_release(object);
  return calls;
}

int transferred_changes_calls_after_exit(void) {
  kvo_object *changed = make(), *other = make();
  int calls = 0;
  kvo_handle *handle = observe(changed, KVO_OLD | KVO_NEW, count_call, &calls, NULL);
  kvo_handle *leaving = observe(other, KVO_PRIOR, exit_thread, NULL, NULL);
  run_thread(begin_change, changed);
  run_thread(change_by_hand, other);
  if (carried) kvo_stored_property_did_change(carried);
  kvo_handle_release(handle);
  kvo_handle_release(leaving);
  kvo_object_release(changed);
  kvo_object_release(other);
  return calls;
}

// MARK: Methods that announce changes

static pid_t forked;

static void fork_in_method(void) {
  forked = fork();
  if (forked == 0) fixture_limit_child();
}

static void *begin_announced(void *self) {
  offset_object *loud = self;
  carried = kvo_stored_property_will_change(&loud->header, &loud->room);
  return NULL;
}

int transferred_changes_calls_of_forking_method(void) {
  offset_object_install();
  offset_object loud = {.cls = offset_object_subclass(true)};
  int calls = 0, status;
  kvo_handle *handle = observe_key(&loud.header, "rent", 0, count_call, &calls, NULL);
  offset_object_interrupt(NULL, fork_in_method);
  run_thread(begin_announced, &loud);
  if (carried) kvo_stored_property_did_change(carried);
  if (forked == 0) _exit(calls);
  kvo_handle_release(handle);
  if (forked < 0 || waitpid(forked, &status, 0) != forked || !WIFEXITED(status)) return -1;
  return calls + WEXITSTATUS(status);
}

static int stage; // atomic

static void wait_in_method(void) {
  fixture_raise(&stage);
  fixture_await(&stage, 2);
}

static void *set_room(void *self) {
  offset_object_set_room(self, 1);
  return NULL;
}

static void *make_pair_within(void *argument) {
  offset_object *self = argument;
  kvo_frame *frame = kvo_stored_property_will_change(&self->header, &self->rent);
  kvo_will_change(&self->header, "rent");
  kvo_did_change(&self->header, "rent");
  if (frame) kvo_stored_property_did_change(frame);
  return NULL;
}

static int calls_in_child(offset_object *self, const int *calls) {
  pid_t child = fork();
  if (child == 0) {
    fixture_limit_child();
    run_thread(make_pair_within, self);
    _exit(*calls);
  }
  int status;
  bool has_ended = child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status);
  return has_ended ? WEXITSTATUS(status) : -1;
}

int transferred_changes_calls_after_fork_in_method(void) {
  static char stack[1 << 20] __attribute__((
      aligned(64))); // its own memory, so that the C library reuses it for no other thread
  offset_object_install();
  offset_object loud = {.cls = offset_object_subclass(true)}, other = {.cls = NULL};
  int calls = 0;
  kvo_handle *handles[] = {
      observe_key(&loud.header, "rent", 0, count_call, &calls, NULL),
      observe_key(&other.header, "rent", KVO_PRIOR, count_call, &calls, NULL),
  };
  offset_object_interrupt(wait_in_method, NULL);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack, sizeof stack) ||
      pthread_create(&thread, &attributes, set_room, &loud))
    abort();
  fixture_await(&stage, 1);
  int called = calls_in_child(&other, &calls);
  fixture_raise(&stage);
  fixture_join(thread);
  pthread_attr_destroy(&attributes);
  for (int i = 0; i < 2; i++) kvo_handle_release(handles[i]);
  return called;
}
