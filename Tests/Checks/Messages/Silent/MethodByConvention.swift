import KVORuntime

class Person: KVOObject {
  @Observed var firstName = ""
  var fullName: String { firstName }
  class func keyPathsForValuesAffectingFullName() -> Set<String> { ["firstName"] }
  func validateFirstName(_ value: inout String?) throws {}
}
