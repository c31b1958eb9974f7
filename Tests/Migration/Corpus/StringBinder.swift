// Bindings by key paths that are strings, as a bindings controller makes them: two ways, and of any objects.
import Foundation

final class Field: NSObject {
  @objc dynamic var stringValue: String = ""
  @objc dynamic var isEnabled: Bool = true
}

final class City: NSObject {
  @objc dynamic var name: String

  init(_ name: String) {
    self.name = name
    super.init()
  }
}

final class Customer: NSObject {
  @objc dynamic var name: String = "Ada"
  @objc dynamic var isActive: Bool = true
  @objc dynamic var city: City?
}

final class StringBinder: NSObject {
  private struct Binding {
    let model: NSObject
    let modelPath: String
    let view: NSObject
    let viewKey: String
  }

  private static var context = 0
  private var bindings: [Binding] = []
  private var isUpdating = false

  func connect(_ view: NSObject, _ viewKey: String, to model: NSObject, _ modelPath: String) {
    bindings.append(Binding(model: model, modelPath: modelPath, view: view, viewKey: viewKey))
    model.addObserver(
      self, forKeyPath: modelPath, options: [.initial], context: &StringBinder.context)
    view.addObserver(self, forKeyPath: viewKey, options: [], context: &StringBinder.context)
  }

  func disconnect() {
    for binding in bindings {
      binding.model.removeObserver(
        self, forKeyPath: binding.modelPath, context: &StringBinder.context)
      binding.view.removeObserver(self, forKeyPath: binding.viewKey, context: &StringBinder.context)
    }
    bindings.removeAll()
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == &StringBinder.context {
      guard !isUpdating, let source = object as? NSObject else { return }
      isUpdating = true
      for binding in bindings {
        if source === binding.model, keyPath == binding.modelPath {
          let value = binding.model.value(forKeyPath: binding.modelPath)
          binding.view.setValue(value ?? "", forKey: binding.viewKey)
        } else if source === binding.view, keyPath == binding.viewKey {
          let value = binding.view.value(forKey: binding.viewKey)
          binding.model.setValue(value, forKeyPath: binding.modelPath)
        }
      }
      isUpdating = false
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }
}

func stringBinder(_ journal: Journal) {
  let (customer, nameField, cityField) = (Customer(), Field(), Field())
  let binder = StringBinder()
  binder.connect(nameField, #keyPath(Field.stringValue), to: customer, #keyPath(Customer.name))
  binder.connect(nameField, #keyPath(Field.isEnabled), to: customer, #keyPath(Customer.isActive))
  binder.connect(cityField, #keyPath(Field.stringValue), to: customer, #keyPath(Customer.city.name))
  journal.write("shown: \(nameField.stringValue), '\(cityField.stringValue)'")
  customer.name = "Grace"
  customer.city = City("Turin")
  journal.write("shown: \(nameField.stringValue), '\(cityField.stringValue)'")
  nameField.stringValue = "Mary"
  cityField.stringValue = "Genoa"
  journal.write("kept: \(customer.name), \(customer.city!.name)")
  customer.isActive = false
  journal.write("enabled: \(nameField.isEnabled)")
  let other = City("Rome")
  customer.city = other
  other.name = "Bari"
  journal.write("shown: '\(cityField.stringValue)'")
  customer.city = nil
  journal.write("shown: '\(cityField.stringValue)'")
  binder.disconnect()
  customer.name = "Nobody"
  journal.write("shown: \(nameField.stringValue)")
}
