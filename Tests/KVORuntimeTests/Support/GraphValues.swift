import KVORuntime
import TestSupport

/// A value of a node's property, in the model's form.
protocol GraphConvertible {
  var graphValue: GraphValue { get }
}

extension Double: GraphConvertible {
  var graphValue: GraphValue { .number(self) }
}

extension Int: GraphConvertible {
  var graphValue: GraphValue { .number(Double(self)) }
}

extension GraphNode: GraphConvertible {
  var graphValue: GraphValue { .object(number) }
}

extension Array: GraphConvertible where Element == GraphNode {
  var graphValue: GraphValue { .list(map(\.number)) }
}

extension Set: GraphConvertible where Element == GraphNode {
  var graphValue: GraphValue { .set(of: map(\.number)) }
}

extension Optional: GraphConvertible where Wrapped: GraphConvertible {
  var graphValue: GraphValue { self?.graphValue ?? .nil }
}

extension GraphValue {
  /// - Parameter value: in the form that observers by string get.
  init(untyped value: Any) {
    if let known = value as? any GraphConvertible {
      self = known.graphValue
    } else {
      precondition("\(value)" == "nil", "\(value) is not a value of a node")
      self = .nil
    }
  }
}

extension GraphLog.Call {
  /// The parts of a change.
  mutating func take<Value>(
    _ change: KeyValueObservedChange<Value>, _ convert: (Value) -> GraphValue
  ) {
    isPrior = change.isPrior
    kind = ChangeKind(rawValue: Int(change.kind.rawValue))!
    indexes = change.indexes.map { Array($0.ranges.joined()) }
    old = change.oldValue.map(convert)
    new = change.newValue.map(convert)
  }

  mutating func take(_ change: [KeyValueChangeKey: Any]) {
    isPrior = change[.notificationIsPriorKey] as? Bool ?? false
    kind = (change[.kindKey] as? KeyValueChange).flatMap { ChangeKind(rawValue: Int($0.rawValue)) }!
    indexes = (change[.indexesKey] as? RangeSet<Int>).map { Array($0.ranges.joined()) }
    old = change[.oldKey].map(GraphValue.init(untyped:))
    new = change[.newKey].map(GraphValue.init(untyped:))
  }
}

extension Mutation {
  var rangeSet: RangeSet<Int> { RangeSet(indexes.map { $0..<$0 + 1 }) }

  var setMutation: KeyValueSetMutation {
    switch form {
    case .union: .union
    case .minus: .minus
    case .intersect: .intersect
    default: .set
    }
  }

  var listKind: KeyValueChange {
    switch form {
    case .insert: .insertion
    case .remove: .removal
    default: .replacement
    }
  }
}

extension KeyValueObservingOptions {
  init(_ options: GraphOptions) { self.init(rawValue: UInt(options.rawValue)) }
}
