// A controller of a player, in the style of the sample code for AVFoundation: two contexts, keys in an array, the status
// read as a number.
import Foundation

private var mediaItemContext = 0
private var mediaPlayerContext = 0

class MediaItem: NSObject {
  @objc enum Status: Int { case unknown, readyToPlay, failed }
  @objc dynamic var status: Status = .unknown
  @objc dynamic var isPlaybackBufferEmpty = true
  @objc dynamic var duration: TimeInterval = 0
}

class MediaPlayer: NSObject {
  @objc dynamic var currentItem: MediaItem?
  @objc dynamic var rate: Float = 0
  func play() { rate = 1.0 }
  func pause() { rate = 0 }
}

protocol MediaControllerDelegate: AnyObject {
  func mediaController(_ controller: MediaController, reports text: String)
}

class MediaController: NSObject {
  weak var delegate: MediaControllerDelegate?
  private let player: MediaPlayer
  private(set) var state = "idle" {
    didSet { if state != oldValue { delegate?.mediaController(self, reports: state) } }
  }
  var item: MediaItem? {
    willSet { if let old = item { removeObservers(from: old) } }
    didSet {
      if let new = item { addObservers(to: new) }
      player.currentItem = item
    }
  }
  private let itemKeys = [#keyPath(MediaItem.status), #keyPath(MediaItem.isPlaybackBufferEmpty)]

  init(player: MediaPlayer = MediaPlayer()) {
    self.player = player
    super.init()
    player.addObserver(
      self, forKeyPath: "rate", options: [.new, .old], context: &mediaPlayerContext)
    player.addObserver(
      self, forKeyPath: "currentItem.duration", options: [.new], context: &mediaPlayerContext)
  }

  private func addObservers(to item: MediaItem) {
    for key in itemKeys {
      item.addObserver(
        self, forKeyPath: key, options: [.new, .initial], context: &mediaItemContext)
    }
  }
  private func removeObservers(from item: MediaItem) {
    for key in itemKeys { item.removeObserver(self, forKeyPath: key, context: &mediaItemContext) }
  }

  override func observeValue(
    forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
    context: UnsafeMutableRawPointer?
  ) {
    if context == &mediaItemContext {
      if keyPath == #keyPath(MediaItem.status) {
        let status: MediaItem.Status
        if let statusNumber = change?[.newKey] as? NSNumber {
          status = MediaItem.Status(rawValue: statusNumber.intValue)!
        } else {
          status = .unknown
        }
        switch status {
        case .readyToPlay: player.play()
        case .failed: state = "failed"
        case .unknown: state = "buffering"
        }
      } else if keyPath == #keyPath(MediaItem.isPlaybackBufferEmpty),
        let isEmpty = change?[.newKey] as? Bool
      {
        delegate?.mediaController(self, reports: isEmpty ? "empty" : "filled")
      }
    } else if context == &mediaPlayerContext {
      switch keyPath {
      case "rate":
        if let rate = change?[.newKey] as? Float, let old = change?[.oldKey] as? Float, rate != old
        {
          state = rate == 0 ? "paused" : "playing"
        }
      case "currentItem.duration":
        let seconds = (change?[.newKey] as? Double).map { Int($0) }
        delegate?.mediaController(self, reports: seconds.map { "\($0) s" } ?? "no item")
      default: break
      }
    } else {
      super.observeValue(forKeyPath: keyPath, of: object, change: change, context: context)
    }
  }

  func toggle() { player.rate == 0 ? player.play() : player.pause() }

  deinit {
    item = nil
    player.removeObserver(self, forKeyPath: "rate", context: &mediaPlayerContext)
    player.removeObserver(self, forKeyPath: "currentItem.duration", context: &mediaPlayerContext)
  }
}

private class MediaScreen: MediaControllerDelegate {
  let journal: Journal
  init(_ journal: Journal) { self.journal = journal }
  func mediaController(_ controller: MediaController, reports text: String) { journal.write(text) }
}

func playerStates(_ journal: Journal) {
  let screen = MediaScreen(journal)
  let controller = MediaController()
  let item = MediaItem()
  controller.delegate = screen
  controller.item = item
  item.status = .readyToPlay
  item.isPlaybackBufferEmpty = false
  item.duration = 3
  controller.toggle()
  controller.toggle()
  item.status = .failed
  controller.item = nil
}
