// Observers of observers: a controller that replaces what it observes, and counts its notifications.
import Foundation

final class ChainDocument: NSObject {
  @objc dynamic var name: String
  init(_ name: String) { self.name = name }
}

final class ChainWindow: NSObject {
  @objc dynamic var document: ChainDocument?
  @objc dynamic var isKey = false
  lazy var heading: String = "window"
}

final class WindowChain: NSObject {
  private var observation: NSKeyValueObservation?
  private var heard = 0
  private let journal: Journal

  var window: ChainWindow? {
    didSet {
      observation = window?.observe(\.document?.name, options: [.initial, .new]) {
        [weak self] window, _ in
        self?.hear(window.document?.name)
      }
    }
  }

  init(_ journal: Journal) { self.journal = journal }

  private func hear(_ name: String?) {
    heard += 1
    journal.write("\(heard): \(name ?? "no document")")
  }
}

func windowChain(_ journal: Journal) {
  let (chain, window, document) = (WindowChain(journal), ChainWindow(), ChainDocument("a"))
  chain.window = window
  window.document = document
  document.name = "b"
  window.isKey = true
  window.setValue(nil, forKey: "document")
  document.name = "c"
  chain.window = nil
  window.document = document
  journal.write("\(window.heading) \(window.isKey)")
}
