// A binding in both directions, by key paths that can be set, and a field whose subclass overrides its text.
import Foundation

final class TwoWayFields<A: NSObject, B: NSObject, Value: Equatable> {
  private weak var a: A?
  private weak var b: B?
  private var tokens: [NSKeyValueObservation] = []
  private var isUpdating = false
  init(
    _ a: A, _ pathA: ReferenceWritableKeyPath<A, Value>, _ b: B,
    _ pathB: ReferenceWritableKeyPath<B, Value>
  ) {
    self.a = a
    self.b = b
    b[keyPath: pathB] = a[keyPath: pathA]
    tokens.append(
      a.observe(pathA, options: [.new]) { [weak self] _, change in
        guard let self = self, let b = self.b, let new = change.newValue else { return }
        self.update { if b[keyPath: pathB] != new { b[keyPath: pathB] = new } }
      })
    tokens.append(
      b.observe(pathB, options: [.new]) { [weak self] _, change in
        guard let self = self, let a = self.a, let new = change.newValue else { return }
        self.update { if a[keyPath: pathA] != new { a[keyPath: pathA] = new } }
      })
  }
  private func update(_ body: () -> Void) {
    guard !isUpdating else { return }
    isUpdating = true
    defer { isUpdating = false }
    body()
  }
  deinit { for token in tokens { token.invalidate() } }
}
class FieldOwner: NSObject {
  @objc dynamic var nickname: String = "joe" {
    didSet { if nickname.count > 8 { nickname = String(nickname.prefix(8)) } }
  }
  @objc dynamic var age: Int = 30
}
class PlainField: NSObject {
  private var _text = ""
  @objc dynamic var text: String {
    get { return _text }
    set {
      _text = newValue
      layout()
    }
  }
  private(set) var layouts = 0
  @objc dynamic var placeholder: String? = "name"
  private func layout() { layouts += 1 }
}
class AddressField: PlainField {
  override var text: String {
    get { return super.text }
    set {
      super.text = newValue.lowercased()
      isValid = newValue.contains("@")
    }
  }
  @objc dynamic private(set) var isValid = false
}
func twoWayFields(_ journal: Journal) {
  let owner = FieldOwner()
  let field = PlainField()
  let address = AddressField()
  var binding: TwoWayFields<FieldOwner, PlainField, String>? = TwoWayFields(
    owner, \.nickname, field, \.text)
  let second = TwoWayFields(field, \PlainField.text, address, \AddressField.text)
  field.text = "ann"
  journal.write("\(owner.nickname) \(address.text) \(address.isValid)")
  owner.nickname = "BOB@HOME.ORG"
  journal.write("\(owner.nickname) \(field.text) \(address.text) \(address.isValid)")
  let token = address.observe(\.text, options: [.old, .new]) { address, change in
    journal.write("address \(change.oldValue!) \(change.newValue!) \(address.isValid)")
  }
  address.text = "C@D"
  journal.write("\(field.text) \(owner.nickname) \(field.layouts)")
  binding = nil
  owner.nickname = "zoe"
  journal.write("\(field.text) \(binding == nil)")
  withExtendedLifetime((second, token)) {}
}
