import KVORuntime

/// A key of each type of number.
open class ObservedNumbers: Tracked {
  @Observed open var flag = false
  @Observed open var int8: Int8 = 0
  @Observed open var uint8: UInt8 = 0
  @Observed open var int16: Int16 = 0
  @Observed open var uint16: UInt16 = 0
  @Observed open var int32: Int32 = 0
  @Observed open var uint32: UInt32 = 0
  @Observed open var int64: Int64 = 0
  @Observed open var uint64: UInt64 = 0
  @Observed open var int = 0
  @Observed open var uint: UInt = 0
  @Observed open var float: Float = 0
  @Observed open var double = 0.0
  @Observed open var maybeInt: Int?
  @Observed open var maybeDouble: Double?
  @Observed open var text = ""
}

/// Those keys as plain stored properties.
open class PlainNumbers: Tracked {
  public var flag = false
  public var int8: Int8 = 0
  public var uint8: UInt8 = 0
  public var int16: Int16 = 0
  public var uint16: UInt16 = 0
  public var int32: Int32 = 0
  public var uint32: UInt32 = 0
  public var int64: Int64 = 0
  public var uint64: UInt64 = 0
  public var int = 0
  public var uint: UInt = 0
  public var float: Float = 0
  public var double = 0.0
  public var maybeInt: Int?
  public var maybeDouble: Double?
  public var text = ""
}
