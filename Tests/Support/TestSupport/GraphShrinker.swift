/// Shortens a failing program by removing parts without which it still fails: halves first, then ever smaller parts,
/// then single operations, until none can go. Finally options are removed.
package struct GraphShrinker {
  private let fails: (GraphProgram) -> Bool
  private var program: GraphProgram

  package static func shrink(
    _ program: GraphProgram, while fails: @escaping (GraphProgram) -> Bool
  ) -> GraphProgram {
    var shrinker = GraphShrinker(fails: fails, program: program)
    shrinker.shrink()
    return shrinker.program
  }

  private mutating func shrink() {
    var size = max(program.operations.count / 2, 1)
    while true {
      let shortened = leaveOut(size)
      if size == 1, !shortened { break }
      size = max(size / 2, 1)
    }
    for index in program.operations.indices { simplify(index) }
  }

  /// Tries to remove each part of that size. Returns whether one could go.
  private mutating func leaveOut(_ size: Int) -> Bool {
    var shortened = false
    var end = program.operations.count
    while end > 0 {
      let part = max(0, end - size)..<end
      var candidate = program
      candidate.operations.removeSubrange(part)
      end = part.lowerBound
      guard fails(candidate) else { continue }
      program = candidate
      shortened = true
    }
    return shortened
  }

  private mutating func simplify(_ index: Int) {
    for option in GraphOptions.words.map(\.1) {
      guard let simpler = without(option, program.operations[index]) else { continue }
      var candidate = program
      candidate.operations[index] = simpler
      if fails(candidate) { program = candidate }
    }
  }

  private func without(
    _ option: GraphOptions, _ operation: GraphProgram.Operation
  ) -> GraphProgram.Operation? {
    switch operation {
    case .observe(let slot, let path, let options, let callback) where options.contains(option):
      .observe(slot, path, options.subtracting(option), as: callback)
    case .add(let observer, let slot, let path, let options, let context)
    where options.contains(option):
      .add(observer, to: slot, path, options.subtracting(option), context: context)
    default: nil
    }
  }
}
