/// The entry points of the Swift runtime that Swift code has no words for, in one place: unowned
/// references held by C, exclusivity of an access that a coroutine keeps open, the fields and the
/// methods of a class. They are part of the runtime's ABI (compiled programs call them), the
/// reflection ones of the standard library's own use of it.
#ifndef KVO_SWIFT_RUNTIME_H
#define KVO_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#pragma clang assume_nonnull begin

// MARK: Time

/// Since some moment, on a clock that never goes back. The library goes without Swift's clocks, which are of
/// its concurrency library.
static inline uint64_t kvo_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// MARK: References

void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);
void *_Nullable swift_tryRetain(void *object);

/// A strong reference, unless the object is being deinitialised. Its memory must be held by an
/// unowned one.
static inline bool kvo_swift_try_retain(void *object) { return swift_tryRetain(object) != NULL; }
/// Keeps the object's memory, not the object.
static inline void kvo_swift_unowned_retain(void *object) { (void)swift_unownedRetain(object); }
static inline void kvo_swift_unowned_release(void *object) { swift_unownedRelease(object); }

// MARK: Closures

void swift_release(void *_Nullable object);

/// A closure as it lies in memory.
typedef struct kvo_swift_closure {
  const void *function;
  void *_Nullable context;
} kvo_swift_closure;

/// Two closures: one that takes a registration's object, its change, and the other, which it calls.
typedef struct kvo_swift_handler {
  kvo_swift_closure deliver, handler;
} kvo_swift_handler;

/// Calls the first. Both are borrowed for the call, where Swift, which can't know that nobody writes over them
/// meanwhile, would retain and release what it finds in memory.
__attribute__((always_inline)) static inline void
kvo_swift_call_handler(const kvo_swift_handler *closures, void *object, const void *change) {
  typedef __attribute__((swiftcall)) void deliver(void *object, const void *change,
      const void *handler, void *_Nullable handlers,
      __attribute__((swift_context)) void *_Nullable context);
  ((deliver *)closures->deliver.function)(object, change, closures->handler.function,
      closures->handler.context, closures->deliver.context);
}
/// How far behind the object's address its header lies, which the core knows it by.
enum { KVO_SWIFT_HEADER_OFFSET = 16 };
struct kvo_object;
struct kvo_change;
/// The same as a callback of the core's, of just its type.
static inline void kvo_swift_callback(void *_Nullable handler, struct kvo_object *header,
    const char *key_path, const struct kvo_change *change) {
  (void)key_path;
  kvo_swift_call_handler((const kvo_swift_handler *)handler,
      (char *)header - KVO_SWIFT_HEADER_OFFSET, change);
}
/// Lets go of both.
static inline void kvo_swift_release_handler(const kvo_swift_handler *closures) {
  swift_release(closures->deliver.context);
  swift_release(closures->handler.context);
}

// MARK: Actors

__attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(void *identity,
    void *_Nullable witnesses, uintptr_t flags);

/// Whether the code that calls runs on an executor: of the main actor also on the main thread, outside of any task. Without
/// flags the runtime answers, where it would stop the program with them.
static inline bool kvo_swift_is_on_executor(void *identity, void *_Nullable witnesses) {
  return swift_task_isCurrentExecutorWithFlags(identity, witnesses, 0);
}

// MARK: Exclusivity

void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *_Nullable pc);
void swift_endAccess(void *buffer);

enum { KVO_SWIFT_ACCESS_READ = 0, KVO_SWIFT_ACCESS_MODIFY = 1, KVO_SWIFT_ACCESS_TRACKING = 0x20 };

/// The runtime's record of an access that stays open. It is linked into a list: it must not move.
typedef struct kvo_swift_access {
  void *_Nullable words[3];
} kvo_swift_access;

