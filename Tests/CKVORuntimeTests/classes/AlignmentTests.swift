import CFixtures
import CKVORuntime
import Expectations
import Testing

/// A8: C instances that need more alignment than malloc gives.
@Suite struct AlignmentTests {
  @Test(
    "A8: instances are aligned as their struct is, also of subclasses and while observed",
    arguments: [64, 128, 4096])
  func aligned(_ alignment: Int) { expectEqual(aligned_count_wrong(alignment), 0) }

  @Test("A8: a subclass inherits its superclass's alignment")
  func inherited() {
    let cls = kvo_class_create("CWideRow", nil, 64, nil)!
    expectEqual(kvo_class_set_alignment(cls, 512, nil), .KVO_OK)
    expectEqual(kvo_class_register(cls, nil), .KVO_OK)
    let subclass = kvo_class_create("CWiderRow", cls, 80, nil)!
    expectEqual(kvo_class_set_alignment(subclass, 8, nil), .KVO_OK)
    expectEqual(kvo_class_register(subclass, nil), .KVO_OK)
    let objects = (0..<8).map { _ in kvo_object_create(subclass)! }
    expect(objects.allSatisfy { UInt(bitPattern: $0) % 512 == 0 })
    for object in objects { kvo_object_release(object) }
  }

  @Test("A8: an invalid alignment, or one set too late, is an error")
  func refused() {
    let cls = kvo_class_create("CLateRow", nil, 64, nil)!
    for alignment in [0, 3, 48] {
      expectEqual(kvo_class_set_alignment(cls, alignment, nil), .KVO_INVALID_ARGUMENT)
    }
    expectEqual(kvo_class_register(cls, nil), .KVO_OK)
    var error = kvo_error()
    expectEqual(kvo_class_set_alignment(cls, 64, &error), .KVO_INVALID_ARGUMENT)
    expectEqual(error.status, .KVO_INVALID_ARGUMENT)
  }
}
