import KVORuntime

/// A property of each form that can be changed in place.
open class Ledger: Tracked, Totalled {
  @Observed open var total = 10
  @Observed open var spare = 20
  @Observed open var entries = [1, 2]
  @Observed open var index = ["a": 1]
  @Observed open var tags: Set<String> = []
  @Observed open var pair = (1, "a")
  @Observed open var place = Place(latitude: 1, longitude: 2)
  @Observed open var lastPlace: Place? = Place(latitude: 3, longitude: 4)
  @Observed open var colour = Colour.red
  @Observed open var account: Account?
  @Observed public private(set) var revision = 0
  /// Has a Swift property observer, which prevents in-place mutation.
  @Observed open var audited = 0 { didSet { audits += 1 } }
  public private(set) var audits = 0

  /// Changes its properties from inside.
  open func revise() {
    total += 1
    revision += 1
  }
}

/// The part that a caller can use without knowing the class.
public protocol Totalled: AnyObject {
  var total: Int { get set }
}

public struct Place: Hashable, Sendable, CustomStringConvertible {
  public var latitude: Double
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }

  public var description: String { "(\(latitude), \(longitude))" }
}

public enum Colour: Hashable, Sendable {
  case red
  case mixed(UInt8, UInt8, UInt8)
  indirect case inverse(Colour)

  public mutating func invert() { self = .inverse(self) }
}
