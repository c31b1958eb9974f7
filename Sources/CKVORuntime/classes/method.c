// Methods: adding, replacing, finding them; ivars and class methods (A4, A7, P5).
//
// A method gets a slot that is free in the class and all its descendants, so adding a method late never moves
// another. An override is an entry in the overriding class's own map with the handle of the method that it overrides,
// so that a replacement in an ancestor stops there. A method that subclasses had before is overridden by theirs:
// their handles get the slot of the new one, and their maps the new handle.
#include "objects/kvo_class_internal.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "classes/kvo_accessor_kind.h"
#include "classes/kvo_dynamic_class.h"

#include <stdio.h>
#include <string.h>

const kvo_method *kvo_class_find_method(const kvo_class *cls, const char *interned_selector) {
  for (; cls; cls = cls->superclass) {
    const kvo_method *method = kvo_map_get(&cls->methods, interned_selector);
    if (method) return method;
  }
  return NULL;
}

const kvo_method *kvo_class_method(const kvo_class *cls, const char *selector) {
  const char *interned = kvo_key_find(selector);
  return interned ? kvo_class_find_method(cls, interned) : NULL;
}

kvo_imp kvo_class_find_class_method(const kvo_class *cls, const char *interned_selector) {
  for (; cls && interned_selector; cls = cls->superclass) {
    void *imp = kvo_map_get(&cls->class_methods, interned_selector);
    if (imp) return (kvo_imp)imp;
  }
  return NULL;
}

const char *kvo_method_selector(const kvo_method *method) { return method->selector; }

uint32_t kvo_method_slot(const kvo_method *method) { return kvo_slot_of(method); }

// Finds the method's kind and the keys that it changes: setName: sets `name` and `Name`.
static bool find_keys(kvo_method *method) {
  const char *name;
  size_t length;
  method->accessor_kind =
      (uint8_t)kvo_accessor_kind_of(method->selector, method->call, &name, &length);
  if (method->accessor_kind == KVO_ACCESSOR_NONE) return true;
  if (method->accessor_kind != KVO_ACCESSOR_SET) method->observed = KVO_CHANGES_PART;
  char key[KVO_SELECTOR_LIMIT];
  memcpy(key, name, length);
  key[length] = 0;
  method->keys[method->key_count++] = kvo_key_intern(key);
  if (key[0] >= 'A' && key[0] <= 'Z') {
    key[0] = (char)(key[0] - 'A' + 'a');
    method->keys[method->key_count++] = kvo_key_intern(key);
  }
  return method->keys[0] && (method->key_count == 1 || method->keys[1]);
}

kvo_imp kvo_class_imp(const kvo_class *cls, const kvo_method *method) {
  uint32_t slot = kvo_slot_of(method);
  bool has = slot < __atomic_load_n(&cls->slot_count, __ATOMIC_ACQUIRE);
  return has ? kvo_class_slot(cls, slot) : kvo_class_without_method;
}

// Changes the implementation in a class and in the descendants that inherit it. A dynamic subclass keeps its
// interposer, which looks the original up.
static void change_slot_locked(kvo_class *cls, const kvo_method *method, kvo_imp imp) {
  if (!(cls->is_dynamic && kvo_swizzle_interposes(cls, method)))
    kvo_class_set_slot_locked(cls, method->slot, imp);
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    if (!kvo_map_get(&subclass->methods, method->selector))
      change_slot_locked(subclass, method, imp);
}

// MARK: Methods that subclasses have had before

// Each topmost subclass that has the method needs a table separate from its superclass's. Returns the first one that
// can't get one, or whose method has another encoding.
static const kvo_class *find_unfit_locked(const kvo_class *cls, const char *selector,
    const kvo_call *call) {
  const kvo_class *unfit = NULL;
  for (kvo_class *below = cls->subclasses; below && !unfit; below = below->sibling) {
    const kvo_method *method = kvo_map_get(&below->methods, selector);
    if (!method) unfit = find_unfit_locked(below, selector, call);
    else if (method->call != call || !kvo_class_own_table_locked(below)) unfit = below;
  }
  return unfit;
}

static void rename_locked(kvo_class *cls, const kvo_method *old, const kvo_method *method) {
  kvo_class_set_slot_locked(cls, method->slot, kvo_class_slot(cls, old->slot));
  if (kvo_map_get(&cls->methods, old->selector)) // replaces an entry, so it needs no memory
    (void)kvo_map_set_locked(&cls->methods, old->selector, (void *)(uintptr_t)method);
  for (kvo_class *below = cls->subclasses; below; below = below->sibling)
    rename_locked(below, old, method);
}

// Callers that have the old handle, or have just read its slot, still reach the same function.
static void method_join_locked(kvo_class *cls, kvo_method *old, kvo_method *method) {
  rename_locked(cls, old, method);
  method->observed |= old->observed;
  if (!method->first_observed) method->first_observed = old->first_observed;
  kvo_method *last = old;
  while (last->twins) last = last->twins;
  last->twins = method->twins;
  method->twins = old;
  for (kvo_method *twin = old; twin; twin = twin->twins)
    __atomic_store_n(&twin->slot, method->slot, __ATOMIC_RELEASE);
}

