#include "fixture_closures.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

// Older headers lack these.
enum { SET_MDWE = 65, GET_MDWE = 66 }; // PR_SET_MDWE, PR_GET_MDWE
static const unsigned long refuse_exec_gain = 1;

#if defined(__x86_64__)
enum { MACHINE = AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = AUDIT_ARCH_AARCH64 };
#endif

/// The runtime's own switch. Private, but linked into the same program.
void kvo_ffi_set_closures_refused(bool refused);

void closures_refuse(bool refused) { kvo_ffi_set_closures_refused(refused); }

bool system_can_harden(void) {
  return prctl(GET_MDWE, 0L, 0L, 0L, 0L) >= 0 && prctl(PR_GET_SECCOMP) >= 0;
}

bool system_deny_write_execute(void) { return !prctl(SET_MDWE, refuse_exec_gain, 0L, 0L, 0L); }

// A seccomp filter, which the kernel runs for each system call: mmap with PROT_EXEC fails.
bool system_deny_execute(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 3),
      // The low half of the protection on a little-endian machine.
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  return !prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) &&
         !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
