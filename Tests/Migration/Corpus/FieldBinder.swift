// Two-way bindings of key paths by #keyPath, with a guard against loops, and value transformers as closures.
import Foundation

class FieldControl: NSObject {
  @objc dynamic var objectValue: Any?
  @objc dynamic var isEnabled = true
  func type(_ text: String) { objectValue = text }
}

class FieldModel: NSObject {
  @objc dynamic var title = "untitled"
  @objc dynamic var count = 0
  @objc dynamic var isLocked = false
}

class FieldBinder: NSObject {
  struct Binding {
    let object: NSObject, keyPath: String, control: NSObject, controlKey: String
    let out: (Any?) -> Any?, back: (Any?) -> Any?
  }
  private var bindings: [Binding] = []
  private var isUpdating = false

  func bind(
    _ control: NSObject, _ controlKey: String, to object: NSObject, _ keyPath: String,
    out: @escaping (Any?) -> Any? = { $0 }, back: @escaping (Any?) -> Any? = { $0 }
  ) {
    bindings.append(
      Binding(
        object: object, keyPath: keyPath, control: control, controlKey: controlKey, out: out,
        back: back))
    object.addObserver(self, forKeyPath: keyPath, options: [.initial, .new], context: nil)
    control.addObserver(self, forKeyPath: controlKey, options: [.new], context: nil)
  }
  func unbindAll() {
    for binding in bindings {
      binding.object.removeObserver(self, forKeyPath: binding.keyPath)
      binding.control.removeObserver(self, forKeyPath: binding.controlKey)
    }
    bindings = []
  }
  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard !isUpdating, let object = object as? NSObject else { return }
    isUpdating = true
    defer { isUpdating = false }
    let new = change?[.newKey]
    for binding in bindings {
      if binding.object === object && binding.keyPath == keyPath {
        binding.control.setValue(binding.out(new), forKeyPath: binding.controlKey)
      } else if binding.control == object && binding.controlKey == keyPath {
        binding.object.setValue(binding.back(new), forKeyPath: binding.keyPath)
      }
    }
  }
}

func fieldBinder(_ journal: Journal) {
  let (field, number, model) = (FieldControl(), FieldControl(), FieldModel())
  let binder = FieldBinder()
  binder.bind(field, #keyPath(FieldControl.objectValue), to: model, #keyPath(FieldModel.title))
  binder.bind(
    number, "objectValue", to: model, "count",
    out: { ($0 as? Int).map { String($0) } }, back: { Int($0 as? String ?? "") ?? 0 })
  binder.bind(
    field, "isEnabled", to: model, "isLocked",
    out: { !($0 as! Bool) }, back: { !(($0 as? NSNumber)?.boolValue ?? false) })
  journal.write(
    "\(field.objectValue as? String ?? "nil") \(number.objectValue as? String ?? "nil")")
  field.type("named")
  number.type("12")
  model.isLocked = true
  journal.write("\(model.title) \(model.count) \(field.isEnabled)")
  model.count = 13
  field.isEnabled = true
  journal.write("\(number.objectValue as! String) \(model.isLocked)")
  binder.unbindAll()
  model.title = "other"
  journal.write("\(field.objectValue!)")
}
