// A stand-in for OpenCombine with the publishers, subscribers, demand, `map` and `sink` that the tests use.

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

public enum Publishers {
  public struct Map<Upstream: Publisher, Output>: Publisher {
    public typealias Failure = Upstream.Failure
    let upstream: Upstream
    let transform: (Upstream.Output) -> Output

    public func receive<S: Subscriber>(subscriber: S)
    where S.Failure == Failure, S.Input == Output {
      upstream.subscribe(Inner(subscriber: subscriber, transform: transform))
    }

    private final class Inner<S: Subscriber>: Subscriber
    where S.Failure == Failure, S.Input == Output {
      let subscriber: S
      let transform: (Upstream.Output) -> Output

      init(subscriber: S, transform: @escaping (Upstream.Output) -> Output) {
        self.subscriber = subscriber
        self.transform = transform
      }

      func receive(subscription: any Subscription) {
        subscriber.receive(subscription: subscription)
      }
      func receive(_ input: Upstream.Output) -> Subscribers.Demand {
        subscriber.receive(transform(input))
      }
      func receive(completion: Subscribers.Completion<Failure>) {
        subscriber.receive(completion: completion)
      }
    }
  }
}

extension Publisher {
  public func map<T>(_ transform: @escaping (Output) -> T) -> Publishers.Map<Self, T> {
    Publishers.Map(upstream: self, transform: transform)
  }
}

extension Publisher where Failure == Never {
  public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
    let sink = Subscribers.Sink(receiveValue)
    subscribe(sink)
    return AnyCancellable(sink.cancel)
  }
}

/// Cancels when it is destroyed.
public final class AnyCancellable: Cancellable {
  private var cancelling: (() -> Void)?
  init(_ cancelling: @escaping () -> Void) { self.cancelling = cancelling }
  public func cancel() {
    cancelling?()
    cancelling = nil
  }
  deinit { cancel() }
}

public enum Subscribers {
  final class Sink<Input>: Subscriber, Cancellable {
    typealias Failure = Never
    private let receiveValue: (Input) -> Void
    private var subscription: (any Subscription)?

    init(_ receiveValue: @escaping (Input) -> Void) { self.receiveValue = receiveValue }

    func receive(subscription: any Subscription) {
      self.subscription = subscription
      subscription.request(.unlimited)
    }
    func receive(_ input: Input) -> Demand {
      receiveValue(input)
      return .none
    }
    func receive(completion: Completion<Never>) {}
    func cancel() {
      subscription?.cancel()
      subscription = nil
    }
  }

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