static inline void kvo_swift_begin_modify(void *address, kvo_swift_access *access) {
  swift_beginAccess(address, access, KVO_SWIFT_ACCESS_MODIFY | KVO_SWIFT_ACCESS_TRACKING, NULL);
}
static inline void kvo_swift_end_modify(kvo_swift_access *access) { swift_endAccess(access); }
/// Stops the program if an access to the variable is open that excludes this one.
static inline void kvo_swift_check_access(const void *address, bool modifies) {
  kvo_swift_access access;
  uintptr_t flags = modifies ? KVO_SWIFT_ACCESS_MODIFY : KVO_SWIFT_ACCESS_READ;
  swift_beginAccess((void *)(uintptr_t)address, &access, flags, NULL);
}

// MARK: Fields

typedef struct kvo_swift_extents {
  size_t negative, positive;
} kvo_swift_extents;
__attribute__((swiftcall)) kvo_swift_extents _swift_getSwiftClassInstanceExtents(const void *type);

/// The size of an instance.
static inline size_t kvo_swift_instance_size(const void *type) {
  return _swift_getSwiftClassInstanceExtents(type).positive;
}

/// What the metadata says of a stored property.
typedef struct kvo_swift_field {
  const char *_Nullable name;
  void (*_Nullable free_name)(const char *_Nullable name);
  bool is_strong;   ///< neither weak nor unowned
  bool is_variable; ///< `var`
} kvo_swift_field;

__attribute__((swiftcall)) intptr_t swift_reflectionMirror_recursiveCount(const void *type);
__attribute__((swiftcall)) intptr_t swift_reflectionMirror_recursiveChildOffset(const void *type,
    intptr_t index);
__attribute__((swiftcall))
const void *_Nullable swift_reflectionMirror_recursiveChildMetadata(const void *type,
    intptr_t index, kvo_swift_field *field);

/// How many fields the class has, its superclasses' first. None of its own if it was compiled
/// without metadata about them.
static inline intptr_t kvo_swift_field_count(const void *type) {
  return swift_reflectionMirror_recursiveCount(type);
}
/// Where the field lies in an instance.
static inline intptr_t kvo_swift_field_offset(const void *type, intptr_t index) {
  return swift_reflectionMirror_recursiveChildOffset(type, index);
}
/// The field's type, `()` for one that can't be told (a noncopyable one). The name is the caller's
/// to free.
static inline const void *_Nullable kvo_swift_field_type(const void *type, intptr_t index,
    kvo_swift_field *field) {
  return swift_reflectionMirror_recursiveChildMetadata(type, index, field);
}

// MARK: Types

/// Kinds of types, which a metadata's first word tells, and where the types are that it is made of.
enum {
  KVO_SWIFT_CLASS = 0,
  KVO_SWIFT_LARGEST_KIND = 0x7ff, ///< beyond: a class of Objective-C
  KVO_SWIFT_STRUCT = 0x200,
  KVO_SWIFT_OPTIONAL = 0x202, ///< word 2: what it wraps
  KVO_SWIFT_TUPLE = 0x301,    ///< word 1: how many; from word 3 on: type and offset of each
  KVO_SWIFT_FUNCTION = 0x302,
  KVO_SWIFT_EXISTENTIAL = 0x303,
  KVO_SWIFT_METATYPE = 0x304, ///< word 1: whose
  KVO_SWIFT_EXTENDED_EXISTENTIAL = 0x307
};

static inline bool kvo_swift_is_class(const void *type) {
  uintptr_t kind = *(const uintptr_t *)type;
  return kind == KVO_SWIFT_CLASS || kind > KVO_SWIFT_LARGEST_KIND;
}

/// A struct or a tuple.
static inline bool kvo_swift_is_aggregate(const void *type) {
  uintptr_t kind = *(const uintptr_t *)type;
  return kind == KVO_SWIFT_STRUCT || kind == KVO_SWIFT_TUPLE;
}

/// `Any`, `AnyObject`, `any P`.
static inline bool kvo_swift_is_existential(const void *type) {
  uintptr_t kind = *(const uintptr_t *)type;
  return kind == KVO_SWIFT_EXISTENTIAL || kind == KVO_SWIFT_EXTENDED_EXISTENTIAL;
}

