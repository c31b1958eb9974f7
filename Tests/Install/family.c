// Forked children, made while other threads change and observe, find the runtime in a consistent state.
#include <CKVORuntime.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct gauge {
  kvo_object object;
  int level;
} gauge;

#define GAUGE_PROPERTIES(PROPERTY) PROPERTY(gauge, int, level, Level, ASSIGN)
KVO_CLASS_INTERFACE(gauge, GAUGE_PROPERTIES)
KVO_CLASS_IMPLEMENTATION(gauge, "Gauge", kvo_root_class, GAUGE_PROPERTIES, NULL)

// HANG: seconds after which a hanging process is ended.
enum { THREADS = 2, CHILDREN = 200, HANG = 300 };

static atomic_bool is_over;
static gauge *shared;

static void count(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)object, (void)key, (void)change;
  ++*(int *)context;
}

static void end(void *context) { *(int *)context += 100; }

static kvo_handle *observe(gauge *observed, int *calls) {
  kvo_handle *handle = NULL;
  kvo_add_callback(&observed->object, "level", KVO_NEW, count, calls, end, &handle, NULL);
  return handle;
}

static void *change(void *unused) {
  (void)unused;
  gauge *own = (gauge *)kvo_object_create(gauge_class());
  for (int i = 0; !is_over; i++) {
    int calls = 0;
    kvo_handle *handle = observe(shared, &calls);
    gauge_setLevel(own, i);
    kvo_handle_release(handle);
  }
  kvo_object_release(&own->object);
  return NULL;
}

static void abort_hanging(int signal) {
  (void)signal;
  static const char text[] = "family: a process waits for ever\n";
  if (write(STDERR_FILENO, text, sizeof text - 1)) {}
  abort();
}

static void limit(void) {
  signal(SIGALRM, abort_hanging);
  alarm(HANG);
}

// A child is right if its observer is called once and its registration ends.
static int live(void) {
  int calls = 0;
  limit();
  kvo_handle *handle = observe(shared, &calls);
  gauge_setLevel(shared, 1);
  kvo_handle_release(handle);
  return calls == 101 ? 0 : 1;
}

static int fork_children(void) {
  int wrong = 0;
  for (int i = 0; i < CHILDREN; i++) {
    pid_t child = fork();
    int status = -1;
    if (child == 0) _exit(live());
    if (waitpid(child, &status, 0) != child || status != 0) wrong++;
  }
  return wrong;
}

int main(void) {
  pthread_t threads[THREADS];
  limit();
  shared = (gauge *)kvo_object_create(gauge_class());
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, change, NULL);
  int wrong = fork_children();
  is_over = true;
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  kvo_object_release(&shared->object);
  printf("%d of %d children went wrong\n", wrong, CHILDREN);
  return wrong > 0;
}
