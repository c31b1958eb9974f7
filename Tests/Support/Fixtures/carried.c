#include "fixture_carried.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_threads.h"

static kvo_object *make(void) {
  kvo_object *object = kvo_object_create(gauge_class());
  if (!object) abort();
  return object;
}

static kvo_handle *observe(kvo_object *object, kvo_options options, kvo_callback callback,
    void *context, void (*ended)(void *context)) {
  kvo_handle *handle;
  if (kvo_add_callback(object, "first", options, callback, context, ended, &handle, NULL)) abort();
  return handle;
}

static void run_thread(void *(*body)(void *context), void *context) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, body, context)) abort();
  fixture_join(thread);
}

static kvo_frame *carried;

static void *begin_change(void *object) {
  carried = kvo_uniform_will_key(object, kvo_key_intern("first"));
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

bool carried_fork_in_call(bool is_carried) {
  forking self = {.child = -1, .is_carried = is_carried};
  kvo_object *object = make();
  for (int i = 0; i < HANDLES; i++)
    self.handles[i] = observe(object, 0, fork_in_call, &self, count_end);
  if (is_carried) {
    run_thread(begin_change, object);
    if (carried) kvo_uniform_did(carried);
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

int carried_calls_beside(void) {
  kvo_object *object = make();
  int calls = 0;
  kvo_handle *handle = observe(object, 0, count_call, &calls, NULL);
  run_thread(begin_change, object);
  run_thread(set_first, object);
  if (carried) kvo_uniform_did(carried);
  kvo_handle_release(handle);
  kvo_object_release(object);
  return calls;
}

int carried_calls_after_exit(void) {
  kvo_object *changed = make(), *other = make();
  int calls = 0;
  kvo_handle *handle = observe(changed, KVO_OLD | KVO_NEW, count_call, &calls, NULL);
  kvo_handle *leaving = observe(other, KVO_PRIOR, exit_thread, NULL, NULL);
  run_thread(begin_change, changed);
  run_thread(change_by_hand, other);
  if (carried) kvo_uniform_did(carried);
  kvo_handle_release(handle);
  kvo_handle_release(leaving);
  kvo_object_release(changed);
  kvo_object_release(other);
  return calls;
}
