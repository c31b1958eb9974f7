/// Findings of key paths that lead through values which are no objects with keys here, and of types that are passed with a
/// key: "What behaves differently" of MovingOver. No rule of Behaviour is kept here.
import SwiftSource

extension Mover {
  /// Types whose objects have keys there, such as a string's `length`.
  private static let plain: Set = [
    "String", "NSString", "Date", "NSDate", "URL", "NSURL", "Data", "NSData", "NSNumber", "Int",
    "Double", "Float",
    "Bool", "NSAttributedString", "NSMutableString",
  ]

  /// Lists `value(forKeyPath: "title.length")`, where the property `title` is a string: its class has keys there.
  mutating func lookAtPath(ofCallAt index: Int) {
    guard let path = pathParts(ofCallAt: index), path.count > 1 else { return }
    for (key, next) in zip(path, path.dropFirst()) where next.first != "@" && next != "self" {
      guard let types = project.valueTypes[key], types.count == 1, let type = types.first,
        Self.plain.contains(type)
      else { continue }
      return report(
        index, .differs, "\(key) is of \(type), which has no key \(next) here",
        "read \(key) by key, and \(next) in Swift")
    }
  }

  /// Numbers have keys there that convert them: `values.value(forKeyPath: "@avg.floatValue")`. The average of Swift's numbers
  /// needs no conversion; other such keys are listed.
  mutating func movePath(ofConversionAt index: Int) {
    guard let path = pathParts(ofCallAt: index), path.count == 2, path[0].first == "@",
      Self.conversions.contains(path[1]), let close = file.closing(of: index + 1),
      let text = (index + 2..<close).first(where: { tokens[$0].kind == .string })
    else { return }
    if path[0] == "@avg", receiverHoldsNumbers(index) {
      replace(text, by: "\"@avg.self\"")
    } else {
      report(
        index, .differs, "numbers and texts have no key \(path[1]) here",
        "\(path[0]).self of numbers, or map and reduce")
    }
  }

  private static let conversions: Set = [
    "floatValue", "doubleValue", "intValue", "integerValue", "longLongValue",
  ]

  /// Whether the call's receiver is an array whose declared type is one of numbers: `(lengths as NSArray)`.
  private func receiverHoldsNumbers(_ call: Int) -> Bool {
    var last = call - 2
    if tokens[last].is(")"), let open = file.partner[last] {
      last = (open..<last).first { tokens[$0].isWord("as") }.map { $0 - 1 } ?? last
    }
    let sources = project.names[index].sources[tokens[last].name] ?? []
    return !sources.isEmpty
      && sources.allSatisfy { [.type("Int"), .type("Double"), .type("Float")].contains($0) }
  }

  /// The parts of the key path that a call is given, with its operators.
  private func pathParts(ofCallAt index: Int) -> [String]? {
    guard file.isStringCall(index), throwsHere(index), let close = file.closing(of: index + 1),
      let label = (index + 2..<close).first(where: { tokens[$0].text == "forKeyPath" })
    else { return nil }
    if tokens[label + 2].kind == .string, tokens[label + 2].interpolations.isEmpty {
      return tokens[label + 2].text.filter { $0 != "\"" }.split(separator: ".").map(String.init)
    }
    guard tokens[label + 2].is("#keyPath") else { return nil }
    let end = file.closing(of: label + 3) ?? close
    return tokens[label + 3..<end].filter {
      $0.kind == .identifier && $0.name.first?.isUppercase == false
    }
    .map(\.name)
  }

  /// Lists a cast of a value that `dictionaryWithValues` gives, `values["count"] as? Double`, to another type of number.
  mutating func lookAtEntry(castAt word: Int) {
    let type = ["?", "!"].contains(tokens[word + 1].text) ? word + 2 : word + 1
    let last = ["?", "!"].contains(tokens[word - 1].text) ? word - 2 : word - 1
    guard last > 1, tokens[last].is("]"), isOfDictionary(last),
      let (key, end) = file.key(at: file.partner[last]! + 1),
      end == last - 1, let own = project.misfit(of: key, for: tokens[type].text)
    else { return }
    report(
      type, .differs, "\(key) is of \(own), which is no \(tokens[type].text)",
      "cast it to \(own) first, and convert that")
  }

