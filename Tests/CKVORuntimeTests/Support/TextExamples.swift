import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

// The classes of the guide's and the article's examples.

extension guide_account: CInstance { static var cClass: CClass { guide_account_class() } }
extension guide_document: CInstance { static var cClass: CClass { guide_document_class() } }
extension guide_person: CInstance { static var cClass: CClass { guide_person_class() } }
extension guide_investor: CInstance { static var cClass: CClass { guide_investor_class() } }
extension guide_named: CInstance { static var cClass: CClass { guide_named_class() } }
extension guide_department: CInstance { static var cClass: CClass { guide_department_class() } }
extension guide_transaction: CInstance { static var cClass: CClass { guide_transaction_class() } }
extension guide_employee: CInstance { static var cClass: CClass { guide_employee_class() } }
extension article_color: CInstance { static var cClass: CClass { article_color_class() } }
extension article_controller: CInstance {
  static var cClass: CClass { article_controller_class() }
}
extension article_address: CInstance { static var cClass: CClass { article_address_class() } }
extension article_contact: CInstance { static var cClass: CClass { article_contact_class() } }
extension article_field: CInstance { static var cClass: CClass { article_field_class() } }
extension article_form: CInstance { static var cClass: CClass { article_form_class() } }
extension article_cabinet: CInstance { static var cClass: CClass { article_cabinet_class() } }
extension article_primes: CInstance { static var cClass: CClass { article_primes_class() } }
extension article_list: CInstance { static var cClass: CClass { article_list_class() } }

/// An instance of a class that shares its struct with others.
func make<T: CInstance>(_ type: T.Type, of cls: CClass) -> UnsafeMutablePointer<T> {
  UnsafeMutableRawPointer(make(cls)).assumingMemoryBound(to: T.self)
}

/// Tracked objects with marks 1, 2, 3 and so on. A leak of one fails the test at `end`.
final class Numbered {
  private let deaths = Deaths()
  private var made: [CObject] = []

  func make<T: CInstance>(_ type: T.Type) -> UnsafeMutablePointer<T> {
    let object = CKVORuntimeTests.make(type)
    made.append(object.object)
    UnsafeMutableRawPointer(object).withMemoryRebound(to: tracked.self, capacity: 1) { tracked in
      tracked.pointee.deaths = deaths.counter
      tracked.pointee.mark = Int32(made.count)
    }
    return object
  }

  func end() {
    for object in made { kvo_object_release(object) }
    expectEqual(deaths.count, made.count)
  }
}

extension Many {
  convenience init(_ kind: kvo_collection_kind = .KVO_ARRAY, of objects: [CObject]) {
    let made = withCollection(kind, of: objects) { collection in
      kvo_object_retain(CObject(collection))
      return collection
    }
    self.init(taking: made)
  }

  /// Changes a mutable proxy by one object, through a function such as `kvo_collection_append`.
  @discardableResult func change(
    by object: CObject,
    _ call: (OpaquePointer, UnsafePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?) ->
      kvo_status
  ) -> Outcome {
    var element = kvo_value_object(object)
    defer { kvo_value_destroy(&element) }
    return lend { many in attempt { call(many, &element, $0) } }
  }

  @discardableResult func change(
    at index: Int, by object: CObject,
    _ call: (OpaquePointer, Int, UnsafePointer<kvo_value>, UnsafeMutablePointer<kvo_error>?) ->
      kvo_status
  ) -> Outcome {
    change(by: object) { call($0, index, $1, $2) }
  }
}
