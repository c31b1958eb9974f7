// Widgets of GTK 4 as objects with keys. What the user types or drags is a property that can be
// observed and bound, and setting the property shows the value. Like GTK, all of it belongs to the
// main thread.

import CGTK
public import KVORuntime

/// Wraps a GTK widget and owns a reference to it.
open class Widget: KVOObject {
  let pointer: UnsafeMutablePointer<GtkWidget>

  init(_ pointer: UnsafeMutablePointer<GtkWidget>) {
    self.pointer = pointer
    g_object_ref_sink(pointer)
    super.init()
  }

  deinit { g_object_unref(pointer) }

  /// Whether the widget reacts to the user.
  public var isSensitive: Bool {
    get { gtk_widget_get_sensitive(pointer) != 0 }
    set { gtk_widget_set_sensitive(pointer, newValue ? 1 : 0) }
  }

  /// Sets the name that screen readers announce and tests search for.
  func setName(_ name: String) {
    var value = GValue()
    g_value_init(&value, GType(16 << 2))  // G_TYPE_STRING
    g_value_set_string(&value, name)
    var property = GTK_ACCESSIBLE_PROPERTY_LABEL
    gtk_accessible_update_property_value(opaque, 1, &property, &value)
    g_value_unset(&value)
  }

  /// Calls a handler when a signal without arguments is emitted, for as long as the widget lives.
  func onSignal(_ signal: String, _ handler: @escaping () -> Void) {
    let box = Unmanaged.passRetained(Handler(handler)).toOpaque()
    let call: @convention(c) (UnsafeMutableRawPointer, UnsafeRawPointer) -> Void = { _, box in
      Unmanaged<Handler>.fromOpaque(box).takeUnretainedValue().handler()
    }
    kvo_connect(pointer, signal, unsafeBitCast(call, to: (@convention(c) () -> Void).self), box) {
      box, _ in
      Unmanaged<Handler>.fromOpaque(box!).release()
    }
  }

  var opaque: OpaquePointer { OpaquePointer(pointer) }

  /// The pointer, cast to the C type of one of the widget's superclasses.
  func cast<T>(_: T.Type) -> UnsafeMutablePointer<T> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: T.self)
  }
}

private final class Handler {
  let handler: () -> Void
  init(_ handler: @escaping () -> Void) { self.handler = handler }
}
