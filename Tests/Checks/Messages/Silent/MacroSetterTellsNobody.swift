// warns: MacroSetterTellsNobody.swift:8:7: warning: @KVO: assigning to "index" does not notify its observers, unless what its setter changes is observed and read by its getter: if so, mark the property @KVOTracked; if not, make the change inside withAutomaticChange(of: \.index).
import KVORuntime

final class Model { var index = 0 }

@KVO class Pager: KVOObject {
  let model = Model()
  var index: Int {
    get { model.index }
    set { model.index = newValue }
  }
}
