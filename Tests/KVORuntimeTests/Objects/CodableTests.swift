import Expectations
import Foundation
import KVORuntime
import ModelFixtures
import TestSupport
import Testing

/// E4: observable classes are coded like others.
@Suite(.leakFree) struct CodableTests {
  final class Member: Tracked, Codable {
    @Observed var name = "nobody"
    @Observed var age: Int
    @Observed var nickname: String?
    @Observed var tags: [String] = []
    @Observed var joined = Date(timeIntervalSince1970: 0)
    @Observed var role = Role.guest
    @Observed var boss: Member?
    var notes = ""

    enum Role: String, Codable { case guest, owner }

    init(age: Int) {
      self.age = age
      super.init()
    }
  }

  @Test("E4: compiler-written coding codes @Observed properties as their values")
  func roundTrip() throws {
    let member = Member(age: 36)
    member.name = "Ada"
    member.tags = ["a", "b"]
    member.role = .owner
    member.notes = "plain"
    member.boss = Member(age: 50)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = .iso8601
    let data = try encoder.encode(member)
    expectEqual(
      String(decoding: data, as: UTF8.self),
      """
      {"age":36,"boss":{"age":50,"joined":"1970-01-01T00:00:00Z","name":"nobody","notes":"",\
      "role":"guest","tags":[]},"joined":"1970-01-01T00:00:00Z","name":"Ada","notes":"plain",\
      "role":"owner","tags":["a","b"]}
      """)
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let copy = try decoder.decode(Member.self, from: data)
    expectEqual(copy.name, "Ada")
    expectEqual(copy.age, 36)
    expect(copy.nickname == nil)
    expectEqual(copy.tags, ["a", "b"])
    expectEqual(copy.role, .owner)
    expectEqual(copy.boss?.age, 50)
    expect(copy.boss?.boss == nil)
    expect(copy !== member)
    expect(copy != member)
  }

  @Test("E4: a decoded object is observed like others")
  func observed() throws {
    let json =
      #"{"age":1,"name":"x","tags":[],"joined":0,"role":"guest","notes":"","nickname":"y"}"#
    let member = try JSONDecoder().decode(Member.self, from: Data(json.utf8))
    let log = Recorder()
    log.observe(member, \.nickname, [.initial, .old, .new])
    member.nickname = nil
    expectEqual(log.take(), ["a new y", "a old y new nil"])
  }

  @Test("E4: missing values, and values of another type, are the decoder's error")
  func errors() {
    for json in [#"{"age":1}"#, #"{"age":"1","name":"x"}"#] {
      #expect(throws: DecodingError.self) {
        try JSONDecoder().decode(Member.self, from: Data(json.utf8))
      }
    }
  }
}
