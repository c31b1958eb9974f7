import KVORuntime

/// Keys of each kind that key-value coding distinguishes.
open class Person: Tracked {
  @Observed open var firstName = "Ada"
  @Observed open var lastName: String? = "Lovelace"
  @Observed open var age = 36
  @Observed open var height: Double? = 1.7
  @Observed open var account: Account?
  @Observed open var place = Place(latitude: 1, longitude: 2)
  @Observed private var diary = "hidden"
  @Observed public private(set) var rank = 1

  /// Plain stored properties.
  public var shoeSize = 38
  public var motto: String?
  public var home = Place(latitude: 3, longitude: 4)
  private var pin = 1234
  public let birthYear = 1815

  /// Declared nowhere: key-value coding can't reach it.
  public var fullName: String { "\(firstName) \(lastName ?? "")" }
}

/// Adds keys to an inherited class.
open class Employee: Person {
  @Observed open var salary = 1000.0
  public var desk = "window"
}
