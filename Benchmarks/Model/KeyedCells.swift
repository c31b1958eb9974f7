/// Objects with more keys than can be declared one by one.
import KVORuntime

/// An object whose keys are data: cells of an array, with keys made in a loop.
///
/// No property of such a key could notify automatically. So the keys are declared by accessors, and code that
/// changes a cell notifies manually, around the change. This suits records, spreadsheets and settings, whose
/// keys are known only at run time.
open class KeyedCells: KVOObject {
  /// The number of keys of the class. An object may use fewer.
  public static let keyCount = 10_000

  /// The keys: "k0", "k1" and so on.
  public static let keys = (0..<keyCount).map { "k\($0)" }

  /// Handles of the same keys, looked up once.
  public static let foundKeys = keys.map { key in
    do { return try KeyValueKey<KeyedCells, Double>(key) } catch { fatalError("\(error)") }
  }

  private var cells: [Double]

  /// The number of keys that the object uses.
  public var count: Int { cells.count }

  /// - Parameter count: the number of keys that the object uses, at most `keyCount`.
  public init(count: Int) {
    precondition(count <= Self.keyCount, "the class has \(Self.keyCount) keys")
    cells = Array(repeating: 0, count: count)
    super.init()
  }

  override open class func registerKeys() {
    KeyedCells.declareKeys { declarations in
      for (index, key) in keys.enumerated() {
        declarations.accessors(key, get: { $0.cells[index] }, set: { $0.cells[index] = $1 })
      }
    }
  }

  /// Changes the cell of `keys[index]` and notifies its observers.
  public func setCell(_ index: Int, to newValue: Double) {
    withChange(forKey: KeyedCells.keys[index]) { cells[index] = newValue }
  }

  /// Changes the cell of `foundKeys[index]` and notifies its observers.
  public func setFoundCell(_ index: Int, to newValue: Double) {
    withChange(forKey: KeyedCells.foundKeys[index]) { cells[index] = newValue }
  }
}

/// An object with the same keys, whose values the runtime stores.
open class RecordedCells: KeyValueRecord {
  /// Handles of the keys, looked up once.
  public static let keys = KeyedCells.keys.map { key in
    do { return try KeyValueKey<RecordedCells, Double>(key) } catch { fatalError("\(error)") }
  }

  override open class func registerKeys() {
    RecordedCells.declareKeys { declarations in
      for key in KeyedCells.keys { declarations.value(key, 0.0) }
    }
  }

  /// Sets the value of `keys[index]`.
  public func setCell(_ index: Int, to newValue: Double) {
    self[RecordedCells.keys[index]] = newValue
  }
}

/// Ten properties declared one by one, for comparison with keys that are data.
open class TenProperties: KVOObject {
  @Observed public var a = 0.0
  @Observed public var b = 0.0
  @Observed public var c = 0.0
  @Observed public var d = 0.0
  @Observed public var e = 0.0
  @Observed public var f = 0.0
  @Observed public var g = 0.0
  @Observed public var h = 0.0
  @Observed public var i = 0.0
  @Observed public var j = 0.0

  /// The properties in the order of their declarations.
  public static var keyPaths: [KeyPath<TenProperties, Double>] {
    [\.a, \.b, \.c, \.d, \.e, \.f, \.g, \.h, \.i, \.j]
  }

  /// Sets the property of `keyPaths[index]`.
  public func setProperty(_ index: Int, to newValue: Double) {
    switch index {
    case 0: a = newValue
    case 1: b = newValue
    case 2: c = newValue
    case 3: d = newValue
    case 4: e = newValue
    case 5: f = newValue
    case 6: g = newValue
    case 7: h = newValue
    case 8: i = newValue
    case 9: j = newValue
    default: preconditionFailure("there is no property \(index)")
    }
  }
}
