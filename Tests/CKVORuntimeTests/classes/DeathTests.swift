import CFixtures
import CKVORuntime
import Expectations
import Testing

/// P4: C objects that own one another.
@Suite struct DeathTests {
  @Test(
    "P4: a long chain of objects that own one another dies in constant stack",
    arguments: [
      heir_link.HEIR_FIRST, .HEIR_SECOND, .HEIR_ARRAY, .HEIR_SET, .HEIR_ASSOCIATED,
    ])
  func chain(_ link: heir_link) { expectEqual(heir_end_chain(100_000, link), 100_000) }

  @Test(
    "P4: what a dealloc releases dies before dealloc goes on, however deep deaths nest",
    arguments: [2, 99, 100, 101, 102, 103, 5_000])
  func lenders(_ length: Int) {
    expectEqual(heir_end_lenders(length, 64 << 20), length - 1)
  }

  @Test(
    "P4: deallocs that nest until the stack runs out stop the program, naming the class",
    arguments: [128, 1_024])
  func endOfStack(kilobytes: Int) async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [kilobytes] in
      _ = heir_end_lenders(1_000_000, kilobytes << 10)
    }
    let errors = String(decoding: try require(result).standardErrorContent, as: UTF8.self)
    expect(errors.contains("KB are left of the stack's"))
    expect(
      errors.contains(
        "objects are being destroyed inside each other; the next is an object of CHeir"))
    expect(errors.contains("RETAIN") && errors.contains("larger stack"))
  }

  @Test(
    "P4: owned objects die in order, each with its own, before the owner's memory is freed",
    arguments: [0, 99, 100, 1_000])
  func tree(_ depth: Int) {
    let order = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { room in
      heir_end_tree(room.baseAddress!, room.count, depth)
      return String(cString: room.baseAddress!)
    }
    expectEqual(
      order,
      """
      0 1<0 2<1 3<1 4<1 5<1 6<0 7<6 8<6 9<6 10<6 11<0 12<11 13<11 14<11 15<11 16<0 17<16 18<16 \
      19<16 20<16
      """)
  }
}
