import KVORuntime

/// A property for subclasses to override.
open class Level: Tracked {
  @Observed open var level = 0.0
}

/// Overrides with a Swift property observer.
open class CountedLevel: Level {
  public private(set) var sets: [Double] = []
  override open var level: Double { didSet { sets.append(level) } }
}

/// Overrides a second time.
open class TwiceCountedLevel: CountedLevel {
  public private(set) var wills = 0
  override open var level: Double { willSet { wills += 1 } }
}

/// A setter that stores another value than its argument.
open class ClampedLevel: Level {
  override open var level: Double {
    get { super.level }
    set { super.level = min(max(newValue, 0), 100) }
  }
}

/// A setter that stores nothing.
open class DeafLevel: Level {
  override open var level: Double {
    get { super.level }
    set {}
  }
}

/// A getter that returns another value than the stored one.
open class DoubledLevel: Level {
  override open var level: Double {
    get { super.level * 2 }
    set { super.level = newValue / 2 }
  }
}

/// Clamps itself in its `didSet`, which is a second set.
open class SelfClampingLevel: Tracked {
  @Observed open var level = 0.0 { didSet { if level > 100 { level = 100 } } }
}
