import KVORuntime

class Model {
  var index = 0
}

class Chooser: KVOObject {
  let model = Model()
  var index: Int {
    get { model.index }
    set { model.index = newValue }
  }
}

func watch(_ chooser: Chooser) -> KeyValueObservation {
  chooser.observe(\.index) { _, _ in }
}
