import CFixtures
import CKVORuntime

/// A value as a test writes it.
enum Value: Sendable {
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case point(Double, Double)
  case `nil`
  /// No value at all: a NULL pointer.
  case missing

  /// Passes the value in the runtime's form to `body`, then destroys it.
  func withValue<R>(_ body: (UnsafePointer<kvo_value>?) -> R) -> R {
    if case .missing = self { return body(nil) }
    var value = boxed
    defer { kvo_value_destroy(&value) }
    return body(&value)
  }

  private var boxed: kvo_value {
    switch self {
    case .bool(let bool): return kvo_value_bool(bool)
    case .int(let int): return kvo_value_int(int)
    case .double(let double): return kvo_value_double(double)
    case .string(let string): return kvo_value_string(string)
    case .point(let x, let y): return boxedPoint(location(latitude: x, longitude: y))
    case .nil, .missing: return kvo_value()
    }
  }
}

private func boxedPoint(_ point: location) -> kvo_value {
  var point = point
  var value = kvo_value()
  kvo_value_init(&value, kvo_type_for_encoding("{location=dd}", nil)!, &point)
  return value
}

/// A value in the form that tests compare: nil if there is none, "nil" for nil, numbers as Swift writes them, tracked
/// objects by their mark.
func described(_ value: UnsafePointer<kvo_value>?) -> String? {
  guard let value else { return nil }
  guard !kvo_value_is_nil(value), let type = value.pointee.type else { return "nil" }
  switch type.pointee.kind {
  case .KVO_KIND_BOOL: return "\(kvo_value_get_bool(value))"
  case .KVO_KIND_FLOAT: return "\(Float(kvo_value_get_double(value)))"
  case .KVO_KIND_DOUBLE, .KVO_KIND_LONG_DOUBLE: return "\(kvo_value_get_double(value))"
  case .KVO_KIND_UINT64: return "\(UInt64(bitPattern: kvo_value_get_int(value)))"
  case .KVO_KIND_STRING: return String(cString: kvo_value_get_string(value)!)
  case .KVO_KIND_OBJECT: return describedObject(kvo_value_get_object(value)!)
  case .KVO_KIND_STRUCT: return describedStruct(value, type)
  case .KVO_KIND_POINTER:
    return "\(UInt(bitPattern: kvo_value_bytes(value)!.load(as: UnsafeRawPointer?.self)))"
  default: return "\(kvo_value_get_int(value))"
  }
}

private func describedObject(_ object: CObject) -> String {
  guard kvo_class_is_subclass_of(kvo_class_of(object), tracked_class()) else {
    return name(of: kvo_class_of(object))
  }
  return "#\(UnsafeMutableRawPointer(object).assumingMemoryBound(to: tracked.self).pointee.mark)"
}

private func describedStruct(
  _ value: UnsafePointer<kvo_value>, _ type: UnsafePointer<kvo_type>
) -> String {
  let bytes = kvo_value_bytes(value)!
  switch String(cString: type.pointee.encoding) {
  case "{location=dd}":
    let point = bytes.load(as: location.self)
    return "(\(point.latitude), \(point.longitude))"
  case "{pair=ff}":
    return "(\(bytes.load(as: Float.self)), \(bytes.load(fromByteOffset: 4, as: Float.self)))"
  default:
    let all = UnsafeRawBufferPointer(start: bytes, count: type.pointee.size)
    return "\(Array(all))"
  }
}

// MARK: Calls that may fail

/// The result of a call that takes a `kvo_error`.
struct Outcome: CustomStringConvertible {
  var status: kvo_status
  var className = ""
  var key = ""
  var message = ""

  var description: String {
    let name = String(cString: kvo_status_name(status))
    return status == .KVO_OK ? name : "\(name) \(className).\(key): \(message)"
  }
}

func attempt(_ call: (UnsafeMutablePointer<kvo_error>) -> kvo_status) -> Outcome {
  var error = kvo_error()
  let status = call(&error)
  guard status != .KVO_OK else { return Outcome(status: status) }
  return Outcome(
    status: status,
    className: text(error.class_name), key: text(error.key), message: text(error.message))
}

/// The text in an array of C characters.
private func text<Characters>(_ characters: Characters) -> String {
  withUnsafeBytes(of: characters) { bytes in
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// The result of reading by key: the value's description, or the status of the failure.
func read(_ object: CObject, _ key: String) -> String {
  var value = kvo_value()
  let status = kvo_value_for_key(object, key, &value, nil)
  defer { kvo_value_destroy(&value) }
  return status == .KVO_OK ? described(&value)! : String(cString: kvo_status_name(status))
}

@discardableResult
func set(_ object: CObject, _ key: String, _ value: Value) -> Outcome {
  attempt { error in value.withValue { kvo_set_value_for_key(object, key, $0, error) } }
}
