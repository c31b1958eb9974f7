// The colour explorer: three sliders, the colour that they define, and its components. No code here
// refreshes widgets: each widget's property follows a property of the model.

import Inspector
import KVOChangeLogs
import KVORuntime
import Widgets

Desktop.begin()

let color = LabColor()
let log = try ChangeLog(of: color, recording: .keys(of: LabColor.self, \.lightness, \.a, \.b))
log.mergesRepeatedSets = true
let inspector = InspectorWindow(color)

let lightness = Scale("lightness", 0...100)
let a = Scale("a", -100...100)
let b = Scale("b", -100...100)
let swatch = Swatch(height: 160)
let hex = Label(style: "title-2")
let note = Label(style: "dim-label")
let components = (0..<3).map { _ in Label(width: 6) }
let undo = Button("Undo") { _ = try? log.undo() }
let redo = Button("Redo") { _ = try? log.redo() }
let inspect = Button("Inspect") { inspector.show() }

let percent = { (component: Double) in "\(Int((component * 100).rounded())) %" }
let bindings = [
  lightness.bindTwoWay(\.value, to: color, \.lightness),
  a.bindTwoWay(\.value, to: color, \.a),
  b.bindTwoWay(\.value, to: color, \.b),
  swatch.bind(\.color, to: color, \.hex),
  hex.bind(\.text, to: color, \.hex),
  note.bind(\.text, to: color, \.isShown) { $0 ? "" : "nearest that a screen shows" },
  components[0].bind(\.text, to: color, \.red, transform: percent),
  components[1].bind(\.text, to: color, \.green, transform: percent),
  components[2].bind(\.text, to: color, \.blue, transform: percent),
  undo.bind(\.isSensitive, to: log, \.canUndo),
  redo.bind(\.isSensitive, to: log, \.canRedo),
]

let window = Window(
  "Lab colour explorer", width: 400, height: 580,
  Stack(
    .column, spacing: 16, margin: 20,
    [
      swatch,
      Stack(.row, spacing: 16, [hex, note]),
      Grid([
        [Label("Lightness"), lightness],
        [Label("Green – red"), a],
        [Label("Blue – yellow"), b],
      ]),
      Grid([[Label("Red"), Label("Green"), Label("Blue")], components]),
      Stack(.row, [undo, redo, inspect]),
    ]))
Desktop.run(window)
withExtendedLifetime(bindings) {}
