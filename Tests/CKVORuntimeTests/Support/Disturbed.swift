import CFixtures
import CKVORuntime
import TestSupport

typealias Disturbed = UnsafeMutablePointer<disturbed>

extension disturbed: CInstance { static var cClass: CClass { disturbed_class() } }

extension UnsafeMutablePointer<disturbed> {
  /// An instance of a new class, which has never been observed.
  static func ofFreshClass() -> Disturbed { of(disturbed_fresh_class()) }

  static func of(_ cls: CClass) -> Disturbed {
    UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: disturbed.self)
  }

  /// Runs `event` on another thread, once, when `body` makes an accessor of the object reach `place`.
  func interrupt(
    _ place: disturbance, with event: @escaping () -> Void, in body: () -> Void
  ) {
    let shared = Shared(event)
    interruptHere(place, with: { onThreads(1) { _ in shared.value() } }, in: body)
  }

  /// Runs `event` on the calling thread, once, when `body` makes an accessor of the object reach `place`.
  func interruptHere(
    _ place: disturbance, with event: @escaping () -> Void, in body: () -> Void
  ) {
    let box = Event(event)
    pointee.context = Unmanaged.passUnretained(box).toOpaque()
    pointee.happens = { Unmanaged<Event>.fromOpaque($0!).takeUnretainedValue().happen() }
    pointee.`where` = place
    withExtendedLifetime(box, body)
  }
}

private final class Event {
  let happen: () -> Void
  init(_ happen: @escaping () -> Void) { self.happen = happen }
}
