/// The figures in a machine-readable form.

/// The part of JSON that the report needs.
enum JSON {
  case null
  case string(String)
  case number(Double)
  case array([JSON])
  /// Members in the order in which they are written.
  case object([(String, JSON)])

  /// The text, indented, without a newline at the end.
  func text(indentation: String = "") -> String {
    switch self {
    case .null: "null"
    case .string(let string): Self.quoted(string)
    case .number(let number): Self.text(of: number)
    case .array(let elements):
      Self.lines(elements.map { ("", $0) }, between: "[", "]", indentation)
    case .object(let members):
      Self.lines(
        members.map { (Self.quoted($0) + ": ", $1) }, between: "{", "}", indentation)
    }
  }

  private static func lines(
    _ elements: [(prefix: String, value: JSON)], between open: String, _ close: String,
    _ indentation: String
  ) -> String {
    guard !elements.isEmpty else { return open + close }
    let inner = indentation + "  "
    let lines = elements.map { inner + $0.prefix + $0.value.text(indentation: inner) }
    return "\(open)\n\(lines.joined(separator: ",\n"))\n\(indentation)\(close)"
  }

  private static func text(of number: Double) -> String {
    if let integer = Int(exactly: number) { return String(integer) }
    return number.isFinite ? String(number) : "null"
  }

  private static func quoted(_ string: String) -> String {
    "\"" + string.unicodeScalars.map(escaped).joined() + "\""
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\"": return "\\\""
    case "\\": return "\\\\"
    case "\u{0}"..<" ":
      let digits = String(scalar.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: return String(scalar)
    }
  }
}

extension Figure {
  var json: JSON {
    .object([
      ("name", .string(measured.name)), ("unit", .string(measured.measure.unit)),
      ("median", .number(median)), ("min", .number(min)), ("max", .number(max)),
      ("repetitions", .number(Double(repetitions))),
    ])
  }
}

extension Machine {
  var json: JSON {
    func optional(_ string: String?) -> JSON { string.map(JSON.string) ?? .null }
    return .object([
      ("date", .string(date)), ("cpu", optional(cpu)), ("cores", .number(Double(cores))),
      ("kernel", .string(kernel)),
      ("swift", optional(swift)), ("libffi", optional(libffi)),
      ("configuration", .string(configuration)),
    ])
  }
}

/// The whole document.
func json(of figures: [Figure], on machine: Machine) -> String {
  let document = JSON.object([
    ("machine", machine.json), ("cases", .array(figures.map(\.json))),
  ])
  return document.text() + "\n"
}
