import KVORuntime

@KVO class Model: KVOObject { var index = 0 }

@KVO class Pager: KVOObject {
  let model = Model()
  @KVOTracked var index: Int {
    get { model.index }
    set { model.index = newValue }
  }
  @KVOIgnored lazy var cells = [Int](repeating: 0, count: 9)
}
