// Functions that connect signals and cast: GTK has macros for both, which Swift
// does not import.

import CGTK

typealias Widget = UnsafeMutablePointer<GtkWidget>
typealias Action = @MainActor () -> Void

/// An action, boxed so that GTK can store it as a pointer.
private final class Box {
  let action: Action
  init(_ action: @escaping Action) { self.action = action }

  static func pointer(_ action: @escaping Action) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(Box(action)).toOpaque()
  }

  static func perform(_ box: UnsafeMutableRawPointer?) {
    let action = Unmanaged<Box>.fromOpaque(box!).takeUnretainedValue().action
    MainActor.assumeIsolated { action() }
  }

  static func release(_ box: UnsafeMutableRawPointer?) {
    Unmanaged<Box>.fromOpaque(box!).release()
  }
}

/// Performs an action whenever a widget emits a signal without arguments.
func connect(_ widget: Widget, _ signal: String, _ action: @escaping Action) {
  typealias Handler =
    @convention(c) (OpaquePointer, UnsafeMutableRawPointer) -> Void
  let handler: Handler = { _, box in Box.perform(box) }
  g_signal_connect_data(
    widget, signal, unsafeBitCast(handler, to: GCallback.self),
    Box.pointer(action), { box, _ in Box.release(box) }, GConnectFlags(0))
}

/// Performs an action on the main thread, in the next iteration of GTK's main
/// loop. It may be called on any thread.
func onMainLoop(_ action: @escaping Action) {
  g_idle_add_full(
    G_PRIORITY_DEFAULT,
    { box in
      Box.perform(box)
      return 0
    },
    Box.pointer(action), { box in Box.release(box) })
}

/// A widget, cast to the GTK class that a function requires.
func cast<Class>(_ widget: Widget) -> UnsafeMutablePointer<Class> {
  UnsafeMutableRawPointer(widget).assumingMemoryBound(to: Class.self)
}
