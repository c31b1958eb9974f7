#include "fixture_surroundings.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "fixture_stress.h"
#include "fixture_threads.h"

// A seccomp filter, which the kernel runs for each system call.
bool system_deny_membarrier(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return !prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) &&
         !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

// MARK: Keys

void fixture_take_all_keys(void) {
  pthread_key_t key;
  while (pthread_key_create(&key, NULL) == 0);
}

const void *fixture_first_key(void) { return pthread_getspecific(0); }

// MARK: Counts

/// The runtime's own counter. Private, but linked into the same program.
extern uint64_t kvo_serial;

uint64_t fixture_serial(void) { return __atomic_load_n(&kvo_serial, __ATOMIC_SEQ_CST); }

// MARK: Locks

typedef struct forking {
  kvo_binding_lock outer;
  int left;
  atomic_bool has_ended;
  bool ends_well;
} forking;

static void make_lock(forking *self) {
  kvo_binding_lock made;
  kvo_binding_lock_acquire(&self->outer);
  kvo_binding_lock_init(&made, false);
  kvo_binding_lock_destroy(&made);
  kvo_binding_lock_release(&self->outer);
}

static bool end_at_once(void *context) {
  (void)context;
  return true;
}

static void fork_or_make(void *context, int thread) {
  forking *self = context;
  while (thread == 0 && !atomic_load(&self->has_ended)) make_lock(self);
  while (thread == 1 && self->left-- > 0)
    if (fixture_fork(end_at_once, NULL)) self->ends_well = false;
  atomic_store(&self->has_ended, true);
}

bool fixture_make_locks_while_forking(int times) {
  forking self = {.left = times, .ends_well = true};
  kvo_binding_lock_init(&self.outer, true);
  fixture_run_threads(2, fork_or_make, &self);
  kvo_binding_lock_destroy(&self.outer);
  return self.ends_well;
}
