/// Checks the instructions between a setter and its observers. A child process sets properties, and its parent
/// single-steps through them. There must be no atomic read-modify-write, no fence, no call of the allocator and no
/// system call.
///
/// Run by Scripts/checks/counts. For x86-64.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "CKVORuntime.h"
#include "support.h"

// MARK: What is set

typedef struct gauge {
  kvo_object object;
  bool flag;
  short small;
  int number;
  unsigned long large;
  float ratio;
  double level;
  void *pointer;
  struct gauge *next;
  double sum; ///< derived from the level
} gauge;

#define GAUGE_PROPERTIES(PROPERTY)                     \
  PROPERTY(gauge, bool, flag, Flag, ASSIGN)            \
  PROPERTY(gauge, short, small, Small, ASSIGN)         \
  PROPERTY(gauge, int, number, Number, ASSIGN)         \
  PROPERTY(gauge, unsigned long, large, Large, ASSIGN) \
  PROPERTY(gauge, float, ratio, Ratio, ASSIGN)         \
  PROPERTY(gauge, double, level, Level, ASSIGN)        \
  PROPERTY(gauge, void *, pointer, Pointer, ASSIGN)    \
  PROPERTY(gauge, struct gauge *, next, Next, RETAIN)  \
  PROPERTY(gauge, double, sum, Sum, READONLY)
KVO_CLASS_INTERFACE(gauge, GAUGE_PROPERTIES)

static void gauge_setup(kvo_class *cls) {
  kvo_error error;
  bench_require_ok(kvo_class_add_dependency(cls, "sum", "level", &error), &error);
}

KVO_CLASS_IMPLEMENTATION(gauge, "Gauge", kvo_root_class, GAUGE_PROPERTIES, gauge_setup)

static gauge *observed;
static int shared;

static void set_flag(void) { gauge_setFlag(observed, true); }
static void set_small(void) { gauge_setSmall(observed, 2); }
static void set_number(void) { gauge_setNumber(observed, 3); }
static void set_large(void) { gauge_setLarge(observed, 4); }
static void set_ratio(void) { gauge_setRatio(observed, 5); }
static void set_level(void) { gauge_setLevel(observed, 6); }
static void set_pointer(void) { gauge_setPointer(observed, &shared); }
// Does one of each, to prove that the parent detects them.
static void control(void) {
  __atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
  void *volatile memory = malloc(1);
  free(memory);
  getppid();
}

typedef struct path {
  const char *key; ///< NULL: the control
  void (*set)(void);
  kvo_options options;
  size_t observers;
  bool closures_forced, long_way_forced;
  /// How many are allowed: the root of a path is retained during its observer's call, and an object during the
  /// program's getter.
  size_t atomics;
} path;

static const path paths[] = {
    {NULL, control, .observers = 0},
    {"flag", set_flag, .observers = 1},
    {"flag", set_flag, KVO_OLD | KVO_NEW, .observers = 1},
    {"small", set_small, KVO_OLD | KVO_NEW, .observers = 1},
    {"number", set_number, KVO_OLD | KVO_NEW, .observers = 1},
    {"large", set_large, KVO_OLD | KVO_NEW, .observers = 1},
    {"ratio", set_ratio, KVO_OLD | KVO_NEW, .observers = 1},
    {"pointer", set_pointer, KVO_OLD | KVO_NEW, .observers = 1},
    {"level", set_level, .observers = 1},
    {"level", set_level, KVO_NEW, .observers = 1},
    {"level", set_level, KVO_OLD | KVO_NEW, .observers = 1},
    {"level", set_level, KVO_OLD | KVO_NEW | KVO_DISTINCT, .observers = 1},
    {"level", set_level, KVO_OLD | KVO_NEW, .observers = 10},
    {"level", set_level, KVO_OLD | KVO_NEW, .observers = 1, .closures_forced = true},
    {"level", set_level, .observers = 1, .long_way_forced = true},
    {"level", set_level, KVO_OLD | KVO_NEW, .observers = 1, .long_way_forced = true},
    {"level", set_level, KVO_OLD | KVO_NEW, .observers = 1, .closures_forced = true,
        .long_way_forced = true},
    {"sum", set_level, .observers = 1},
    {"sum", set_level, KVO_OLD | KVO_NEW, .observers = 1, .atomics = 2},
    {"next.level", set_level, .observers = 1, .atomics = 2},
};
enum { PATH_COUNT = sizeof paths / sizeof *paths, OBSERVERS_MAX = 10 };

// MARK: The child

// The parent counts between these two calls.
static __attribute__((noinline)) void mark_begin(void) { __asm__ volatile("" ::: "memory"); }
static __attribute__((noinline)) void mark_end(void) { __asm__ volatile("nop" ::: "memory"); }

// The property is set twice before it counts, which fills caches.
static void walk(const path *path) {
  for (int i = 0; i < 2; i++) path->set();
  raise(SIGSTOP);
  mark_begin();
  path->set();
  mark_end();
}

