/// Adds imports of the runtime's modules. Edit 1 of MovingOver.md.
import SwiftSource

/// A declaration `import Foundation` or `import class Foundation.NSObject`.
struct Import {
  var module: String
  /// The tokens from the word `import` to the last name.
  var range: Range<Int>
  /// The outermost `#if` around it.
  var condition: Int?
}

extension SourceFile {
  func isImported(_ index: Int) -> Bool { imports.contains { $0.range.contains(index) } }

  func findImports() -> [Import] {
    var (imports, conditions) = ([Import](), [Int]())
    for index in tokens.indices {
      if tokens[index].is("#if") {
        conditions.append(index)
      } else if tokens[index].is("#endif") {
        _ = conditions.popLast()
      } else if isKeyword(index, among: ["import"]), enclosing[index] == nil {
        imports.append(readImport(at: index, in: conditions.first))
      }
    }
    return imports
  }

  private func readImport(at keyword: Int, in condition: Int?) -> Import {
    var last = keyword + 1
    if tokens[last + 1].kind == .identifier, !tokens[last + 1].isFirstOnLine { last += 1 }
    let module = tokens[last].name
    while tokens[last + 1].is("."), tokens[last + 2].kind == .identifier { last += 2 }
    return Import(module: module, range: keyword..<last + 1, condition: condition)
  }
}

extension Mover {
  static let foundations: Set = [
    "Foundation", "Cocoa", "AppKit", "UIKit", "Combine", "CoreData",
  ]

  /// Members of Foundation's collections that KVOFoundation adds to mutable proxies.
  static let collectionNames: Set = [
    "add", "addObjects", "adding", "addingObjects", "allObjects", "anyObject", "array",
    "componentsJoined", "exchangeObject", "firstObject", "firstObjectCommon", "index",
    "indexOfObjectIdentical", "intersect", "intersectSet", "intersects", "intersectsSet", "isEqual",
    "isSubset", "lastObject", "member", "minus", "minusSet", "moveObjects", "object", "objects",
    "remove", "removeAllObjects", "removeLastObject", "removeObject", "removeObjects",
    "replaceObject", "replaceObjects", "set", "setArray", "setObject", "setSet", "sort", "subarray",
    "union", "unionSet",
  ]
  private static let proxies: Set = [
    "mutableArrayValue", "mutableSetValue", "mutableOrderedSetValue",
  ]

  /// Whether the file gets a mutable proxy and uses it as one of Foundation's collections.
  private var usesCollectionNames: Bool {
    let members = file.tokens.indices.filter { $0 > 0 && file.tokens[$0 - 1].is(".") }
    let names = Set(members.map { file.tokens[$0].name })
    return file.tokens.contains { Self.proxies.contains($0.name) }
      && !names.isDisjoint(with: Self.collectionNames)
  }

  var usesFoundation: Bool { file.imports.contains { Self.foundations.contains($0.module) } }

  /// Removes imports of the Objective-C runtime, which is not there.
  mutating func removeRuntimeImports() {
    for found in file.imports where found.module == "ObjectiveC" && found.condition == nil {
      let (first, last) = (found.range.lowerBound, found.range.upperBound - 1)
      if tokens[last + 1].is(";") {
        remove(first..<last + 2)
      } else {
        let line = tokens[first].isFirstOnLine ? file.endOfLine(after: last) : nil
        edits.append(Edit(tokens[first].offset..<(line ?? tokens[last].endOffset), ""))
      }
    }
  }

  /// Keeps the import of Foundation, since the source may use other parts of it. The runtime's imports go after it,
  /// or after another unconditional import.
  mutating func moveImports() {
    removeRuntimeImports()
    let imported = Set(file.imports.map(\.module))
    let modules = (needsFoundation || usesCollectionNames ? ["KVOFoundation"] : []) + ["KVORuntime"]
    let missing = modules.filter { !imported.contains($0) }
    guard needsRuntime, !missing.isEmpty, let first = file.imports.first else { return }
    addedModules = missing
    let always = file.imports.filter { $0.condition == nil }
    let lines = missing.map { "import \($0)" }
    if let beside = always.last(where: { Self.foundations.contains($0.module) }) ?? always.first {
      insert(lines, after: beside.range.upperBound - 1)
    } else if let condition = first.condition {
      insert(lines.map { $0 + file.lineEnd }.joined(), before: condition)
    }
  }

  private mutating func insert(_ lines: [String], after index: Int) {
    guard let end = file.endOfLine(after: index) else {
      return insert(lines.map { file.lineEnd + $0 }.joined(), after: index)
    }
    edits.append(Edit(end..<end, lines.map { $0 + file.lineEnd }.joined()))
  }
}
