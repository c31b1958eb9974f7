/// Reads functions and their parameters.

extension DeclarationReader {
  mutating func readFunction(until end: Int) -> Function {
    var function = Function(name: self[index], parameters: [], effects: [])
    index += 1
    if let close = endOfGenericArguments(from: index) {
      function.isGeneric = true
      index = close
    }
    if index < end, self[index].is("(") {
      let close = min(endOfGroup(from: index), end)
      function.open = index
      function.parameters = readParameters((index + 1)..<max(close - 1, index + 1))
      index = close
    }
    while index < end, !self[index].is("{"), !beginsMember(), !self[index].is(";") {
      if self[index].is("->") {
        index += 1
        let type = readType(until: end)
        if !["Void", "()", "Swift.Void"].contains(type) { function.result = type }
        continue
      }
      if ["throws", "rethrows", "async"].contains(where: { self[index].isWord($0) }) {
        function.effects.append(self[index].text)
      }
      index = min(isOpening(self[index]) ? endOfGroup(from: index) : index + 1, end)
    }
    if index < end, self[index].is("{") {
      function.body = index
      index = min(endOfGroup(from: index), end)
    }
    return function
  }

  private func readParameters(_ range: Range<Int>) -> [Function.Parameter] {
    var parameters: [Function.Parameter] = []
    var reader = self
    reader.index = range.lowerBound
    while reader.index < range.upperBound {
      while reader[reader.index].is("@") { _ = reader.readAttribute() }
      let label = reader[reader.index].name
      while reader.index < range.upperBound, !reader[reader.index].is(":") {
        reader.index += 1
      }
      reader.index += 1
      let type = reader.index < range.upperBound ? reader.readType(until: range.upperBound) : ""
      if reader.index < range.upperBound, reader[reader.index].is("=") {
        reader.index += 1
        _ = reader.readExpression(until: range.upperBound)
      }
      parameters.append(.init(label: label == "_" ? nil : label, type: type))
      reader.index += 1  // the comma
    }
    return parameters
  }
}
