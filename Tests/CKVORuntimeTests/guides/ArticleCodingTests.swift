import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The article's contacts: key-value coding.
@Suite(.recording) struct ArticleCodingTests {
  private func withContact(
    _ cls: CClass = article_contact_class(),
    _ body: (UnsafeMutablePointer<article_contact>) -> Void
  ) {
    let contact = make(article_contact.self, of: cls)
    body(contact)
    contact.release()
  }

  @Test("B2: article: a name, a height from an integer, and a struct, all by key")
  func byKey() {
    withContact { contact in
      let log = Recorder()
      for key in ["name", "height", "place"] { log.observe(contact.object, key, .KVO_NEW) }
      set(contact.object, "name", .string("Daniel"))
      set(contact.object, "height", .int(20))
      set(contact.object, "place", .point(1, 2))
      expectEqual(
        log.take(), ["a: name new Daniel", "a: height new 20.0", "a: place new (1.0, 2.0)"])
      expectEqual(
        ["name", "height", "place"].map { readKey(contact.object, $0) },
        ["Daniel", "20.0", "(1.0, 2.0)"])
      expect(contact.pointee.height == 20 && contact.pointee.place.longitude == 2)
    }
  }

  @Test("B5: article: through a relation, by key path")
  func throughRelation() {
    withContact { contact in
      expectEqual(readPath(contact.object, "address.city"), "nil")
      let address = make(article_address.self)
      article_contact_setAddress(contact, address)
      setPath(contact.object, "address.city", .string("Berlin"))
      expectEqual(readPath(contact.object, "address.city"), "Berlin")
      address.release()
    }
  }

  @Test(
    "B3: article: nil for a height is an error, or 0 where the class says so and leaves the rest")
  func nilForScalar() {
    withContact { contact in
      article_contact_setHeight(contact, 2)
      expectEqual(
        brief(set(contact.object, "height", .nil)), "KVO_NIL_VALUE CArticleContact.height")
      expectEqual(contact.pointee.height, 2)
    }
    withContact(article_lenient_contact_class()) { contact in
      article_contact_setHeight(contact, 2)
      let log = Recorder()
      log.observe(contact.object, "height", [.KVO_OLD, .KVO_NEW])
      expectEqual(set(contact.object, "height", .nil).status, .KVO_OK)
      expectEqual(log.take(), ["a: height old 2.0 new 0.0"])
      expectEqual(
        brief(set(contact.object, "age", .nil)), "KVO_NIL_VALUE CArticleLenientContact.age")
    }
  }

  @Test("B1: article: undefined keys are errors, or what the class's hooks answer, both ways")
  func undefinedKeys() {
    withContact { contact in
      let expected = "KVO_UNDEFINED_KEY CArticleContact.motto"
      expectEqual(readKey(contact.object, "motto"), expected)
      expectEqual(brief(set(contact.object, "motto", .string("x"))), expected)
    }
    withContact(article_lenient_contact_class()) { contact in
      expectEqual(readKey(contact.object, "motto"), "nil")
      expectEqual(set(contact.object, "motto", .string("Carpe diem")).status, .KVO_OK)
      expectEqual(readKey(contact.object, "motto"), "Carpe diem")
      let expected = "KVO_UNDEFINED_KEY CArticleLenientContact.creed"
      expectEqual(readKey(contact.object, "creed"), expected)
      expectEqual(brief(set(contact.object, "creed", .string("x"))), expected)
    }
  }

  @Test("B1: article: instance variables in their order, unless the class says no")
  func instanceVariables() {
    let cabinet = make(article_cabinet.self)
    let closed = make(article_cabinet.self, of: article_closed_cabinet_class())
    defer { releaseAll([cabinet, closed]) }
    cabinet.pointee.order = (1, 2, 3, 4)
    let keys = ["top", "open", "drawer", "locked"]
    for (index, key) in keys.enumerated() {
      expectEqual(set(cabinet.object, key, .int(Int64(index + 5))).status, .KVO_OK)
      let expected = "KVO_UNDEFINED_KEY CArticleClosedCabinet.\(key)"
      expectEqual(readKey(closed.object, key), expected)
      expectEqual(brief(set(closed.object, key, .int(1))), expected)
    }
    expectEqual((keys + ["order"]).map { readKey(cabinet.object, $0) }, ["5", "6", "7", "8", "1"])
    expect(cabinet.pointee.top == 5 && cabinet.pointee.locked == 8)
    set(cabinet.object, "order", .int(9))
    expect(cabinet.pointee.order == (9, 2, 3, 4))
  }

