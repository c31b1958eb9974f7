// Spells types for messages as a program writes them (B12): `[String: Int]?`, not
// `Optional<Dictionary<String, Int>>`. Types of the C core become Swift's.

/// The unqualified name of a type as a program writes it.
package func swiftName(of type: Any.Type) -> String { swiftName(className(of: type)) }

/// A type name from the runtime or the C core, as a program writes it.
package func swiftName(_ name: String) -> String {
  if let known = coreNames[name] { return known }
  var rest = name[...]
  return name.utf8.contains(UInt8(ascii: "<")) ? readType(&rest) : name
}

/// A sentence of the C core that ends with a type's name, with that name in Swift's spelling.
func swiftSentence(_ text: String) -> String {
  let words = " type "
  guard text.hasSuffix("."), let place = text.lastRange(of: words) else { return text }
  return text[..<place.upperBound] + swiftName(String(text[place.upperBound...].dropLast())) + "."
}

private let coreNames = [
  "bool": "Bool", "int8_t": "Int8", "uint8_t": "UInt8", "int16_t": "Int16", "uint16_t": "UInt16",
  "int32_t": "Int32", "uint32_t": "UInt32", "int64_t": "Int", "uint64_t": "UInt", "float": "Float",
  "double": "Double", "long double": "Double", "string": "String",
  "KVOStoredCollection": "Array or Set", "KVOCollectionProxy": "Array or Set",
]

// Reads one type, up to a comma or an unmatched closing bracket.
private func readType(_ rest: inout Substring) -> String {
  var text = ""
  while let next = rest.first, !",>)]".contains(next) {
    switch next {
    case "<":
      rest.removeFirst()
      text = generic(text, arguments: readArguments(&rest))
    case "-":  // an arrow
      text += rest.prefix(2)
      rest = rest.dropFirst(2)
    case "(", "[":
      text += readBrackets(&rest)
    default:
      text.append(rest.removeFirst())
    }
  }
  return text
}

private func readArguments(_ rest: inout Substring) -> [String] {
  var arguments: [String] = []
  while !rest.isEmpty {
    arguments.append(readType(&rest))
    let end = rest.popFirst()
    if end != "," { break }
    rest = rest.drop { $0 == " " }
  }
  return arguments
}

// Reads a tuple or the parameters of a function, whose parts are types.
private func readBrackets(_ rest: inout Substring) -> String {
  var text = String(rest.removeFirst())
  while let next = rest.first, next != ")", next != "]" {
    text += next == "," || next == ">" ? String(rest.removeFirst()) : readType(&rest)
  }
  if !rest.isEmpty { text.append(rest.removeFirst()) }
  return text
}

private func generic(_ name: String, arguments: [String]) -> String {
  switch (name, arguments.count) {
  case ("Optional", 1):
    let isSimple = !arguments[0].contains(" -> ") && !arguments[0].contains(" & ")
    return isSimple ? arguments[0] + "?" : "(" + arguments[0] + ")?"
  case ("Array", 1): return "[" + arguments[0] + "]"
  case ("Dictionary", 2): return "[" + arguments[0] + ": " + arguments[1] + "]"
  default: return name + "<" + arguments.joined(separator: ", ") + ">"
  }
}

extension String {
  fileprivate func lastRange(of words: String) -> Range<Index>? {
    var found: Range<Index>?
    var start = startIndex
    while start < endIndex {
      if self[start...].hasPrefix(words) { found = start..<index(start, offsetBy: words.count) }
      start = index(after: start)
    }
    return found
  }
}