enum {
  KVO_SWIFT_ANY_CLASS = (int)0x80000000, ///< flag of an existential: not only classes
  KVO_SWIFT_EXTENDED_KIND = 0xff,        ///< of the flags at the head of an extended one's shape
  KVO_SWIFT_EXTENDED_CLASS = 1
};

/// `AnyObject`, `any P` if only classes conform to it: a reference, and where the methods are.
static inline bool kvo_swift_is_class_existential(const void *type) {
  const uintptr_t *words = (const uintptr_t *)type;
  if (words[0] == KVO_SWIFT_EXISTENTIAL)
    return !((uint32_t)words[1] & (uint32_t)KVO_SWIFT_ANY_CLASS);
  if (words[0] != KVO_SWIFT_EXTENDED_EXISTENTIAL) return false;
  uint32_t flags = *(const uint32_t *)words[1];
  return (flags & KVO_SWIFT_EXTENDED_KIND) == KVO_SWIFT_EXTENDED_CLASS;
}

/// Whether a stored property of the type has another form than a value of the type has in generic
/// code: functions take their arguments in other places, metatypes of structs and enumerations take
/// no room.
static inline bool kvo_swift_has_own_form(const void *type) {
  const uintptr_t *words = (const uintptr_t *)type;
  switch (words[0]) {
  case KVO_SWIFT_FUNCTION: return true;
  case KVO_SWIFT_METATYPE: return !kvo_swift_is_class((const void *)words[1]);
  case KVO_SWIFT_OPTIONAL: return kvo_swift_has_own_form((const void *)words[2]);
  case KVO_SWIFT_TUPLE:
    for (uintptr_t i = 0; i < words[1]; i++)
      if (kvo_swift_has_own_form((const void *)words[3 + 2 * i])) return true;
    return false;
  default: return false;
  }
}

// MARK: Ownership

const void *swift_getTypeContextDescriptor(const void *type);

enum {
  KVO_SWIFT_FIELDS_OFFSET = 16, ///< in a class's descriptor: relative, of its fields' descriptor
  KVO_SWIFT_RECORD_SIZE_OFFSET = 10, ///< in that
  KVO_SWIFT_FIRST_RECORD = 16,
  KVO_SWIFT_TYPE_NAME_OFFSET = 4 ///< in a record: relative, of the mangled name of its type
};

static inline const char *kvo_swift_relative(const char *place) {
  return place + *(const int32_t *)(const void *)place;
}

/// The mark of ownership at the end of a field's mangled type: 'w' weak, 'o' unowned, 'u' unowned and
/// unsafe, 0 none. `index` is among the class's own fields.
static inline char kvo_swift_field_ownership(const void *type, intptr_t index) {
  const char *descriptor = (const char *)swift_getTypeContextDescriptor(type);
  const char *fields = kvo_swift_relative(descriptor + KVO_SWIFT_FIELDS_OFFSET);
  size_t size = *(const uint16_t *)(const void *)(fields + KVO_SWIFT_RECORD_SIZE_OFFSET);
  const char *record = fields + KVO_SWIFT_FIRST_RECORD + (size_t)index * size;
  const char *name = kvo_swift_relative(record + KVO_SWIFT_TYPE_NAME_OFFSET);
  char last = 0, before = 0;
  // A byte below 0x20 stands for a type: an address of four bytes follows, or one of eight.
  for (; *name; name++) {
    before = last;
    last = *name;
    if (last < 0x18 && last > 0) name += 4;
    else if (last < 0x20 && last > 0) name += 8;
  }
  return before == 'X' ? last : 0;
}

// MARK: Methods

const void *swift_lookUpClassMethod(const void *type, const void *method, const void *descriptor);

enum {
  KVO_SWIFT_CLASS_SIZE_OFFSET = 32, ///< in a class's metadata
  KVO_SWIFT_ADDRESS_POINT_OFFSET = 36,
  KVO_SWIFT_METHODS_OFFSET = 56
};