static void join_below_locked(kvo_class *cls, kvo_method *method) {
  for (kvo_class *below = cls->subclasses; below; below = below->sibling) {
    kvo_method *old = kvo_map_get(&below->methods, method->selector);
    if (old) method_join_locked(below, old, method);
    else join_below_locked(below, method);
  }
}

static kvo_status method_out_of_memory(const kvo_class *cls, const char *name, kvo_error *error) {
  return kvo_fail(error, KVO_NO_MEMORY, cls->name, name, "No memory to add %s to %s.", name,
      cls->name);
}

static kvo_status fail_unfit(const kvo_class *cls, const kvo_class *below, const char *selector,
    const kvo_call *call, kvo_error *error) {
  const kvo_method *method = kvo_map_get(&below->methods, selector);
  if (method->call == call) return method_out_of_memory(cls, selector, error);
  return kvo_fail(error, KVO_INVALID_ENCODING, cls->name, selector,
      "%s of %s is declared as \"%s\", but its subclass %s has it declared as \"%s\".", selector,
      cls->name, call ? call->encoding : "hook", below->name,
      method->call ? method->call->encoding : "hook");
}

static kvo_method *make_method(const char *selector, const kvo_call *call, uint32_t slot) {
  kvo_method *method = kvo_alloc_zeroed(sizeof *method);
  if (!method) return NULL;
  method->selector = selector;
  method->call = call;
  method->slot = slot;
  if (!call || find_keys(method)) return method;
  kvo_free(method);
  return NULL;
}

static kvo_status add_new_locked(kvo_class *cls, const char *selector, kvo_imp imp,
    const kvo_call *call, const kvo_method **handle, kvo_error *error) {
  const kvo_class *unfit = find_unfit_locked(cls, selector, call);
  if (unfit) return fail_unfit(cls, unfit, selector, call, error);
  uint32_t slot = kvo_class_slot_limit_locked(cls);
  kvo_method *method = make_method(selector, call, slot);
  if (!method) return method_out_of_memory(cls, selector, error);
  // Fill the slots before the method can be found.
  bool has_room = slot >= KVO_CHECKED_SLOTS || kvo_class_own_table_locked(cls);
  has_room = has_room && kvo_class_reserve_slots_locked(cls, slot + 1);
  if (has_room) kvo_class_fill_slots_locked(cls, slot, imp);
  if (!has_room || !kvo_map_set_locked(&cls->methods, selector, method)) {
    kvo_free(method);
    return method_out_of_memory(cls, selector, error);
  }
  join_below_locked(cls, method);
  *handle = method;
  return KVO_OK;
}

static kvo_status override_locked(kvo_class *cls, const kvo_method *method, kvo_imp imp,
    const kvo_call *call, kvo_error *error) {
  const char *selector = method->selector;
  if (method->call != call)
    return kvo_fail(error, KVO_INVALID_ENCODING, cls->name, selector,
        "%s of %s is declared as \"%s\", but overrides a method declared as \"%s\".", selector,
        cls->name, call ? call->encoding : "hook", method->call ? method->call->encoding : "hook");
  if (!kvo_class_own_table_locked(cls) ||
      !kvo_map_set_locked(&cls->methods, selector, (void *)(uintptr_t)method))
    return method_out_of_memory(cls, selector, error);
  change_slot_locked(cls, method, imp);
  return KVO_OK;
}

static kvo_status method_add_locked(kvo_class *cls, const char *selector, kvo_imp imp,
    const kvo_call *call, const kvo_method **handle, kvo_error *error) {
  if (kvo_map_get(&cls->methods, selector))
    return kvo_fail(error, KVO_DUPLICATE, cls->name, selector, "%s has a method %s already.",
        cls->name, selector);
  const kvo_method *inherited = kvo_class_find_method(cls, selector);
  kvo_status status = inherited ? override_locked(cls, inherited, imp, call, error)
                                : add_new_locked(cls, selector, imp, call, handle, error);
  if (inherited) *handle = inherited;
  if (status == KVO_OK) {
    kvo_class_touch_locked(cls);
    kvo_swizzle_refresh_locked(cls, *handle);
  }
  return status;
}

// The interned selector, or NULL with an error.
static const char *intern_selector(const kvo_class *cls, const char *selector, kvo_error *error) {
  const char *interned = NULL;
  if (strlen(selector) >= KVO_SELECTOR_LIMIT)
    kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, selector,
        "A selector of %s has %zu bytes, more than %d: %.100s…", cls->name, strlen(selector),
        KVO_SELECTOR_LIMIT - 1, selector);
  else if (!(interned = kvo_key_intern(selector))) method_out_of_memory(cls, selector, error);
  return interned;
}

