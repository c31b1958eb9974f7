// A window whose field and label follow a model that the field changes.

import CGTK
import Foundation
import KVORuntime

final class Greeting: KVOObject {
  @Observed var name = "World"
  var text: String { "Hello, \(name)!" }
}

gtk_init()
let greeting = Greeting()
let field = gtk_entry_new()!
let label = gtk_label_new(nil)!
let button = gtk_button_new_with_label("It is me")!

var typed: String {
  get { String(cString: gtk_editable_get_text(OpaquePointer(field))) }
  set { gtk_editable_set_text(OpaquePointer(field), newValue) }
}

// From the model to the widgets: now, and after each change.
let tokens = [
  greeting.observe(\.name, options: .initial) { greeting, _ in
    if typed != greeting.name { typed = greeting.name }
  },
  greeting.observe(\.text, options: .initial) { greeting, _ in
    gtk_label_set_text(OpaquePointer(label), greeting.text)
  },
]

// From the field to the model.
connect(field, "changed") {
  if greeting.name != typed { greeting.name = typed }
}

// From another thread, where slow work is done.
connect(button, "clicked") {
  Thread.detachNewThread {
    let name = NSUserName()
    onMainLoop { greeting.name = name }
  }
}

let column = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)!
for widget in [label, field, button] {
  gtk_box_append(cast(column), widget)
}
gtk_widget_set_margin_top(column, 20)
gtk_widget_set_margin_bottom(column, 20)
gtk_widget_set_margin_start(column, 20)
gtk_widget_set_margin_end(column, 20)

let window = gtk_window_new()!
gtk_window_set_title(cast(window), "Greeting")
gtk_window_set_titlebar(cast(window), gtk_header_bar_new())
gtk_window_set_child(cast(window), column)
gtk_window_present(cast(window))
while g_list_model_get_n_items(gtk_window_get_toplevels()) > 0 {
  g_main_context_iteration(nil, 1)
}
withExtendedLifetime(tokens) {}
