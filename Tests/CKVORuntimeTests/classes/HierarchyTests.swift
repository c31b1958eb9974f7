import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// Dispatch tables, which the classes of a hierarchy share as long as possible.
@Suite struct HierarchyTests {
  /// A hierarchy, and the expected method of each class for each selector: its own, or else its superclass's.
  private struct Hierarchy {
    var classes: [CClass] = []
    var superclasses: [Int?] = []
    var own: [[Int: Int]] = []  // by class: selector to implementation
    static let selectors = 40
    static let many = 64
    var observed: [CObject] = []
    var implementations = 0
    let name: String

    mutating func addClass(under place: Int?) throws {
      let name = "\(name)\(classes.count)"
      let superclass = place.map { classes[$0] }
      let size = MemoryLayout<tracked>.size
      let cls = try require(kvo_class_create(name, superclass, size, nil))
      expectEqual(kvo_class_register(cls, nil), .KVO_OK)
      classes.append(cls)
      superclasses.append(place)
      own.append([:])
    }

    func answer(_ place: Int, _ selector: Int) -> Int? {
      own[place][selector] ?? superclasses[place].flatMap { answer($0, selector) }
    }

    /// Never called.
    private func function(_ number: Int) -> kvo_imp {
      unsafeBitCast(UnsafeRawPointer(bitPattern: number)!, to: kvo_imp.self)
    }

    mutating func add(_ selector: Int, to place: Int) {
      implementations += 1
      let status = kvo_class_add_method(
        classes[place], spelled(selector), function(implementations),
        signature(.KVO_FORM_GETTER, layout("d")), nil, nil)
      guard status == .KVO_OK else { return }  // the class or a subclass has the method already
      own[place][selector] = implementations
    }

    /// Enough methods that subclasses share tables even where they add methods of their own.
    func addMany(to place: Int) {
      for number in 0..<Self.many {
        let status = kvo_class_add_method(
          classes[place], "\(name)Filler\(number)", function(1),
          signature(.KVO_FORM_GETTER, layout("d")), nil, nil)
        expectEqual(status, .KVO_OK)
      }
    }

    mutating func replace(_ selector: Int, in place: Int) {
      guard answer(place, selector) != nil else { return }
      implementations += 1
      let status = kvo_class_replace_method(
        classes[place], spelled(selector), function(implementations), nil, nil)
      expectEqual(status, .KVO_OK)
      own[place][selector] = implementations
    }

    /// Makes the class get a dynamic subclass.
    mutating func observe(_ place: Int) {
      let object = make(classes[place])
      kvo_add_callback(object, "plain", [], { _, _, _, _ in }, nil, nil, nil, nil)
      observed.append(object)
    }

    private func spelled(_ selector: Int) -> String { "\(name)Answer\(selector)" }

    func check() {
      for (place, cls) in classes.enumerated() {
        for selector in 0..<Self.selectors {
          guard let expected = answer(place, selector) else { continue }
          let method = kvo_class_method(cls, spelled(selector))!
          expectEqual(number(of: kvo_class_imp(cls, method)), expected)
          for object in observed where kvo_class_of(object) == cls {
            expectEqual(number(of: kvo_method_lookup(object, method)), expected)
          }
        }
      }
    }

    private func number(of function: kvo_imp) -> Int { unsafeBitCast(function, to: Int.self) }
  }

  @Test("A4: each class answers with its own method or its superclass's, in any order of adding")
  func random() throws {
    for seed in 1...20 {
      var random = Random(seed: UInt64(seed))
      var hierarchy = Hierarchy(name: "CHierarchy\(seed)Class")
      try hierarchy.addClass(under: nil)
      let header = MemoryLayout<kvo_object>.size
      kvo_class_add_ivar(hierarchy.classes[0], "_plain", header, layout("d"), nil)
      if seed % 2 == 0 { hierarchy.addMany(to: 0) }
      for _ in 0..<120 {
        let place = random.next(hierarchy.classes.count)
        switch random.next(8) {
        case 0, 1: try hierarchy.addClass(under: place)
        case 2, 3, 4: hierarchy.add(random.next(Hierarchy.selectors), to: place)
        case 5, 6: hierarchy.replace(random.next(Hierarchy.selectors), in: place)
        default: hierarchy.observe(place)
        }
      }
      hierarchy.check()
      for object in hierarchy.observed {
        kvo_remove_all_observers(object)
        kvo_object_release(object)
      }
    }
  }
}
