/// A message about a source, in the compiler's terms. Offsets are bytes of the file.

struct Diagnostic: Equatable {
  enum Severity: String { case error, warning }

  /// Replaces the text between two offsets of the file.
  struct Edit: Equatable {
    var start: Int
    var end: Int
    var text: String
  }

  struct FixIt: Equatable {
    var message: String
    var edits: [Edit]
  }

  var severity: Severity
  var message: String
  var offset: Int
  var fixIts: [FixIt] = []

  func json(of file: String) -> JSON {
    .object([
      "message": .string(message), "severity": .string(severity.rawValue),
      "position": .object(["fileName": .string(file), "offset": .number(Double(offset))]),
      "highlights": .array([]), "notes": .array([]),
      "fixIts": .array(fixIts.map { $0.json(of: file) }),
    ])
  }
}

extension Diagnostic.FixIt {
  fileprivate func json(of file: String) -> JSON {
    let changes = edits.map { edit in
      JSON.object([
        "range": .object([
          "fileName": .string(file), "startOffset": .number(Double(edit.start)),
          "endOffset": .number(Double(edit.end)),
        ]),
        "newText": .string(edit.text),
      ])
    }
    return .object(["message": .string(message), "changes": .array(changes)])
  }
}

/// The result of expanding a macro: source and diagnostics.
struct Expansion: Equatable {
  var source = ""
  var diagnostics: [Diagnostic] = []
}