// Turns an error about a type into one about the class's member.
static kvo_status name_member(kvo_error *error, const kvo_error *cause, const kvo_class *cls,
    const char *name) {
  return kvo_fail(error, cause->status, cls->name, name, "%s of %s: %s", name, cls->name,
      cause->message);
}

// A binding keeps its own libraries loaded.
static bool method_keep_code(const kvo_class *cls, kvo_imp imp) {
  return cls->is_bound || kvo_keep_code((const void *)imp);
}

kvo_status kvo_class_add_own_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method **method, kvo_error *error) {
  kvo_error cause = {0};
  const kvo_call *call = NULL;
  if (signature.form != KVO_FORM_HOOK && !(call = kvo_call_for_signature(signature, &cause)))
    return name_member(error, &cause, cls, selector);
  const char *interned = intern_selector(cls, selector, &cause);
  if (!interned) return kvo_fail_with(error, &cause);
  const kvo_method *handle = NULL;
  KVO_LOCKED(&kvo_class_lock);
  kvo_status status = method_add_locked(cls, interned, imp, call, &handle, error);
  if (status == KVO_OK && method) *method = handle;
  return status;
}

kvo_status kvo_class_add_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_signature signature, const kvo_method **method, kvo_error *error) {
  if (!method_keep_code(cls, imp)) return method_out_of_memory(cls, selector, error);
  return kvo_class_add_own_method(cls, selector, imp, signature, method, error);
}

kvo_status kvo_class_replace_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_imp *previous, kvo_error *error) {
  const kvo_method *method = kvo_class_method(cls, selector);
  if (!method)
    return kvo_fail(error, KVO_UNDEFINED_KEY, cls->name, selector,
        "%s has no method %s to replace.", cls->name, selector);
  if (!method_keep_code(cls, imp)) return method_out_of_memory(cls, selector, error);
  KVO_LOCKED(&kvo_class_lock);
  if (!kvo_class_own_table_locked(cls) ||
      !kvo_map_set_locked(&cls->methods, method->selector, (void *)(uintptr_t)method))
    return method_out_of_memory(cls, selector, error);
  if (previous) *previous = kvo_class_slot(cls, method->slot);
  change_slot_locked(cls, method, imp);
  kvo_class_touch_locked(cls); // accessors store whether the class overrides `valueForKey:`
  return KVO_OK;
}

static kvo_status add_class_method(kvo_class *cls, const char *selector, kvo_imp imp,
    kvo_error *error) {
  KVO_LOCKED(&kvo_class_lock);
  if (kvo_map_get(&cls->class_methods, selector))
    return kvo_fail(error, KVO_DUPLICATE, cls->name, selector, "%s has a class method %s already.",
        cls->name, selector);
  if (!kvo_map_set_locked(&cls->class_methods, selector, (void *)imp))
    return method_out_of_memory(cls, selector, error);
  kvo_class_touch_locked(cls);
  return KVO_OK;
}

kvo_status kvo_class_method_add(kvo_class *cls, const char *selector, kvo_imp imp,
    const char **interned, kvo_error *error) {
  kvo_error cause;
  if (!method_keep_code(cls, imp)) return method_out_of_memory(cls, selector, error);
  *interned = intern_selector(cls, selector, &cause);
  return *interned ? add_class_method(cls, *interned, imp, error) : kvo_fail_with(error, &cause);
}

static kvo_status add_ivar_locked(kvo_class *cls, const char *name, kvo_ivar ivar,
    kvo_error *error) {
  if (kvo_map_get(&cls->ivars, name))
    return kvo_fail(error, KVO_DUPLICATE, cls->name, name, "%s has an ivar %s already.", cls->name,
        name);
  kvo_ivar *kept = kvo_alloc(sizeof *kept);
  if (!kept) return method_out_of_memory(cls, name, error);
  *kept = ivar;
  if (!kvo_map_set_locked(&cls->ivars, name, kept)) {
    kvo_free(kept);
    return method_out_of_memory(cls, name, error);
  }
  kvo_class_touch_locked(cls);
  return KVO_OK;
}

kvo_status kvo_class_add_ivar(kvo_class *cls, const char *name, size_t offset, kvo_layout layout,
    kvo_error *error) {
  kvo_error cause = {0};
  const kvo_type *type = kvo_type_for_layout(layout, &cause);
  if (!type) return name_member(error, &cause, cls, name);
  if (offset < sizeof(kvo_object) || offset > cls->instance_size ||
      type->size > cls->instance_size - offset || offset % type->alignment)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, name,
        "The ivar %s (%zu bytes at offset %zu) does not lie inside an instance of %s (%zu bytes), behind "
        "the kvo_object of %zu bytes that must be its first member.",
        name, type->size, offset, cls->name, cls->instance_size, sizeof(kvo_object));
  const char *interned = kvo_key_intern(name);
  if (!interned) return method_out_of_memory(cls, name, error);
  KVO_LOCKED(&kvo_class_lock);
  return add_ivar_locked(cls, interned, (kvo_ivar){(ptrdiff_t)offset, type}, error);
}
