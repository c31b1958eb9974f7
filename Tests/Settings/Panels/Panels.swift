import KVORuntime

// A module with the main actor as default isolation. A `KVOObject` subclass has to opt out of it.

@KVO nonisolated open class Panel: KVOObject {
  @MainActor open var title = "" { didSet { if title.isEmpty { title = "untitled" } } }
  @MainActor open var heading: String { title + "!" }
  open var width = 1
}
