// A colour in CIE's L*a*b* space. Its components in sRGB are computed properties. They are declared
// by name, so that the inspector finds them as well. The white point is D65.

import Foundation
import KVORuntime

final class LabColor: KVOObject {
  @Observed var lightness = 65.0
  @Observed var a = 20.0
  @Observed var b = -45.0

  var red: Double { rgb.red }
  var green: Double { rgb.green }
  var blue: Double { rgb.blue }
  /// The colour in CSS notation.
  var hex: String {
    "#"
      + [red, green, blue].map { component in
        let digits = String(Int((component * 255).rounded()), radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
  }
  /// Whether a screen can show exactly this colour.
  var isShown: Bool { linear.allSatisfy { (-0.0005...1.0005).contains($0) } }

  override class func registerKeys() {
    declareKeys { keys in
      keys.computed("red", \.red)
      keys.computed("green", \.green)
      keys.computed("blue", \.blue)
      keys.computed("hex", \.hex)
      keys.computed("isShown", \.isShown)
    }
  }

  private var rgb: (red: Double, green: Double, blue: Double) {
    let components = linear.map { LabColor.encoded(min(max($0, 0), 1)) }
    return (components[0], components[1], components[2])
  }

  /// Red, green and blue in linear light.
  private var linear: [Double] {
    let y = (lightness + 16) / 116
    let white = [0.95047, 1, 1.08883]
    let xyz = zip([y + a / 500, y, y - b / 200], white).map { LabColor.decoded($0) * $1 }
    return [
      3.2404542 * xyz[0] - 1.5371385 * xyz[1] - 0.4985314 * xyz[2],
      -0.9692660 * xyz[0] + 1.8760108 * xyz[1] + 0.0415560 * xyz[2],
      0.0556434 * xyz[0] - 0.2040259 * xyz[1] + 1.0572252 * xyz[2],
    ]
  }

  private static func decoded(_ value: Double) -> Double {
    value > 6.0 / 29 ? value * value * value : 3 * 36.0 / 841 * (value - 4.0 / 29)
  }

  private static func encoded(_ value: Double) -> Double {
    value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
  }
}
