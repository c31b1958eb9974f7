/// Code in `#if` branches that are not compiled on Linux. The edits don't see its tokens: the branch becomes part of
/// the trivia before the next token, so it stays unchanged byte for byte. No rule of Behaviour is kept here.
import SwiftSource

/// A branch of an `#if` that is not compiled on Linux.
struct ExcludedBranch {
  /// The line of the directive.
  var line: Int
  var offset: Int
  /// The directive as written.
  var directive: String
  /// Whether the branch has code that observes or can be observed.
  var hasKeyValueCode: Bool
}

/// Finds the branches that Linux excludes. A condition that only the build can evaluate, such as `DEBUG`, excludes
/// nothing.
struct BranchFinder {
  private let tokens: [Token]
  private(set) var kept: [Token] = []
  private(set) var excluded: [ExcludedBranch] = []
  private var index = 0
  /// How many `#if`s are open at `index`.
  private var depth = 0

  init(_ tokens: [Token]) {
    self.tokens = tokens
    while index < tokens.count { readCode(isKept: true) }
    // An `#if` without `#endif` may have excluded the end of the file, which callers rely on.
    if let end = tokens.last, kept.last != end { kept.append(end) }
  }

  /// Reads up to the next branch of the enclosing `#if`, or its end.
  private mutating func readCode(isKept: Bool) {
    while index < tokens.count, !isBoundary(tokens[index]) {
      if tokens[index].is("#if") {
        readConditions(isKept: isKept)
      } else {
        take(isKept: isKept)
      }
    }
    // A branch directive without an `#if`.
    if index < tokens.count, depth == 0 { take(isKept: isKept) }
  }

  private func isBoundary(_ token: Token) -> Bool {
    token.is("#elseif") || token.is("#else") || token.is("#endif")
  }

  private mutating func take(isKept: Bool) {
    if isKept { kept.append(tokens[index]) }
    index += 1
  }

  private mutating func readConditions(isKept: Bool) {
    depth += 1
    defer { depth -= 1 }
    // Whether an earlier branch is compiled; nil if only the build knows. `holds` is that of a branch's own condition.
    var isTaken: Bool? = false
    while index < tokens.count {
      let (first, start) = (tokens[index], index)
      repeat { take(isKept: isKept) } while index < tokens.count && !tokens[index].isFirstOnLine
      if first.is("#endif") { return }
      let condition = Array(tokens[start + 1..<index])
      let holds: Bool? = first.is("#else") ? true : Condition(condition).value
      let isExcluded = holds == false || isTaken == true
      if isExcluded, isKept { exclude(first, condition, from: index) }
      readCode(isKept: isKept && !isExcluded)
      if holds == true { isTaken = true } else if holds == nil, isTaken == false { isTaken = nil }
    }
  }

  /// Lists the branch whose code begins at `start`.
  private mutating func exclude(_ directive: Token, _ condition: [Token], from start: Int) {
    var (end, nested) = (start, 0)
    while end < tokens.count, nested > 0 || !isBoundary(tokens[end]) {
      if tokens[end].is("#if") { nested += 1 }
      if tokens[end].is("#endif") { nested -= 1 }
      end += 1
    }
    let words = condition.enumerated().map { ($0 > 0 ? $1.leadingTrivia : "") + $1.text }
    excluded.append(
      ExcludedBranch(
        line: directive.line, offset: directive.offset,
        directive: words.isEmpty ? directive.text : "\(directive.text) \(words.joined())",
        hasKeyValueCode: tokens[start..<end].contains { Self.keyValueNames.contains($0.text) }))
  }

  private static let keyValueNames: Set = [
    "observeValue", "willChangeValue", "didChangeValue", "NSKeyValueObservation",
    "NSKeyValueChange", "NSKeyValueChangeKey", "dynamic", "forKeyPath",
  ]
}

/// Evaluates a condition for Linux.
private struct Condition {
  private let tokens: [Token]
  private var index = 0
  /// The condition's value on Linux; nil if only the build knows.
  private(set) var value: Bool?

  init(_ tokens: [Token]) {
    self.tokens = tokens
    value = readDisjunction()
    if index < tokens.count { value = nil }
  }

  private mutating func take(_ text: String) -> Bool {
    guard index < tokens.count, tokens[index].text == text else { return false }
    index += 1
    return true
  }

  // `x || true` is true and `x && false` is false, even if only the build knows `x`.
  private mutating func readDisjunction() -> Bool? {
    var value = readConjunction()
    while take("||") {
      let other = readConjunction()
      value = value == true || other == true ? true : value == nil || other == nil ? nil : false
    }
    return value
  }

  private mutating func readConjunction() -> Bool? {
    var value = readTerm()
    while take("&&") {
      let other = readTerm()
      value = value == false || other == false ? false : value == nil || other == nil ? nil : true
    }
    return value
  }

  private mutating func readTerm() -> Bool? {
    if take("!") { return readTerm().map(!) }
    if take("(") {
      let value = readDisjunction()
      _ = take(")")
      return value
    }
    guard index < tokens.count else { return nil }
    let name = tokens[index].text
    index += 1
    if name == "true" || name == "false" { return name == "true" }
    guard take("(") else { return nil }
    var arguments: [String] = []
    while index < tokens.count, !take(")") {
      arguments.append(tokens[index].text)
      index += 1
    }
    return Self.value(of: name, arguments)
  }

  private static func value(of function: String, _ arguments: [String]) -> Bool? {
    let module = arguments.first ?? ""
    switch function {
    case "os": return arguments == ["Linux"]
    case "canImport":
      return modulesOfApple.contains(module) ? false : modulesOfLinux.contains(module) ? true : nil
    case "targetEnvironment": return false
    // Every `>=` holds: the Swift that compiles the moved source is newer than any that a condition asks for.
    case "swift", "compiler": return arguments.first == ">=" ? true : nil
    default: return nil
    }
  }

  private static let modulesOfLinux: Set = ["Foundation", "Glibc", "Dispatch", "Swift"]
  private static let modulesOfApple: Set = [
    "ObjectiveC", "Darwin", "UIKit", "AppKit", "Cocoa", "CoreData", "AVFoundation", "AVKit",
    "SwiftUI", "Combine", "WatchKit", "CoreGraphics", "QuartzCore", "CoreLocation", "MapKit",
    "WebKit", "MediaPlayer", "CoreBluetooth", "StoreKit", "os", "Metal", "MetalKit", "SpriteKit",
    "SceneKit", "CloudKit", "Photos", "CoreMedia", "CoreImage", "Contacts", "EventKit",
    "HealthKit", "UserNotifications", "CoreText",
  ]
}
