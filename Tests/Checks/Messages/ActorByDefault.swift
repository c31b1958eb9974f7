// with: -default-isolation MainActor
// quoted: main actor-isolated initializer 'init()' has different actor isolation from nonisolated overridden declaration
import KVORuntime

@KVO final class Panel: KVOObject {
  var title = ""
}
