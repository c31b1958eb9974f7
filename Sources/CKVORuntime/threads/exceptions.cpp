// Sees to it that an exception leaves no change open (D9): one of the two files of C++, with typed_interposers.cpp.
//
// Functions of C are passed by an exception without being told. What they would have done at their
// end hangs on this thread's frames, or is done by `undo`. A destructor does it rather than a
// handler: it leaves the exception as it is, and costs nothing until one is thrown.
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

// Not by a destructor: `last` calls the user, who may throw.
void kvo_run_finally(kvo_frame *mark, void (*body)(void *), void (*last)(void *), void *context) {
  try {
    kvo_run_unwinding(mark, body, nullptr, context);
  } catch (...) {
    last(context);
    throw;
  }
  last(context);
}