  // MARK: The form

  private struct Form {
    let form = make(article_form.self)
    let fields: [UnsafeMutablePointer<article_field>]

    init() {
      fields = (0..<4).map { _ in make(article_field.self) }
      article_form_setNameField(form, fields[0])
      article_form_setNicknameField(form, fields[1])
      article_form_setEmailField(form, fields[2])
      article_form_setCityField(form, fields[3])
    }

    var texts: [String] { fields.map { readKey($0.object, "text") } }

    func type(_ text: String?, into index: Int) -> UnsafeMutablePointer<article_field> {
      article_field_setText(fields[index], text)
      return fields[index]
    }

    func end() {
      form.release()
      releaseAll(fields)
    }
  }

  @Test(
    "B1: article, DetailViewController: text fields are found by key, and fill the contact")
  func form() {
    withContact { contact in
      let form = Form()
      article_contact_setName(contact, "Daniel")
      article_contact_setCity(contact, "Berlin")
      article_form_setContact(form.form, contact)
      expectEqual(form.texts, ["Daniel", "nil", "nil", "Berlin"])
      let log = Recorder()
      for key in ["name", "email"] { log.observe(contact.object, key, [.KVO_OLD, .KVO_NEW]) }
      article_form_editing_ended(form.form, form.type("d@example.org", into: 2))
      article_form_editing_ended(form.form, form.type("Dan", into: 0))
      expectEqual(log.take(), ["a: email old nil new d@example.org", "a: name old Daniel new Dan"])
      article_contact_setNickname(contact, "D")
      article_form_update_fields(form.form)
      expectEqual(form.texts, ["Dan", "D", "d@example.org", "Berlin"])
      form.end()
    }
  }

  @Test("B1: article, DetailViewController: finding the fields does not retain them")
  func unretainedFields() {
    let made = Numbered()
    let form = make(article_form.self)
    article_form_setCityField(form, made.make(article_field.self))
    for _ in 0..<3 { expectEqual(readKey(form.object, "cityField"), "#1") }
    form.release()
    made.end()
  }

  @Test("B10: article, validation: the contact cleans a name, and the controller asks it to")
  func validation() {
    withContact { contact in
      expectEqual(validate(contact.object, "name", .nil), Validated("KVO_OK", ""))
      expectEqual(
        validate(contact.object, "name", .string(" \n Ada B. \t")), Validated("KVO_OK", "Ada B."))
      expectEqual(validate(contact.object, "city", .string(" x ")), Validated("KVO_OK", " x "))
      let form = Form()
      article_form_setContact(form.form, contact)
      article_form_name_editing_ended(form.form, form.type("  Ada ", into: 0))
      expect(readKey(contact.object, "name") == "Ada" && form.texts[0] == "Ada")
      article_form_name_editing_ended(form.form, form.type(nil, into: 0))
      expect(readKey(contact.object, "name") == "" && form.texts[0] == "")
      form.end()
    }
  }

  @Test("B10: article, validation: key-value coding never validates by itself")
  func neverByItself() {
    withContact { contact in
      let form = Form()
      article_form_setContact(form.form, contact)
      article_form_editing_ended(form.form, form.type(" Ada ", into: 0))
      set(contact.object, "name", .string(" Eve "))
      setPath(contact.object, "self.name", .string("\tBob"))
      expectEqual(readKey(contact.object, "name"), "\tBob")
      expectEqual(contact.pointee.validations, 0)
      form.end()
    }
  }
}
