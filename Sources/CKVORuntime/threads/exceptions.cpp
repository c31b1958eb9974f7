// Ensures that an exception leaves no change open (D9). One of the two C++ files; the other is typed_interposers.cpp.
//
// An exception passes through C functions without any notice to them. Their cleanup is recorded in this thread's
// frames, or done by `undo`. It runs in a destructor rather than a handler, which leaves the exception unchanged and
// costs nothing until one is thrown.
#include "threads/kvo_exceptions.h"

namespace {

class rollback {
public:
  rollback(kvo_frame *mark, void (*undo)(void *), void *context)
      : mark(mark), undo(undo), context(context) {}

  rollback(const rollback &) = delete;
  rollback &operator=(const rollback &) = delete;

  ~rollback() {
    if (completed) return;
    kvo_thread_unwind(mark);
    if (undo) undo(context);
  }

  void complete() { completed = true; }

private:
  kvo_frame *mark;
  void (*undo)(void *);
  void *context;
  bool completed = false;
};

} // namespace

void kvo_run_unwinding(kvo_frame *mark, void (*body)(void *), void (*undo)(void *), void *context) {
  rollback rollback(mark, undo, context);
  body(context);
  rollback.complete();
}

// Not in a destructor, because `last` calls the program's code, which may throw.
void kvo_run_finally(kvo_frame *mark, void (*body)(void *), void (*last)(void *), void *context) {
  try {
    kvo_run_unwinding(mark, body, nullptr, context);
  } catch (...) {
    last(context);
    throw;
  }
  last(context);
}

void kvo_run_until_done(kvo_frame *mark, void (*body)(void *), void *context) {
  try {
    body(context);
  } catch (...) {
    kvo_thread_unwind(mark);
    kvo_run_until_done(mark, body, context);
    throw;
  }
}
