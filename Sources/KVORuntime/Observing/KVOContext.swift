/// A context for registrations: a unique address that distinguishes the registrations of one class in a
/// hierarchy.
///
/// ```swift
/// let balanceContext = KVOContext()
/// try account.addObserver(self, forKeyPath: "balance", options: .new, context: balanceContext)
/// ```
///
/// A registration only compares and passes on the address; it retains no context. The address is never
/// reused, so a context may be released while registrations still have its address.
public final class KVOContext: Sendable {
  /// The context's address, which a registration has and `observeValue(forKeyPath:of:change:context:)` gets.
  /// Never dereference it: no memory belongs to it.
  public var pointer: UnsafeMutableRawPointer {
    // The address is not 0, so this is never nil.
    UnsafeMutableRawPointer(bitPattern: address)!
  }

  private let address: UInt

  /// Creates a context with an address of its own. May be called on any thread.
  public init() {
    address = Self.addresses.withLock { $0.next() }
  }

  /// Returns whether a registration's pointer is the address of this context.
  public static func == (pointer: UnsafeMutableRawPointer?, context: KVOContext) -> Bool {
    UInt(bitPattern: pointer) == context.address
  }

  /// Returns whether a registration's pointer is the address of another context, or nil.
  public static func != (pointer: UnsafeMutableRawPointer?, context: KVOContext) -> Bool {
    !(pointer == context)
  }

  /// Returns whether this context's address is a registration's pointer.
  public static func == (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    pointer == context
  }

  /// Returns whether a registration's pointer is the address of another context, or nil.
  public static func != (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    !(pointer == context)
  }

  /// Matches a registration's pointer in a `switch`: `switch context { case balanceContext: … }`.
  public static func ~= (context: KVOContext, pointer: UnsafeMutableRawPointer?) -> Bool {
    pointer == context
  }

  private static let addresses = LockedValue(Addresses())
}

/// Gives out each address once. The addresses are those of bytes in blocks that are never freed, so that
/// nothing else in the process can have them. No byte of a block is read or written, so its pages stay
/// untouched: a million contexts cost a megabyte of address space and no memory.
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
