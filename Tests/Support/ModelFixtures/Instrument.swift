public import KVORuntime

/// A `@KVO` class that other modules subclass, with the macro and without it.
@KVO open class Instrument: KVOObject {
  open var pitch = 440 { didSet { if pitch < 20 { pitch = 20 } } }
  public internal(set) var played = 0
  public weak var neighbour: Instrument?
  open var octave: Int {
    get { pitch / 55 }
    set { pitch = newValue * 55 }
  }
}
