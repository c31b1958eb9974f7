// quoted: cannot form key path to main actor-isolated property 'heading'
import KVORuntime

@MainActor class Panel: KVOObject {
  @Observed var title = ""
  var heading: String { title + "!" }
  override class func registerKeys() {
    declareKeys { $0.computed("heading", \.heading) }
  }
}
