// Controls: widgets that show a value or let the user change one.

import CGTK
public import KVORuntime

/// One or more lines of text.
public final class Label: Widget {
  /// - Parameter width: the number of characters that the label has room for at least, so that a
  ///   column does not move when its text changes.
  public init(_ text: String = "", style: String? = nil, width: Int32 = -1) {
    super.init(gtk_label_new(text))
    gtk_label_set_xalign(opaque, 0)
    gtk_label_set_width_chars(opaque, width)
    if let style { gtk_widget_add_css_class(pointer, style) }
  }

  public var text: String {
    get { String(cString: gtk_label_get_text(opaque)) }
    set { gtk_label_set_text(opaque, newValue) }
  }
}

/// A push button.
public final class Button: Widget {
  public init(_ title: String, _ pressed: @escaping () -> Void) {
    super.init(gtk_button_new_with_label(title))
    onSignal("clicked", pressed)
  }

  public var title: String {
    get { gtk_button_get_label(cast(GtkButton.self)).map { String(cString: $0) } ?? "" }
    set { gtk_button_set_label(cast(GtkButton.self), newValue) }
  }
}

/// A single-line text field.
public final class Entry: Widget {
  /// The text in the field, set by the user or the program.
  @Observed public var text = "" {
    didSet { if shown != text { shown = text } }
  }

  public init(_ name: String, hint: String = "") {
    super.init(gtk_entry_new())
    setName(name)
    gtk_entry_set_placeholder_text(cast(GtkEntry.self), hint)
    gtk_widget_set_hexpand(pointer, 1)
    onSignal("changed") { [unowned self] in
      if text != shown { text = shown }
    }
  }

  private var shown: String {
    get { String(cString: gtk_editable_get_text(opaque)) }
    set { gtk_editable_set_text(opaque, newValue) }
  }
}

/// A slider.
public final class Scale: Widget {
  /// The slider's value, set by the user or the program.
  @Observed public var value: Double {
    didSet { if shown != value { shown = value } }
  }

  public init(_ name: String, _ range: ClosedRange<Double>, step: Double = 1) {
    value = range.lowerBound
    super.init(
      gtk_scale_new_with_range(
        GTK_ORIENTATION_HORIZONTAL, range.lowerBound, range.upperBound, step))
    setName(name)
    gtk_scale_set_draw_value(cast(GtkScale.self), 1)
    gtk_scale_set_value_pos(cast(GtkScale.self), GTK_POS_RIGHT)
    gtk_widget_set_hexpand(pointer, 1)
    onSignal("value-changed") { [unowned self] in
      if value != shown { value = shown }
    }
  }

  private var shown: Double {
    get { gtk_range_get_value(cast(GtkRange.self)) }
    set { gtk_range_set_value(cast(GtkRange.self), newValue) }
  }
}

/// A rectangle filled with one colour.
public final class Swatch: Widget {
  private let style = gtk_css_provider_new()!

  public init(height: Int32) {
    super.init(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0))
    gtk_widget_set_size_request(pointer, -1, height)
    gtk_widget_set_vexpand(pointer, 1)
    gtk_style_context_add_provider(
      gtk_widget_get_style_context(pointer), OpaquePointer(style),
      guint(GTK_STYLE_PROVIDER_PRIORITY_APPLICATION))
  }

  deinit { g_object_unref(style) }

  /// The colour in CSS notation: `#2c6fbb`.
  public var color = "" {
    didSet {
      gtk_css_provider_load_from_data(
        style, "* { background-color: \(color); border-radius: 12px; }", -1)
    }
  }
}
