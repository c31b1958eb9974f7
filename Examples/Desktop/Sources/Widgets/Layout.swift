// Layout: widgets that arrange other widgets.

import CGTK

/// Widgets beside or below one another.
public final class Stack: Widget {
  private let children: [Widget]

  public enum Direction { case row, column }

  public init(_ direction: Direction, spacing: Int32 = 8, margin: Int32 = 0, _ children: [Widget]) {
    self.children = children
    let orientation = direction == .row ? GTK_ORIENTATION_HORIZONTAL : GTK_ORIENTATION_VERTICAL
    super.init(gtk_box_new(orientation, spacing))
    for child in children { gtk_box_append(cast(GtkBox.self), child.pointer) }
    gtk_widget_set_margin_top(pointer, margin)
    gtk_widget_set_margin_bottom(pointer, margin)
    gtk_widget_set_margin_start(pointer, margin)
    gtk_widget_set_margin_end(pointer, margin)
  }
}

/// Widgets in rows whose columns are aligned.
public final class Grid: Widget {
  private let rows: [[Widget]]

  public init(_ rows: [[Widget]]) {
    self.rows = rows
    super.init(gtk_grid_new())
    gtk_grid_set_row_spacing(cast(GtkGrid.self), 8)
    gtk_grid_set_column_spacing(cast(GtkGrid.self), 12)
    for (y, row) in rows.enumerated() {
      for (x, widget) in row.enumerated() {
        gtk_grid_attach(cast(GtkGrid.self), widget.pointer, Int32(x), Int32(y), 1, 1)
      }
    }
  }
}

/// A widget that scrolls when its content does not fit.
public final class Scroller: Widget {
  private let child: Widget

  public init(_ child: Widget, height: Int32) {
    self.child = child
    super.init(gtk_scrolled_window_new())
    gtk_scrolled_window_set_child(opaque, child.pointer)
    gtk_scrolled_window_set_min_content_height(opaque, height)
    gtk_widget_set_vexpand(pointer, 1)
    gtk_widget_set_valign(child.pointer, GTK_ALIGN_START)
  }
}

/// A window. When its user closes it, it is hidden, and can be shown again.
public final class Window: Widget {
  private let content: Widget

  public init(_ title: String, width: Int32, height: Int32 = -1, _ content: Widget) {
    self.content = content
    super.init(gtk_window_new())
    gtk_window_set_title(window, title)
    gtk_window_set_titlebar(window, gtk_header_bar_new())
    gtk_window_set_default_size(window, width, height)
    gtk_window_set_hide_on_close(window, 1)
    gtk_window_set_child(window, content.pointer)
  }

  // GTK keeps a window until it is destroyed.
  deinit { gtk_window_destroy(window) }

  public func show() { gtk_window_present(window) }

  public var isShown: Bool { gtk_widget_get_visible(pointer) != 0 }

  private var window: UnsafeMutablePointer<GtkWindow> { cast(GtkWindow.self) }
}

/// GTK's main loop.
public enum Desktop {
  /// Must be called before any widget is created.
  public static func begin() {
    guard gtk_init_check() != 0 else { fatalError("there is no display: see DISPLAY") }
    let style = gtk_css_provider_new()!
    gtk_css_provider_load_from_data(style, readable, -1)
    gtk_style_context_add_provider_for_display(
      gdk_display_get_default(), OpaquePointer(style),
      guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
    g_object_unref(style)
  }

  // GTK's dark theme draws headings, hints and the numbers beside sliders so faintly that they are
  // hard to read. Its blue for focus and filled parts is nearly as dark as the window. The minimum
  // width keeps sliders equally long whatever number they show.
  private static let readable = """
    scale > value { color: inherit; min-width: 40px; }
    scale > trough > highlight { background: #3584e4; border-color: #3584e4; }
    entry:focus-within { outline-color: #62a0ea; }
    entry > text > placeholder { opacity: 0.75; }
    .dim-label { opacity: 0.75; }
    """

  /// Runs the loop until the window is closed.
  public static func run(_ window: Window) {
    window.show()
    while window.isShown { g_main_context_iteration(nil, 1) }
  }
}
