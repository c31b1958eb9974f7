// A collection that is not an array: the class returns the number of elements and each element.
// Key-value coding presents them as an array, which only requests the elements that are used.
import KVORuntime

final class Primes: KVOObject {
  private static let sieve: [Int32] = {
    var isPrime = [Bool](repeating: true, count: 1230)
    var found: [Int32] = []
    for number in 2..<isPrime.count where isPrime[number] {
      found.append(Int32(number))
      for multiple in stride(from: number * number, to: isPrime.count, by: number) {
        isPrime[multiple] = false
      }
    }
    return found
  }()

  private(set) var calls: [String] = []

  /// The array that key-value coding returns.
  var primes: ArrayProxy {
    get throws { try value(forKey: "backingPrimes") as! ArrayProxy }
  }

  override class func registerKeys() {
    declareKeys { keys in
      keys.orderedToMany(
        "backingPrimes", count: { $0.countOfBackingPrimes() },
        element: { $0.objectInBackingPrimes(at: $1) })
    }
  }

  private func countOfBackingPrimes() -> Int {
    calls.append("count")
    return Self.sieve.count
  }

  private func objectInBackingPrimes(at index: Int) -> Int32 {
    calls.append("element \(index)")
    return Self.sieve[index]
  }

  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }
}

let primes = Primes()
print("the last prime is \(try primes.primes.last!), for which it was asked: \(primes.takeCalls())")
print("the first is \(try primes.primes.first!): \(primes.takeCalls())")
print("the tenth is \(try primes.primes[9]): \(primes.takeCalls())")
let greatest = try primes.value(forKeyPath: "backingPrimes.@max.self")!
print("the greatest is \(greatest)")
