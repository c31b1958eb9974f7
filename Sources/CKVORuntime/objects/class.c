// Classes: making them, names, superclasses and subclasses.
//
// A class is essentially its dispatch table (dispatch.c), in which a slot denotes the same method down a hierarchy.
// Classes are linked to their subclasses, so that a method that is added or replaced later reaches all of them
// (method.c). Everything is written under the class lock and never freed; readers take no lock.
#include "objects/kvo_class_internal.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Plain classes of C by name. Classes of bindings are left out, because several may have the same unqualified name.
static kvo_map names;

static void link_to_superclass_locked(kvo_class *cls, const kvo_class *superclass) {
  kvo_class *parent = (kvo_class *)(uintptr_t)superclass;
  cls->superclass = superclass;
  cls->operations = superclass->operations;
  cls->operations_number = superclass->operations_number;
  cls->instance_alignment = superclass->instance_alignment;
  cls->is_bound = superclass->is_bound;
  cls->is_collection = superclass->is_collection;
  cls->announces = superclass->announces;
  cls->slot_count = superclass->slot_count;
  cls->generation = superclass->generation;
  cls->sibling = parent->subclasses;
  parent->subclasses = cls;
}

kvo_class *kvo_class_derive_locked(const char *name, const kvo_class *superclass,
    bool has_own_table) {
  kvo_class *cls = kvo_alloc_zeroed(sizeof *cls);
  if (!cls) return NULL;
  cls->name = kvo_key_intern(name);
  if (!cls->name || !kvo_class_begin_table_locked(cls, superclass, has_own_table)) {
    kvo_free(cls);
    return NULL;
  }
  cls->plain = cls;
  cls->instance_alignment = KVO_INSTANCE_ALIGNMENT;
  if (superclass) link_to_superclass_locked(cls, superclass);
  return cls;
}

static kvo_status check_new_class(const char *name, const kvo_class *superclass, size_t size,
    kvo_error *error) {
  if (!*name) return kvo_fail(error, KVO_INVALID_ARGUMENT, name, NULL, "A class needs a name.");
  if (superclass && (!kvo_class_is_registered(superclass) || superclass->is_dynamic))
    return kvo_fail(error, KVO_INVALID_ARGUMENT, name, NULL,
        "%s can't be a subclass of %s, which is not a registered class.", name, superclass->name);
  size_t least = superclass ? superclass->instance_size : sizeof(kvo_object);
  if (size < least)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, name, NULL,
        "An instance of %s can't be smaller (%zu bytes) than one of its superclass (%zu).", name,
        size, least);
  return KVO_OK;
}

kvo_class *kvo_class_make(const char *name, const kvo_class *superclass, size_t instance_size,
    kvo_error *error) {
  if (check_new_class(name, superclass, instance_size, error)) return NULL;
  KVO_LOCKED(&kvo_class_lock);
  bool named = !superclass || !superclass->is_bound;
  const char *interned = kvo_key_intern(name);
  if (named && interned && kvo_map_get(&names, interned)) {
    kvo_fail(error, KVO_DUPLICATE, name, NULL, "There is a class named %s already.", name);
    return NULL;
  }
  // Reserve room for the name first: once the class is linked to its superclass, nothing may fail.
  bool has_room = interned && (!named || kvo_map_set_locked(&names, interned, NULL));
  kvo_class *cls = has_room ? kvo_class_derive_locked(name, superclass, !superclass) : NULL;
  if (!cls) {
    kvo_fail(error, KVO_NO_MEMORY, name, NULL, "No memory for the class %s.", name);
    return NULL;
  }
  if (named) kvo_map_set_locked(&names, interned, cls);
  cls->instance_size = instance_size;
  return cls;
}

static kvo_status check_alignment(const kvo_class *cls, size_t alignment, kvo_error *error) {
  if (!alignment || alignment & (alignment - 1) || alignment > INT32_MAX)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, NULL,
        "Instances of %s can't be aligned at %zu bytes, which is not a power of two below 2 GiB.",
        cls->name, alignment);
  if (cls->is_registered)
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, NULL,
        "%s is registered: how its instances are aligned is settled.", cls->name);
  return KVO_OK;
}

kvo_status kvo_class_set_alignment(kvo_class *cls, size_t alignment, kvo_error *error) {
  KVO_LOCKED(&kvo_class_lock);
  kvo_status status = check_alignment(cls, alignment, error);
  if (!status && alignment > cls->instance_alignment) cls->instance_alignment = (uint32_t)alignment;
  return status;
}

kvo_status kvo_class_register(kvo_class *cls, kvo_error *error) {
  KVO_LOCKED(&kvo_class_lock);
  if (cls->is_registered)
    return kvo_fail(error, KVO_DUPLICATE, cls->name, NULL, "%s is registered already.", cls->name);
  __atomic_store_n(&cls->is_registered, true, __ATOMIC_RELEASE);
  return KVO_OK;
}

const kvo_class *kvo_class_named(const char *name) {
  const char *interned = kvo_key_find(name);
  kvo_class *cls = interned ? kvo_map_get(&names, interned) : NULL;
  return cls && kvo_class_is_registered(cls) ? cls : NULL;
}

kvo_class *kvo_class_unfinished(const char *name, const void *definer) {
  const char *interned = kvo_key_find(name);
  kvo_class *cls = interned ? kvo_map_get(&names, interned) : NULL;
  return cls && cls->definer == definer && !kvo_class_is_registered(cls) ? cls : NULL;
}

const char *kvo_class_name(const kvo_class *cls) { return cls->name; }

const kvo_class *kvo_class_superclass(const kvo_class *cls) { return cls->superclass; }

bool kvo_class_is_subclass_of(const kvo_class *cls, const kvo_class *ancestor) {
  for (; cls; cls = cls->superclass)
    if (cls == ancestor) return true;
  return false;
}

uint64_t kvo_class_epoch;

void kvo_class_touch_locked(kvo_class *cls) {
  __atomic_fetch_add(&kvo_class_epoch, 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&cls->generation, 1, __ATOMIC_RELEASE);
  for (kvo_class *subclass = cls->subclasses; subclass; subclass = subclass->sibling)
    kvo_class_touch_locked(subclass);
}
