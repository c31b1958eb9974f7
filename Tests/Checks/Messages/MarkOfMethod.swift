// quoted: Objective-C interoperability is disabled
import KVORuntime

class Person: KVOObject {
  @Observed var firstName = ""
  var fullName: String { firstName }
  @objc class func keyPathsForValuesAffectingFullName() -> Set<String> { ["firstName"] }
}
