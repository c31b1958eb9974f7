import CFixtures
import CKVORuntime
import Expectations
import TestSupport
import Testing

/// The examples of dependent keys in Apple's guide to key-value observing.
@Suite(.recording) struct GuideDependentKeyTests {
  // MARK: To-one relationships

  @Test(
    "F1: guide, dependent keys, listings 1 and 2: the full name, by the general hook and its own",
    arguments: ["listing 1", "listing 2"])
  func fullName(_ listing: String) {
    let isGeneral = listing == "listing 1"
    let cls = isGeneral ? guide_general_name_class() : guide_hooked_name_class()
    let person = make(guide_named.self, of: cls)
    defer { person.release() }
    guide_named_setFirstName(person, "Ada")
    guide_named_setLastName(person, "King")
    let log = Recorder()
    log.observe(person.object, "fullName", [.KVO_PRIOR, .KVO_OLD, .KVO_NEW])
    guide_named_setLastName(person, "Byron")
    guide_named_setTitle(person, "Lady")
    set(person.object, "firstName", .string("Anne"))
    expectEqual(
      log.take(),
      [
        "a: prior fullName old Ada King", "a: fullName old Ada King new Ada Byron",
        "a: prior fullName old Ada Byron", "a: fullName old Ada Byron new Anne Byron",
      ])
    log.end()
    expect(!isSwapped(person.object))
  }

  @Test("F1: guide, dependent keys: an override of the general hook adds to what super answers")
  func titledName() {
    let person = make(guide_named.self, of: guide_titled_name_class())
    defer { person.release() }
    guide_named_setTitle(person, "Miss")
    guide_named_setFirstName(person, "Ada")
    guide_named_setLastName(person, "Byron")
    let log = Recorder()
    log.observe(person.object, "fullName", .KVO_NEW)
    guide_named_setTitle(person, "Lady")
    guide_named_setLastName(person, "Lovelace")
    guide_named_setFirstName(person, "Augusta")
    expectEqual(
      log.take(),
      [
        "a: fullName new Lady Ada Byron", "a: fullName new Lady Ada Lovelace",
        "a: fullName new Lady Augusta Lovelace",
      ])
  }

  @Test("F1: guide, dependent keys: a category adds the full name to a class that is in use")
  func category() {
    let cls = guide_named_subclass("CGuideCategory")
    let person = make(guide_named.self, of: cls)
    defer { person.release() }
    guide_named_setFirstName(person, "Ada")
    guide_named_setLastName(person, "King")
    let log = Recorder()
    log.observe(person.object, "lastName", .KVO_NEW)
    expectEqual(log.observe(person.object, "fullName").outcome.status, .KVO_UNDEFINED_KEY)
    guide_add_full_name(cls)
    log.observe(person.object, "fullName", .KVO_NEW)
    guide_named_setLastName(person, "Byron")
    guide_named_setFirstName(person, "Anne")
    expectEqual(
      log.take(),
      [
        "a: lastName new Byron", "a: fullName new Ada Byron", "a: fullName new Anne Byron",
      ])
  }

  // MARK: To-many relationships

  private struct Office {
    let made = Numbered()
    let department = make(guide_department.self)
    let employees: [UnsafeMutablePointer<guide_employee>]

    /// Two employees who earn 100 and 50, and do not belong to the department yet.
    init() {
      employees = [made.make(guide_employee.self), made.make(guide_employee.self)]
      guide_employee_setSalary(employees[0], 100)
      guide_employee_setSalary(employees[1], 50)
    }

    func hire() {
      for (index, employee) in employees.enumerated() {
        guide_department_insertEmployee(department, employee, index)
      }
    }

    func end() {
      department.release()
      expect(employees.allSatisfy { !isSwapped($0.object) })
      made.end()
    }
  }

  @Test("C7: guide, to-many: a department observes every employee's salary for its total")
  func totalSalary() {
    let office = Office()
    let log = Recorder()
    log.observe(office.department.object, "totalSalary", [.KVO_OLD, .KVO_NEW])
    office.hire()
    expectEqual(
      log.take(), ["a: totalSalary old 0.0 new 100.0", "a: totalSalary old 100.0 new 150.0"])
    guide_employee_setSalary(office.employees[0], 120)
    guide_employee_setSalary(office.employees[0], 120)
    set(office.employees[1].object, "salary", .int(60))
    expectEqual(
      log.take(), ["a: totalSalary old 150.0 new 170.0", "a: totalSalary old 170.0 new 180.0"])
    guide_department_removeEmployee(office.department, 0)
    guide_employee_setSalary(office.employees[0], 999)
    expectEqual(log.take(), ["a: totalSalary old 180.0 new 60.0"])
    log.end()
    office.end()
  }

  @Test("C6: guide, to-many: employees.@sum.salary is observed, and may be a dependency")
  func sumOfSalaries() {
    let office = Office()
    let log = Recorder()
    let department = office.department.object
    log.observe(department, "employees.@sum.salary", [.KVO_OLD, .KVO_NEW], as: "path")
    log.observe(department, "payroll", [.KVO_OLD, .KVO_NEW], as: "key")
    office.hire()
    expectEqual(
      log.take(),
      [
        "path: employees.@sum.salary old 0 new 100.0", "key: payroll old 0.0 new 100.0",
        "path: employees.@sum.salary old 100.0 new 150.0", "key: payroll old 100.0 new 150.0",
      ])
    guide_employee_setSalary(office.employees[1], 60)
    guide_department_removeEmployee(office.department, 0)
    guide_employee_setSalary(office.employees[0], 999)
    expectEqual(
      log.take(),
      [
        "path: employees.@sum.salary old 150.0 new 160.0", "key: payroll old 150.0 new 160.0",
        "path: employees.@sum.salary old 160.0 new 60.0", "key: payroll old 160.0 new 60.0",
      ])
    log.end()
    office.end()
  }

  @Test(
    "C6: guide, to-many: depending on employees.salary is misuse; the message has the operator")
  func wrongDependency() async {
    await #expect(processExitsWith: .success) {
      kvo_set_misuse_handler { message in heard.withLock { $0.append(String(cString: message)) } }
      let department = make(guide_department.self)
      let employee = make(guide_employee.self)
      guide_department_insertEmployee(department, employee, 0)
      let cls = guide_department_class()
      expectEqual(kvo_class_add_dependency(cls, "totalSalary", "employees.salary", nil), .KVO_OK)
      let log = Recorder()
      log.observe(department.object, "totalSalary", [.KVO_OLD, .KVO_NEW])
      let messages = heard.withLock { $0 }
      expectEqual(messages.count, 1)
      for word in ["totalSalary", "CGuideDepartment", "employees.salary", "employees.@"] {
        expectEqual(messages.first?.contains(word), true, "\(word)")
      }
      guide_employee_setSalary(employee, 5)
      expectEqual(log.take(), ["a: totalSalary old 0.0 new 5.0"])
    }
  }
}

/// Collects the misuse reports of a process of its own.
private let heard = Locked<[String]>([])
