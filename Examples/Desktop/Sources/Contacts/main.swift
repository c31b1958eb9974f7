// The contact editor: fields bound to a contact in both directions, a title bound to a computed
// property, and undo, whose buttons show whether there is something to undo or redo.

import Inspector
import KVOChangeLogs
import KVORuntime
import Widgets

Desktop.begin()

let contact = Contact("Ada", "Lovelace", email: "ada@example.org", city: "London")
let log = try ChangeLog(
  of: contact,
  recording: .keys(of: Contact.self, \.firstName, \.lastName, \.nickname, \.email, \.city))
log.mergesRepeatedSets = true
let inspector = InspectorWindow(contact)

let title = Label(style: "title-1")
let warning = Label(style: "error")
let fields: [(label: String, field: Entry, keyPath: ReferenceWritableKeyPath<Contact, String>)] = [
  ("First name", Entry("first name"), \.firstName),
  ("Last name", Entry("last name"), \.lastName),
  ("Nickname", Entry("nickname", hint: "optional"), \.nickname),
  ("E-mail", Entry("email"), \.email),
  ("City", Entry("city"), \.city),
]
let undo = Button("Undo") { _ = try? log.undo() }
let redo = Button("Redo") { _ = try? log.redo() }
let inspect = Button("Inspect") { inspector.show() }

var bindings = fields.map { $0.field.bindTwoWay(\.text, to: contact, $0.keyPath) }
bindings += [
  title.bind(\.text, to: contact, \.displayName),
  warning.bind(\.text, to: contact, \.hasAddress) { $0 ? "" : "The e-mail address has no @" },
  undo.bind(\.isSensitive, to: log, \.canUndo),
  redo.bind(\.isSensitive, to: log, \.canRedo),
]

let window = Window(
  "Contact", width: 400,
  Stack(
    .column, spacing: 16, margin: 20,
    [
      title, Grid(fields.map { [Label($0.label), $0.field] }), warning,
      Stack(.row, [undo, redo, inspect]),
    ]))
Desktop.run(window)
withExtendedLifetime(bindings) {}