  /// Lists a cast to NSOrderedSet of a value that is read through one, since such a path gives an array here; and a cast of
  /// a mutable proxy to a collection of Foundation or of Swift.
  mutating func lookAtCollection(castAt word: Int) {
    let type = ["?", "!"].contains(tokens[word + 1].text) ? word + 2 : word + 1
    var last = word - 1
    while last > 0, ["?", "!"].contains(tokens[last].text) { last -= 1 }
    guard let call = call(givingValueEndingAt: last), throwsHere(call) else { return }
    if tokens[call].text.hasPrefix("mutable") {
      lookAtProxy(ofCallAt: call, castTo: type)
    } else if ["NSOrderedSet", "NSMutableOrderedSet"].contains(tokens[type].text),
      let path = pathParts(ofCallAt: call), isThroughOrderedSet(path)
    {
      report(
        type, .differs,
        "\(path.joined(separator: ".")) is an array here, also where it leads through an NSOrderedSet",
        "NSOrderedSet(array: … as! [Any])")
    }
  }

  private mutating func lookAtProxy(ofCallAt call: Int, castTo type: Int) {
    let method = tokens[call].text
    let kind = method.contains("Ordered") ? "OrderedSet" : method.contains("Set") ? "Set" : "Array"
    guard
      tokens[type].is("[") || ["Array", "Set"].contains(tokens[type].text)
        || tokens[type].text.hasPrefix("NS") && tokens[type].text.hasSuffix(kind)
    else { return }
    report(
      type, .differs,
      "\(method) gives a Mutable\(kind)Proxy, which is no \(file.text(ofTokens: type..<type + 1))",
      kind == "Array"
        ? "Array(proxy) as! [Element]"
        : "\(kind == "Set" ? "Set" : "NS" + kind)(…), made of Array(proxy)")
  }

  /// Whether a key on a path, except for the last, is that of an ordered set, or of a property whose type is not known.
  private func isThroughOrderedSet(_ path: [String]) -> Bool {
    path.dropLast().contains { key in
      guard let types = project.valueTypes[key] else { return key.first != "@" }
      return types.contains("NSOrderedSet") || types.contains("NSMutableOrderedSet")
    }
  }

  /// The call whose result ends with a token, or was assigned to the variable there.
  private func call(givingValueEndingAt last: Int) -> Int? {
    if tokens[last].is(")"), let open = file.partner[last], open > 0 {
      return file.isStringCall(open - 1) ? open - 1 : nil
    }
    guard tokens[last].kind == .identifier, last > 0, !tokens[last - 1].is("."),
      let body = function(around: last),
      let name = variable(namedAt: last, in: body)
    else { return nil }
    return (name + 2..<last).prefix { !file.endsStatement($0) }.first {
      guard file.isStringCall($0), let close = file.closing(of: $0 + 1) else { return false }
      return file.endsStatement(close) || tokens[close + 1].is(",") || tokens[close + 1].is("{")
    }
  }

  /// Lists a call that is given a type and a key, `model.stream(Double.self, "count")` or `Subject<Double>(model, "count")`,
  /// if values of the key are of another type of number: a cast to the generic type fails here.
  mutating func lookAtTypeArgument(_ index: Int) {
    guard tokens[index].is("("), index > 1, let close = file.partner[index],
      let type = passedType(index..<close) ?? closureType(behind: index..<close)
    else { return }
    let keys = (index + 1..<close).filter { file.enclosing[$0] == index }
      .compactMap { file.key(at: $0)?.key }
    for key in keys {
      guard let own = project.misfit(of: key, for: type) else { continue }
      return report(
        index, .differs, "\(key) is of \(own), which is no \(type)",
        "pass \(own), and convert its values to \(type)")
    }
  }

  /// The type of the first parameter of a trailing closure, which may be that of a value: `{ (size: Double) in … }`.
  private func closureType(behind call: Range<Int>) -> String? {
    var place = call.upperBound + 1
    guard tokens[place].is("{") else { return nil }
    place += 1
    if tokens[place].is("["), let close = file.partner[place] { place = close + 1 }
    guard tokens[place].is("("), tokens[place + 1].kind == .identifier, tokens[place + 2].is(":")
    else { return nil }
    return tokens[place + 3].name
  }

  private func passedType(_ call: Range<Int>) -> String? {
    let argument = call.first {
      file.enclosing[$0] == call.lowerBound && tokens[$0].isWord("self") && tokens[$0 - 1].is(".")
        && tokens[$0 - 2].name.first?.isUppercase == true && tokens[$0 - 3].kind == .punctuation
    }
    if let argument { return tokens[argument - 2].name }
    let last = call.lowerBound - 1
    let before = tokens[last]
    guard before.text.hasPrefix(">") else { return nil }
    // `Subject<Double>(`: the type, and whether it is the only one.
    return tokens[last - 2].text == "<" ? tokens[last - 1].name : nil
  }
}
