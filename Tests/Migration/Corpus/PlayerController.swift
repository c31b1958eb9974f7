// A controller that observes a player under one context, by key paths through the item played, with a switch.
import Foundation

@objc enum PlayerStatus: Int {
  case unknown, readyToPlay, failed
}

class PlayerItem: NSObject {
  @objc dynamic var status: PlayerStatus = .unknown
  @objc dynamic var duration: Double = 0
  @objc dynamic var loadedFraction: Double = 0

  @objc dynamic var isBufferFull: Bool { loadedFraction >= 1 }

  @objc class func keyPathsForValuesAffectingIsBufferFull() -> Set<String> {
    return [#keyPath(PlayerItem.loadedFraction)]
  }
}

class Player: NSObject {
  @objc dynamic var currentItem: PlayerItem?
  @objc dynamic var rate: Float = 0
}

class PlayerController: NSObject {
  // MARK: Properties

  private static var kvoContext: UInt8 = 0
  @objc let player = Player()
  private let journal: Journal
  private let observedKeyPaths = [
    #keyPath(PlayerController.player.currentItem.duration),
    #keyPath(PlayerController.player.rate),
    #keyPath(PlayerController.player.currentItem.status),
  ]

  init(journal: Journal) {
    self.journal = journal
    super.init()
  }

  func viewWillAppear() {
    for keyPath in observedKeyPaths {
      addObserver(
        self, forKeyPath: keyPath, options: [.new, .initial], context: &PlayerController.kvoContext)
    }
  }

  func viewDidDisappear() {
    for keyPath in observedKeyPaths {
      removeObserver(self, forKeyPath: keyPath, context: &PlayerController.kvoContext)
    }
  }

  // MARK: KVO

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    guard context == &PlayerController.kvoContext else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
      return
    }
    if keyPath == #keyPath(PlayerController.player.currentItem.duration) {
      let seconds = change?[.newKey] as? Double ?? 0
      journal.write("slider to \(seconds)")
    } else if keyPath == #keyPath(PlayerController.player.rate) {
      let rate = change?[.newKey] as? Float ?? 0
      journal.write(rate == 0 ? "paused" : "plays at \(rate)")
    } else if keyPath == #keyPath(PlayerController.player.currentItem.status) {
      switch player.currentItem?.status {
      case .readyToPlay?: journal.write("ready")
      case .failed?: journal.write("failed")
      default: journal.write("waiting")
      }
    }
  }
}

func playerController(_ journal: Journal) {
  let controller = PlayerController(journal: journal)
  controller.viewWillAppear()
  let item = PlayerItem()
  item.duration = 12.5
  controller.player.currentItem = item
  item.status = .readyToPlay
  controller.player.rate = 1.5
  let full = item.observe(\.isBufferFull, options: [.old, .new]) { _, change in
    journal.write("full \(change.oldValue!) -> \(change.newValue!)")
  }
  item.loadedFraction = 1
  full.invalidate()
  controller.viewDidDisappear()
  controller.player.rate = 0
  item.status = .failed
  journal.write("rate \(controller.player.rate)")
}
