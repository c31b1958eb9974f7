#include "fixture_programs.h"

#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture_account.h"
#include "fixture_closures.h"
#include "fixture_tally.h"
#include "fixture_watchdog.h"
#include "fixture_watcher.h"
#include "kvo_binding.h"

static const char program_variable[] = "KVO_FIXTURE_PROGRAM";

// The programs

static void misuse(account *object) {
  kvo_did_change(&object->object, "balance");
  fputs("survived\n", stderr);
}

static void hint(void) {
  if (kvo_wants_hints()) fputs("wanted\n", stderr);
  kvo_give_hint("a hint");
}

static void ignore(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)context;
  (void)object;
  (void)key;
  (void)change;
}

static void observe(account *object) {
  kvo_handle *handle;
  kvo_add_callback(&object->object, "balance", KVO_NEW, ignore, NULL, NULL, &handle, NULL);
  for (int balance = 1; balance <= 3; balance++) account_setBalance(object, balance);
  kvo_debug_dump(&object->object);
  kvo_handle_release(handle);
}

// By an observer that dies before the object does.
static void watch(account *object) {
  watcher *observer = (watcher *)kvo_object_create(watcher_class());
  kvo_add_observer(&object->object, (kvo_object *)observer, "balance", 0, NULL, NULL);
  account_setBalance(object, 1);
  kvo_object_release((kvo_object *)observer);
}

// On a system that refuses closures.
static void observe_refused(account *object) {
  kvo_error error = {0};
  kvo_handle *handle = NULL;
  closures_refuse(true);
  kvo_status status =
      kvo_add_callback(&object->object, "balance", 0, ignore, NULL, NULL, &handle, &error);
  fprintf(stderr, "%s: %s\n", kvo_status_name(status), error.message);
  kvo_handle_release(handle);
}

// Sets the property until the stack ends. Each change is over before the next begins.
static double set_for_ever(account *object, double balance) {
  account_setBalance(object, balance);
  return balance < 1e9 ? set_for_ever(object, balance + 1) + 1 : 0; // no tail call
}

static void *use_up_stack(void *opaque) {
  account *object = opaque;
  kvo_handle *handle;
  kvo_add_callback(&object->object, "balance", 0, ignore, NULL, NULL, &handle, NULL);
  set_for_ever(object, 1);
  return NULL;
}

static void run_recursion(account *object) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  if (!pthread_create(&thread, &attributes, use_up_stack, object)) fixture_join(thread);
}

static void write_x(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  (void)context, (void)object, (void)key;
  fprintf(stderr, "x %lld\n", (long long)kvo_value_get_int(kvo_change_get_new(change)));
}

// A setter that leads the path of its object's `next` to the object.
static void lead_and_set(kvo_object *self, const kvo_method *method, long x) {
  (void)method;
  tally *member = (tally *)self;
  tally_setNext(member->next, member);
  member->x = x;
}

// In a process with one thread. The class is observed already, and the object is not.
static void lead(void) {
  kvo_class *cls = kvo_class_create("CLoneLeader", tally_class(), sizeof(tally), NULL);
  kvo_class_add_method(cls, "setX:", (kvo_imp)lead_and_set, KVO_SETTER(long), NULL, NULL);
  kvo_class_register(cls, NULL);
  tally *other = (tally *)kvo_object_create(cls), *member = (tally *)kvo_object_create(cls);
  tally *root = (tally *)kvo_object_create(tally_class());
  kvo_handle *handles[2];
  kvo_add_callback(&other->object, "x", 0, ignore, NULL, NULL, &handles[0], NULL);
  kvo_add_callback(&root->object, "next.x", KVO_NEW, write_x, NULL, NULL, &handles[1], NULL);
  tally_setNext(member, root);
  tally_setX(member, 5);
  for (int i = 0; i < 2; i++) kvo_handle_release(handles[i]);
  tally_setNext(root, NULL);
  kvo_object_release(&root->object);
  kvo_object_release(&member->object);
  kvo_object_release(&other->object);
}

// Replaces main: nothing else of the executable runs.
__attribute__((constructor)) static void become_program(void) {
  const char *program = getenv(program_variable);
  if (!program) return;
  account *object = (account *)kvo_object_create(account_class());
  if (strcmp(program, "misuse") == 0) misuse(object);
  if (strcmp(program, "hint") == 0) hint();
  if (strcmp(program, "observe") == 0) observe(object);
  if (strcmp(program, "watch") == 0) watch(object);
  if (strcmp(program, "observe-refused") == 0) observe_refused(object);
  if (strcmp(program, "recursion") == 0) run_recursion(object);
  if (strcmp(program, "lead") == 0) lead();
  kvo_object_release(&object->object);
  fflush(stderr);
  _exit(0);
}

// Running one

enum { ADDED = 3 };

// The environment with more variables in front, to be freed. The caller owns the strings.
static char **extended_environment(char *const added[ADDED]) {
  size_t count = 0;
  while (environ[count]) count++;
  char **extended = calloc(ADDED + count + 1, sizeof *extended);
  if (!extended) abort();
  memcpy(extended, added, ADDED * sizeof *extended);
  memcpy(extended + ADDED, environ, count * sizeof *extended);
  return extended;
}

static pid_t start(const char *program, const char *variable, const char *value, int errors) {
  char choice[64], option[128];
  // Swift's crash reporter would outlive the program and keep its stderr open.
  char no_reporter[] = "SWIFT_BACKTRACE=enable=no";
  char *arguments[] = {(char[]){"program"}, NULL};
  pid_t child;
  posix_spawn_file_actions_t actions;
  snprintf(choice, sizeof choice, "%s=%s", program_variable, program);
  snprintf(option, sizeof option, "%s=%s", variable, value);
  char **environment = extended_environment((char *[ADDED]){choice, option, no_reporter});
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  if (posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environment)) abort();
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return child;
}

// Reads to the end, so that the program never blocks, and keeps what fits.
static void read_errors(int from, char *errors, size_t capacity) {
  size_t length = 0;
  char rest[512];
  for (;;) {
    bool fits = length + 1 < capacity;
    ssize_t count =
        fits ? read(from, errors + length, capacity - 1 - length) : read(from, rest, sizeof rest);
    if (count <= 0) break;
    if (fits) length += (size_t)count;
  }
  errors[length] = 0;
}

fixture_run fixture_run_program(const char *program, const char *variable, const char *value) {
  fixture_run run = {.exit_code = -1};
  int ends[2], status = 0;
  if (pipe2(ends, O_CLOEXEC)) abort();
  pid_t child = start(program, variable, value, ends[1]);
  close(ends[1]);
  int wait = fixture_wait_begin(__FILE__, __LINE__);
  read_errors(ends[0], run.errors, sizeof run.errors);
  close(ends[0]);
  waitpid(child, &status, 0);
  fixture_wait_end(wait);
  if (WIFEXITED(status)) run.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) run.signal = WTERMSIG(status);
  return run;
}
