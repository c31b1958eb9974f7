// Dependent keys and automatic notification by key path: the typed customisation protocol.
import KVORuntime

final class Rectangle: KVOObject, NSKeyValueObservingCustomization {
  @Observed var width = 1.0
  @Observed var height = 2.0
  var area: Double { width * height }

  static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath> {
    key == \Rectangle.area ? [\Rectangle.width, \Rectangle.height] : []
  }

  static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool {
    key != \Rectangle.height
  }

  func grow(to newHeight: Double) {
    guard newHeight > height else { return }
    willChangeValue(for: \.height)
    height = newHeight
    didChangeValue(for: \.height)
  }
}

func customization(_ journal: Journal) {
  let rectangle = Rectangle()
  let tokens = [
    rectangle.observe(\.height, options: .new) { _, change in
      journal.write("height \(change.newValue!)")
    },
    rectangle.observe(\.area, options: [.old, .new]) { _, change in
      journal.write("area \(change.oldValue!) -> \(change.newValue!)")
    },
  ]

  rectangle.width = 3
  rectangle.height = 4
  rectangle.grow(to: 4)
  rectangle.grow(to: 5)
  withExtendedLifetime(tokens) {}
}