static void walk_observed(const path *path) {
  kvo_handle *handles[OBSERVERS_MAX];
  uint64_t deliveries = 0;
  kvo_set_closures_forced(path->closures_forced);
  kvo_set_fast_path_disabled(path->long_way_forced);
  observed = (gauge *)kvo_object_create(gauge_class());
  gauge *root = observed;
  if (strchr(path->key, '.')) {
    root = (gauge *)kvo_object_create(gauge_class());
    gauge_setNext(root, observed);
  }
  for (size_t i = 0; i < path->observers; i++)
    handles[i] = bench_observe(&root->object, path->key, path->options, &deliveries);
  walk(path);
  uint64_t expected = path->options & KVO_DISTINCT ? 1 : 3;
  bench_require(deliveries == expected * path->observers, "%s notified %llu times", path->key,
      (unsigned long long)deliveries);
  for (size_t i = 0; i < path->observers; i++) kvo_handle_release(handles[i]);
  if (root != observed) kvo_object_release(&root->object);
  kvo_object_release(&observed->object);
}

static pid_t start_child(const path *path) {
  pid_t child = fork();
  bench_require(child >= 0, "fork: %s", strerror(errno));
  if (child) return child;
  bench_require(!ptrace(PTRACE_TRACEME, 0, NULL, NULL), "ptrace: %s", strerror(errno));
  if (path->key) walk_observed(path);
  else walk(path);
  _exit(0);
}

// MARK: Inspecting instructions

typedef struct findings {
  size_t instructions, atomics, allocations, system_calls;
} findings;

static bool is_prefix(uint8_t byte) {
  return byte == 0x66 || byte == 0x67 || byte == 0xF2 || byte == 0xF3 || byte == 0x2E ||
         byte == 0x36 || byte == 0x3E || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

// A locked instruction, an exchange with memory, which locks implicitly, or a full fence.
static bool is_atomic(const uint8_t *code) {
  while (is_prefix(*code)) code++;
  if (*code == 0xF0) return true;
  if ((*code & 0xF0) == 0x40) code++;
  bool exchanges = (code[0] == 0x86 || code[0] == 0x87) && code[1] < 0xC0;
  return exchanges || (code[0] == 0x0F && code[1] == 0xAE && code[2] == 0xF0);
}

static bool is_system_call(const uint8_t *code) { return code[0] == 0x0F && code[1] == 0x05; }

static bool is_allocator(uintptr_t address) {
  return address == (uintptr_t)malloc || address == (uintptr_t)calloc ||
         address == (uintptr_t)realloc || address == (uintptr_t)free ||
         address == (uintptr_t)aligned_alloc;
}

static void read_code(pid_t child, uintptr_t address, uint8_t code[2 * sizeof(long)]) {
  for (size_t i = 0; i < 2; i++) {
    long word = ptrace(PTRACE_PEEKTEXT, child, address + i * sizeof word, NULL);
    memcpy(code + i * sizeof word, &word, sizeof word);
  }
}

static void look(pid_t child, uintptr_t address, findings *found) {
  uint8_t code[2 * sizeof(long)];
  read_code(child, address, code);
  found->instructions++;
  found->atomics += is_atomic(code);
  found->allocations += is_allocator(address);
  found->system_calls += is_system_call(code);
}

static uintptr_t step(pid_t child) {
  int status;
  struct user_regs_struct registers;
  ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
  waitpid(child, &status, 0);
  bench_require(WIFSTOPPED(status), "the child ended on its way: status %#x", (unsigned)status);
  ptrace(PTRACE_GETREGS, child, NULL, &registers);
  return registers.rip;
}

static findings follow(const path *path) {
  findings found = {0};
  int status;
  pid_t child = start_child(path);
  waitpid(child, &status, 0);
  bench_require(WIFSTOPPED(status), "the child did not stop: status %#x", (unsigned)status);
  while (step(child) != (uintptr_t)mark_begin) {}
  for (uintptr_t at; (at = step(child)) != (uintptr_t)mark_end;) look(child, at, &found);
  ptrace(PTRACE_CONT, child, NULL, NULL);
  waitpid(child, &status, 0);
  bench_require(WIFEXITED(status) && !WEXITSTATUS(status), "the child failed");
  return found;
}

// MARK: Reporting

static bool is_clean(const findings *found, size_t atomics) {
  return found->atomics <= atomics && !found->allocations && !found->system_calls;
}

static bool has_each(const findings *found) {
  return found->atomics && found->allocations && found->system_calls;
}

static bool judge(const path *path, const findings *found) {
  bool right = path->key ? is_clean(found, path->atomics) : has_each(found);
  printf(
      "%-10s %-7s %-5s %-17s %2zu observers: %4zu instructions, %zu atomic, %zu of the allocator, "
      "%zu system calls%s\n",
      path->key ? path->key : "control", path->closures_forced ? "closure" : "typed",
      path->long_way_forced ? "long" : "",
      path->options & KVO_DISTINCT ? "old new, distinct"
      : path->options & KVO_OLD    ? "old new"
      : path->options & KVO_NEW    ? "new"
                                   : "",
      path->observers, found->instructions, found->atomics, found->allocations, found->system_calls,
      right ? "" : " WRONG");
  return right;
}

// Private to the runtime. With symmetric fences a delivery has two fences.
extern bool kvo_fences_are_asymmetric;

int main(void) {
  size_t wrong = 0;
  kvo_object_release(kvo_object_create(gauge_class()));
  if (!kvo_fences_are_asymmetric) {
    puts("nothing looked at: the kernel has no membarrier(2), so deliveries have fences");
    return 0;
  }
  for (size_t i = 0; i < PATH_COUNT; i++) {
    findings found = follow(&paths[i]);
    wrong += !judge(&paths[i], &found);
  }
  printf("%d ways from a setter to observers, %zu with what should not be there\n", PATH_COUNT - 1,
      wrong);
  return wrong > 0;
}
