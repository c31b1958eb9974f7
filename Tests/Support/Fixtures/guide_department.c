#include "fixture_guide.h"

#include "require.h"

#include <string.h>

KVO_CLASS_IMPLEMENTATION(guide_employee, "CGuideEmployee", tracked_class, GUIDE_EMPLOYEE_PROPERTIES,
    NULL)

typedef void (*observe_function)(kvo_object *, const kvo_method *, const char *, kvo_object *,
    const kvo_change *, void *);

static char total_salary_context;

static void department_setup(kvo_class *cls);

KVO_CLASS_IMPLEMENTATION(guide_department, "CGuideDepartment", kvo_root_class,
    GUIDE_DEPARTMENT_PROPERTIES, department_setup)

// totalSalary

static double guide_department_totalSalary_imp(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  return ((guide_department *)self)->totalSalary;
}

static void guide_department_setTotalSalary_imp(kvo_object *self, const kvo_method *_cmd,
    double total) {
  (void)_cmd;
  if (((guide_department *)self)->totalSalary == total) return;
  kvo_will_change(self, "totalSalary");
  ((guide_department *)self)->totalSalary = total;
  kvo_did_change(self, "totalSalary");
}

// The setter announces its change itself, and only if the total is new.
static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void update_total_salary(guide_department *self) {
  kvo_error error = {0};
  kvo_value total;
  require_ok(kvo_value_for_key_path(&self->object, "employees.@sum.salary", &total, &error),
      &error);
  guide_department_setTotalSalary(self, kvo_value_get_double(&total));
  kvo_value_destroy(&total);
}

static void department_observe(kvo_object *self, const kvo_method *_cmd, const char *key_path,
    kvo_object *object, const kvo_change *change, void *context) {
  if (context == &total_salary_context) {
    update_total_salary((guide_department *)self);
  } else {
    ((observe_function)kvo_class_imp(kvo_root_class(), _cmd))(self, _cmd, key_path, object, change,
        context);
  }
}

// employees

static void join(guide_department *self, guide_employee *employee) {
  kvo_error error = {0};
  require_ok(kvo_add_observer((kvo_object *)employee, &self->object, "salary", 0,
                 &total_salary_context, &error),
      &error);
}

static void leave(guide_department *self, guide_employee *employee) {
  kvo_error error = {0};
  require_ok(kvo_remove_observer_with_context((kvo_object *)employee, &self->object, "salary",
                 &total_salary_context, &error),
      &error);
  kvo_object_release((kvo_object *)employee);
}

static size_t count_of_employees(guide_department *self, const kvo_method *_cmd) {
  (void)_cmd;
  return self->count;
}

static guide_employee *employee_at(guide_department *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  return self->employees[index];
}

static void insert_employee(guide_department *self, const kvo_method *_cmd,
    guide_employee *employee, size_t index) {
  (void)_cmd;
  memmove(self->employees + index + 1, self->employees + index,
      (self->count++ - index) * sizeof *self->employees);
  self->employees[index] = (guide_employee *)kvo_object_retain((kvo_object *)employee);
  join(self, employee);
  update_total_salary(self);
}

static void remove_employee(guide_department *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  guide_employee *gone = self->employees[index];
  memmove(self->employees + index, self->employees + index + 1,
      (--self->count - index) * sizeof *self->employees);
  leave(self, gone);
  update_total_salary(self);
}

static const kvo_method *insert_method, *remove_method;

void guide_department_insertEmployee(guide_department *self, guide_employee *employee,
    size_t index) {
  ((void (*)(guide_department *, const kvo_method *, guide_employee *,
      size_t))kvo_method_lookup(&self->object, insert_method))(self, insert_method, employee,
      index);
}

void guide_department_removeEmployee(guide_department *self, size_t index) {
  ((void (*)(guide_department *, const kvo_method *, size_t))kvo_method_lookup(&self->object,
      remove_method))(self, remove_method, index);
}

// payroll

static double payroll(guide_department *self, const kvo_method *_cmd) {
  (void)_cmd;
  double sum = 0;
  for (size_t i = 0; i < self->count; i++) sum += guide_employee_salary(self->employees[i]);
  return sum;
}

static void affects_payroll(const kvo_class *cls, kvo_key_paths *paths) {
  (void)cls;
  kvo_key_paths_add(paths, "employees.@sum.salary");
}

static void department_dealloc(kvo_object *object, const kvo_method *_cmd) {
  guide_department *self = (guide_department *)object;
  (void)_cmd;
  while (self->count) leave(self, self->employees[--self->count]);
}

static void add(kvo_class *cls, const char *selector, kvo_imp imp, const char *encoding,
    const kvo_method **method) {
  kvo_error error = {0};
  require_ok(kvo_class_add_method(cls, selector, imp, KVO_ENCODED(encoding), method, &error),
      &error);
}

static void department_setup(kvo_class *cls) {
  add(cls, "countOfEmployees", (kvo_imp)count_of_employees, "Q@:", NULL);
  add(cls, "objectInEmployeesAtIndex:", (kvo_imp)employee_at, "@@:Q", NULL);
  add(cls, "insertObject:inEmployeesAtIndex:", (kvo_imp)insert_employee, "v@:@Q", &insert_method);
  add(cls, "removeObjectFromEmployeesAtIndex:", (kvo_imp)remove_employee, "v@:Q", &remove_method);
  add(cls, "payroll", (kvo_imp)payroll, "d@:", NULL);
  require_class_method(cls, "keyPathsForValuesAffectingPayroll", (kvo_imp)affects_payroll);
  require_class_method(cls, "automaticallyNotifiesObserversOfTotalSalary", (kvo_imp)says_no);
  require_hook(cls, "observeValueForKeyPath:ofObject:change:context:", (kvo_imp)department_observe);
  require_hook(cls, "dealloc", (kvo_imp)department_dealloc);
}
