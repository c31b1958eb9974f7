// What OpenCombine declares of publishers, subscribers and demand, as far as it is used here: its names, requirements and
// rules for demand.

public protocol Cancellable { func cancel() }

public protocol CustomCombineIdentifierConvertible {
  var combineIdentifier: CombineIdentifier { get }
}

public struct CombineIdentifier: Hashable {
  private let object: ObjectIdentifier
  public init(_ object: AnyObject) { self.object = ObjectIdentifier(object) }
}

extension CustomCombineIdentifierConvertible where Self: AnyObject {
  public var combineIdentifier: CombineIdentifier { CombineIdentifier(self) }
}

public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
  func request(_ demand: Subscribers.Demand)
}

public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
  associatedtype Input
  associatedtype Failure: Error
  func receive(subscription: any Subscription)
  func receive(_ input: Input) -> Subscribers.Demand
  func receive(completion: Subscribers.Completion<Failure>)
}

public protocol Publisher<Output, Failure> {
  associatedtype Output
  associatedtype Failure: Error
  func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

extension Publisher {
  public func subscribe<S: Subscriber>(_ subscriber: S)
  where Failure == S.Failure, Output == S.Input {
    receive(subscriber: subscriber)
  }
}

public enum Subscribers {
  public enum Completion<Failure: Error> {
    case finished
    case failure(Failure)
  }

  public struct Demand: Equatable, Comparable {
    private let count: UInt
    private init(_ count: UInt) { self.count = count }
    public static let unlimited = Demand(.max)
    public static let none = Demand(0)
    public static func max(_ value: Int) -> Demand { Demand(UInt(value)) }
    public static func < (a: Demand, b: Demand) -> Bool { a.count < b.count }
    public static func += (a: inout Demand, b: Demand) {
      let (sum, isOver) = a.count.addingReportingOverflow(b.count)
      a = isOver ? .unlimited : Demand(sum)
    }
    public static func -= (a: inout Demand, b: Int) {
      if a != .unlimited { a = Demand(a.count - UInt(b)) }
    }
  }
}
