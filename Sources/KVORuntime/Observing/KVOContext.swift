/// An address that nothing else has, to tell one's own registrations from those of a superclass.
///
/// ```swift
/// let balanceContext = KVOContext()
/// try account.addObserver(self, forKeyPath: "balance", options: .new, context: balanceContext)
/// ```
///
/// Neither this object nor its address is touched by a registration, and the address is never given
/// to another context: it may be released while registrations still carry the address.
public final class KVOContext: Sendable {
  /// What registrations carry and `observeValue(forKeyPath:of:change:context:)` is given. Nothing
  /// may be stored there.
  public var pointer: UnsafeMutableRawPointer {
    // Any number but zero makes a pointer.
    UnsafeMutableRawPointer(bitPattern: address)!
  }

  private let address: UInt

  /// A context of its own. Any thread.
  public init() {
    address = Self.addresses.withLock { $0.next() }
  }

  /// Whether a registration was made with this context.
  public static func == (pointer: UnsafeMutableRawPointer?, context: KVOContext) -> Bool {
    UInt(bitPattern: pointer) == context.address
  }

  /// Whether a registration was made with another context, or with none.
  public static func != (pointer: UnsafeMutableRawPointer?, context: KVOContext) -> Bool {
    !(pointer == context)
  }

  /// Whether a registration was made with this context.
  public static func == (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    pointer == context
  }

  /// Whether a registration was made with another context, or with none.
  public static func != (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    !(pointer == context)
  }

  /// For `switch context { case balanceContext: … }`.
  public static func ~= (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    pointer == context
  }

  private static let addresses = Locked(Addresses())
}

/// Hands out each address once. They are the bytes of blocks that are never written and never
/// freed, so that nothing else in the process can have them and none comes twice; since no page of
/// a block is touched, a million contexts cost a megabyte of address space and no memory.
private struct Addresses {
  private static let blockSize = 1 << 20
  private var following: UInt = 0
  private var end: UInt = 0

  mutating func next() -> UInt {
    if following == end { takeBlock() }
    defer { following += 1 }
    return following
  }

  private mutating func takeBlock() {
    let block = UnsafeMutableRawPointer.allocate(byteCount: Self.blockSize, alignment: 1)
    following = UInt(bitPattern: block)
    end = following + UInt(Self.blockSize)
  }
}
