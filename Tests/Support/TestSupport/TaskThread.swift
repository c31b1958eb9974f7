/// Runs a task on a thread of a program that `inAllOrders` runs. The other thread provides what the task awaits.
package final class TaskThread: TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state = Locked(State())

  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.jobs.append(job) }
  }

  /// Runs a task to its end. Call it once.
  package func run(_ body: @escaping @Sendable () async -> Void) {
    let hasEnded = Locked(false)
    let task = Task(executorPreference: self) {
      await body()
      hasEnded.withLock { $0 = true }
    }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
    repeat {
      Orders.wait { self.state.withLock { !$0.jobs.isEmpty } }
      let job = state.withLock { $0.jobs.removeFirst() }
      job.runSynchronously(on: asUnownedTaskExecutor())
    } while !hasEnded.withLock { $0 }
  }

  /// Cancels the task, even before it exists. Any thread.
  package func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      return state.task
    }
    Orders.gate()
    // A task that ends waits for its cancellation handlers, which hold a lock of the Swift runtime.
    Orders.withoutGates { task?.cancel() }
  }
}
