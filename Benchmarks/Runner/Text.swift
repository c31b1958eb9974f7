/// Numbers and columns as text.

extension Double {
  /// The number with this many digits after the decimal point.
  func fixed(_ digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((magnitude * Double(scale)).rounded())
    let whole = (self < 0 && scaled > 0 ? "-" : "") + String(scaled / scale)
    guard digits > 0 else { return whole }
    let fraction = String(scaled % scale)
    return whole + "." + String(repeating: "0", count: digits - fraction.count) + fraction
  }
}

/// Formats rows as columns: the `leading` first ones aligned left, the others aligned right.
func alignedColumns(_ rows: [[String]], leading: Int) -> String {
  let columns = rows.map(\.count).max() ?? 0
  let widths = (0..<columns).map { column in
    rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
  }
  return rows.map { row in
    let cells = row.enumerated().map { column, cell in
      let padding = String(repeating: " ", count: widths[column] - cell.count)
      return column < leading ? cell + padding : padding + cell
    }
    return cells.joined(separator: "  ") + "\n"
  }.joined()
}