/// How many words of a class's metadata its methods and other members take, and one of them. A
/// subclass has those of its superclass at the same places.
static inline size_t kvo_swift_member_words(const void *type) {
  const char *metadata = (const char *)type;
  size_t size = *(const uint32_t *)(const void *)(metadata + KVO_SWIFT_CLASS_SIZE_OFFSET);
  size_t before = *(const uint32_t *)(const void *)(metadata + KVO_SWIFT_ADDRESS_POINT_OFFSET);
  return (size - before - KVO_SWIFT_METHODS_OFFSET) / sizeof(void *);
}
static inline uintptr_t kvo_swift_member_word(const void *type, size_t index) {
  return ((const uintptr_t *)(const void *)((const char *)type + KVO_SWIFT_METHODS_OFFSET))[index];
}

/// The function that a key path has for reading a computed property.
typedef __attribute__((swiftcall)) void
kvo_swift_key_path_getter(__attribute__((swift_indirect_result)) void *value, const void *base,
    const void *arguments, size_t size);

/// Writes the property's value. `base` is the address of what has the property.
static inline void kvo_swift_read_by_key_path(const void *getter, void *value, const void *base,
    const void *arguments, size_t size) {
  kvo_swift_key_path_getter *function = (kvo_swift_key_path_getter *)(uintptr_t)getter;
  function(value, base, arguments, size);
}

enum {
  KVO_SWIFT_MEMBER_COUNT_OFFSET = 32, ///< in a class's descriptor
  KVO_SWIFT_LARGEST_DESCRIPTOR = 256, ///< without the methods, eight bytes each, which follow it
  KVO_SWIFT_METHOD_KIND = 0x1f,
  KVO_SWIFT_METHOD_FUNCTION_OFFSET = 4, ///< in a method's record: relative
  KVO_SWIFT_INSTANCE_GETTER = 0x12
};

/// Whether a pointer is to one of the getters that a class introduces, in its descriptor.
static inline bool kvo_swift_introduces(const void *type, const void *getter) {
  const char *descriptor = (const char *)swift_getTypeContextDescriptor(type);
  size_t members = *(const uint32_t *)(const void *)(descriptor + KVO_SWIFT_MEMBER_COUNT_OFFSET);
  size_t distance = (uintptr_t)getter - (uintptr_t)descriptor;
  return distance < KVO_SWIFT_LARGEST_DESCRIPTOR + 8 * members &&
         (*(const uint32_t *)getter & KVO_SWIFT_METHOD_KIND) == KVO_SWIFT_INSTANCE_GETTER;
}

/// The function that a class has for a getter which an ancestor has introduced, NULL if the pointer
/// is to something else than one of the ancestor's getters.
static inline const void *_Nullable kvo_swift_class_getter(const void *type, const void *ancestor,
    const void *getter) {
  if (!kvo_swift_introduces(ancestor, getter)) return NULL;
  return swift_lookUpClassMethod(type, getter, swift_getTypeContextDescriptor(ancestor));
}

/// The function that the class which introduces a getter has for it itself, NULL as there, or if it has
/// none.
static inline const void *_Nullable kvo_swift_introduced_getter(const void *type,
    const void *getter) {
  if (!kvo_swift_introduces(type, getter)) return NULL;
  const char *place = (const char *)getter + KVO_SWIFT_METHOD_FUNCTION_OFFSET;
  const char *function = kvo_swift_relative(place);
  return function == place ? NULL : function;
}

// MARK: Names

/// What the compiler has written of a class, in the program or library that has it.
static inline const void *kvo_swift_descriptor(const void *type) {
  return swift_getTypeContextDescriptor(type);
}

/// The text that a mangled name stands for, to be freed; NULL for what is no name of Swift's.
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer,
    size_t *_Nullable size, uint32_t flags);

// MARK: Key paths

extern const void *const swift_keyPathGenericWitnessTable[];

/// What arguments of key paths have that are types of generic code, and nothing else.
static inline const void *_Nullable kvo_swift_generic_witnesses(void) {
  return swift_keyPathGenericWitnessTable;
}

#pragma clang assume_nonnull end

#endif
