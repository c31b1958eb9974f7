import KVORuntime

// A module whose declarations are on the main actor where they do not say otherwise, as a class of `KVOObject`'s has to.

@KVO nonisolated open class Panel: KVOObject {
  @MainActor open var title = "" { didSet { if title.isEmpty { title = "untitled" } } }
  @MainActor open var heading: String { title + "!" }
  open var width = 1
}
