/// The entry points of the Swift runtime that Swift code can't express: unowned references held by C,
/// exclusivity of an access that a coroutine keeps open, and the fields and methods of a class. They belong
/// to the runtime's ABI, since compiled programs call them. The reflection functions are used by the standard
/// library itself.
#ifndef KVO_SWIFT_RUNTIME_H
#define KVO_SWIFT_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#endif

#pragma clang assume_nonnull begin

// MARK: Time

/// Milliseconds on a monotonic clock, from an unspecified start. The library does not use Swift's clocks,
/// because they are in the concurrency library.
static inline uint64_t kvo_milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

// MARK: References

void *swift_unownedRetain(void *object);
void swift_unownedRelease(void *object);
void *_Nullable swift_tryRetain(void *object);

/// Returns a strong reference unless the object is being deinitialised. An unowned reference must keep the
/// object's memory.
static inline bool kvo_swift_try_retain(void *object) { return swift_tryRetain(object) != NULL; }
/// Keeps the object's memory, but not the object, alive.
static inline void kvo_swift_unowned_retain(void *object) { (void)swift_unownedRetain(object); }
static inline void kvo_swift_unowned_release(void *object) { swift_unownedRelease(object); }

// MARK: Tasks

/// In the concurrency library, which a program need not have loaded.
__attribute__((swiftcall, weak)) void *_Nullable swift_task_getCurrent(void);

/// The address of the task that this thread runs, or NULL.
static inline const void *_Nullable kvo_swift_current_task(void) {
  return swift_task_getCurrent ? swift_task_getCurrent() : NULL;
}

// MARK: Closures

void swift_release(void *_Nullable object);

/// The layout of a closure in memory.
typedef struct kvo_swift_closure {
  const void *_Nullable function;
  void *_Nullable context;
} kvo_swift_closure;

/// Two closures: `deliver` takes a registration's object, its change, and `handler`, which it calls.
typedef struct kvo_swift_handler {
  kvo_swift_closure deliver, handler;
} kvo_swift_handler;

/// Calls `deliver`. Both closures are borrowed for the call. Swift would retain and release them, because it
/// can't know that they are not overwritten during the call.
__attribute__((always_inline)) static inline void
kvo_swift_call_handler(const kvo_swift_handler *closures, void *object, const void *change) {
  typedef __attribute__((swiftcall)) void deliver(void *object, const void *change,
      const void *handler, void *_Nullable handlers,
      __attribute__((swift_context)) void *_Nullable context);
  ((deliver *)closures->deliver.function)(object, change, closures->handler.function,
      closures->handler.context, closures->deliver.context);
}
/// The offset of the header, which the core uses as the object's address, from the Swift object's address.
enum { KVO_SWIFT_HEADER_OFFSET = 16 };
struct kvo_object;
struct kvo_change;
/// A `kvo_callback` that calls a handler.
static inline void kvo_swift_callback(void *_Nullable handler, struct kvo_object *header,
    const char *key_path, const struct kvo_change *change) {
  (void)key_path;
  kvo_swift_call_handler((const kvo_swift_handler *)handler,
      (char *)header - KVO_SWIFT_HEADER_OFFSET, change);
}
/// Releases both closures.
static inline void kvo_swift_release_handler(const kvo_swift_handler *closures) {
  swift_release(closures->deliver.context);
  swift_release(closures->handler.context);
}

// MARK: Contexts

#if defined(__linux__) && defined(__GLIBC__) && defined(SYS_process_vm_readv)
static inline bool kvo_swift_read_memory(uintptr_t address, void *copy, size_t size) {
  struct iovec to = {copy, size}, from = {(void *)address, size};
  return syscall(SYS_process_vm_readv, getpid(), &to, 1L, &from, 1L, 0L) == (long)size;
}
#endif

/// Copies what may be a closure's context on the heap, and returns how many bytes that are: 0 if it is none. The kernel
/// reads the memory, so that any address may be given. The size is the one that glibc's malloc keeps before each
/// object.
static inline size_t kvo_swift_read_context(const void *context, void *copy, size_t capacity) {
#if defined(__linux__) && defined(__GLIBC__) && defined(SYS_process_vm_readv)
  enum { FLAGS = 7, LEAST = 32, MOST = 4096 };
  uintptr_t address = (uintptr_t)context;
  size_t chunk;
  if (address % 16 || !kvo_swift_read_memory(address - sizeof chunk, &chunk, sizeof chunk))
    return 0;
  chunk &= ~(size_t)FLAGS;
  if (chunk < LEAST || chunk > MOST) return 0;
  size_t size = chunk - sizeof chunk < capacity ? chunk - sizeof chunk : capacity;
  return kvo_swift_read_memory(address, copy, size) ? size : 0;
#else
  return 0;
#endif
}

// MARK: Actors

__attribute__((swiftcall)) bool swift_task_isCurrentExecutorWithFlags(void *identity,
    void *_Nullable witnesses, uintptr_t flags);

/// Whether the calling code runs on an executor. On the main thread that is true of the main actor, even
/// outside a task. Without flags the runtime returns false where it would otherwise stop the program.
static inline bool kvo_swift_is_on_executor(void *identity, void *_Nullable witnesses) {
  return swift_task_isCurrentExecutorWithFlags(identity, witnesses, 0);
}

// MARK: Exclusivity

void swift_beginAccess(void *address, void *buffer, uintptr_t flags, void *_Nullable pc);
void swift_endAccess(void *buffer);

enum { KVO_SWIFT_ACCESS_READ = 0, KVO_SWIFT_ACCESS_MODIFY = 1, KVO_SWIFT_ACCESS_TRACKING = 0x20 };

/// The runtime's record of an open access. It is linked into a list, so it must not move.
typedef struct kvo_swift_access {
  void *_Nullable words[3];
} kvo_swift_access;

static inline void kvo_swift_begin_modify(void *address, kvo_swift_access *access) {
  swift_beginAccess(address, access, KVO_SWIFT_ACCESS_MODIFY | KVO_SWIFT_ACCESS_TRACKING, NULL);
}
static inline void kvo_swift_end_modify(kvo_swift_access *access) { swift_endAccess(access); }
/// Stops the program if an open access to the variable conflicts with this one.
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

/// A stored property, as its metadata describes it.
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

/// The number of fields of the class, including its superclasses', which come first. A class that was
/// compiled without reflection metadata has none of its own.
static inline intptr_t kvo_swift_field_count(const void *type) {
  return swift_reflectionMirror_recursiveCount(type);
}
/// The field's offset in an instance.
static inline intptr_t kvo_swift_field_offset(const void *type, intptr_t index) {
  return swift_reflectionMirror_recursiveChildOffset(type, index);
}
/// The field's type; `()` if it is unknown (a noncopyable one). The caller frees the name.
static inline const void *_Nullable kvo_swift_field_type(const void *type, intptr_t index,
    kvo_swift_field *field) {
  return swift_reflectionMirror_recursiveChildMetadata(type, index, field);
}

// MARK: Types

/// The kinds of types, which are the first word of their metadata, and the location of the types that they
/// consist of.
enum {
  KVO_SWIFT_CLASS = 0,
  KVO_SWIFT_LARGEST_KIND = 0x7ff, ///< greater: a class of Objective-C
  KVO_SWIFT_STRUCT = 0x200,
  KVO_SWIFT_OPTIONAL = 0x202, ///< word 2: the wrapped type
  KVO_SWIFT_TUPLE = 0x301,    ///< word 1: the count; from word 3: type and offset of each element
  KVO_SWIFT_FUNCTION = 0x302,
  KVO_SWIFT_EXISTENTIAL = 0x303,
  KVO_SWIFT_METATYPE = 0x304, ///< word 1: the instance type
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
  KVO_SWIFT_ANY_CLASS = (int)0x80000000, ///< flag of an existential: not only classes conform
  KVO_SWIFT_EXTENDED_KIND = 0xff,        ///< mask of the first flags word of the shape
  KVO_SWIFT_EXTENDED_CLASS = 1
};

/// `AnyObject`, or `any P` if only classes conform to P: a reference followed by witness tables.
static inline bool kvo_swift_is_class_existential(const void *type) {
  const uintptr_t *words = (const uintptr_t *)type;
  if (words[0] == KVO_SWIFT_EXISTENTIAL)
    return !((uint32_t)words[1] & (uint32_t)KVO_SWIFT_ANY_CLASS);
  if (words[0] != KVO_SWIFT_EXTENDED_EXISTENTIAL) return false;
  uint32_t flags = *(const uint32_t *)words[1];
  return (flags & KVO_SWIFT_EXTENDED_KIND) == KVO_SWIFT_EXTENDED_CLASS;
}

/// Whether a stored property of the type is represented differently from a value in generic code. Functions
/// take their arguments in other places, and metatypes of structs and enumerations take no memory.
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
  KVO_SWIFT_FIELDS_OFFSET =
      16, ///< in a class descriptor: relative reference to the field descriptor
  KVO_SWIFT_RECORD_SIZE_OFFSET = 10, ///< in a field descriptor
  KVO_SWIFT_FIRST_RECORD = 16,
  KVO_SWIFT_TYPE_NAME_OFFSET = 4 ///< in a field record: relative reference to the mangled type name
};

static inline const char *kvo_swift_relative(const char *place) {
  return place + *(const int32_t *)(const void *)place;
}

/// The ownership mark at the end of a field's mangled type: 'w' weak, 'o' unowned, 'u' unowned(unsafe), 0
/// none. `index` counts the class's own fields only.
static inline char kvo_swift_field_ownership(const void *type, intptr_t index) {
  const char *descriptor = (const char *)swift_getTypeContextDescriptor(type);
  const char *fields = kvo_swift_relative(descriptor + KVO_SWIFT_FIELDS_OFFSET);
  size_t size = *(const uint16_t *)(const void *)(fields + KVO_SWIFT_RECORD_SIZE_OFFSET);
  const char *record = fields + KVO_SWIFT_FIRST_RECORD + (size_t)index * size;
  const char *name = kvo_swift_relative(record + KVO_SWIFT_TYPE_NAME_OFFSET);
  char last = 0, before = 0;
  // A byte below 0x20 is a symbolic reference: an address of four or eight bytes follows.
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
  KVO_SWIFT_CLASS_SIZE_OFFSET = 32, ///< in class metadata
  KVO_SWIFT_ADDRESS_POINT_OFFSET = 36,
  KVO_SWIFT_METHODS_OFFSET = 56
};

/// The number of words in a class's metadata that contain methods and other members, and one of these words.
/// A subclass has its superclass's members at the same offsets.
static inline size_t kvo_swift_member_words(const void *type) {
  const char *metadata = (const char *)type;
  size_t size = *(const uint32_t *)(const void *)(metadata + KVO_SWIFT_CLASS_SIZE_OFFSET);
  size_t before = *(const uint32_t *)(const void *)(metadata + KVO_SWIFT_ADDRESS_POINT_OFFSET);
  return (size - before - KVO_SWIFT_METHODS_OFFSET) / sizeof(void *);
}
static inline uintptr_t kvo_swift_member_word(const void *type, size_t index) {
  return ((const uintptr_t *)(const void *)((const char *)type + KVO_SWIFT_METHODS_OFFSET))[index];
}

/// The function by which a key path reads a computed property.
typedef __attribute__((swiftcall)) void
kvo_swift_key_path_getter(__attribute__((swift_indirect_result)) void *value, const void *base,
    const void *arguments, size_t size);

/// Reads a property of what is stored at `base`, such as a reference to an object, into `value`.
static inline void kvo_swift_read_by_key_path(const void *getter, void *value, const void *base,
    const void *arguments, size_t size) {
  kvo_swift_key_path_getter *function = (kvo_swift_key_path_getter *)(uintptr_t)getter;
  function(value, base, arguments, size);
}

/// The function by which a key path sets a computed property of an object.
typedef __attribute__((swiftcall)) void kvo_swift_key_path_setter(const void *value,
    const void *base, const void *arguments, size_t size);

/// Sets an object's property to a copy of `value`.
static inline void kvo_swift_set_by_key_path(const void *setter, const void *value,
    const void *object, const void *arguments, size_t size) {
  kvo_swift_key_path_setter *function = (kvo_swift_key_path_setter *)(uintptr_t)setter;
  function(value, &object, arguments, size);
}

enum {
  KVO_SWIFT_MEMBER_COUNT_OFFSET = 32, ///< in a class descriptor
  KVO_SWIFT_LARGEST_DESCRIPTOR =
      256, ///< its size without the method records, eight bytes each, that follow
  KVO_SWIFT_METHOD_KIND = 0x1f,
  KVO_SWIFT_INSTANCE_GETTER = 0x12
};

/// Whether a pointer refers to the descriptor of a getter that the class introduces.
static inline bool kvo_swift_introduces(const void *type, const void *getter) {
  const char *descriptor = (const char *)swift_getTypeContextDescriptor(type);
  size_t members = *(const uint32_t *)(const void *)(descriptor + KVO_SWIFT_MEMBER_COUNT_OFFSET);
  size_t distance = (uintptr_t)getter - (uintptr_t)descriptor;
  return distance < KVO_SWIFT_LARGEST_DESCRIPTOR + 8 * members &&
         (*(const uint32_t *)getter & KVO_SWIFT_METHOD_KIND) == KVO_SWIFT_INSTANCE_GETTER;
}

/// The class's implementation of a getter that an ancestor introduced; NULL if the pointer is not to one of
/// the ancestor's getters.
static inline const void *_Nullable kvo_swift_class_getter(const void *type, const void *ancestor,
    const void *getter) {
  if (!kvo_swift_introduces(ancestor, getter)) return NULL;
  return swift_lookUpClassMethod(type, getter, swift_getTypeContextDescriptor(ancestor));
}

// MARK: Names

/// Demangles a name; the caller frees the result. NULL if it is no mangled Swift name.
char *_Nullable swift_demangle(const char *name, size_t length, char *_Nullable buffer,
    size_t *_Nullable size, uint32_t flags);

// MARK: Key paths

extern const void *const swift_keyPathGenericWitnessTable[];

/// The witness table of key path arguments that consist of generic type arguments only.
static inline const void *_Nullable kvo_swift_generic_witnesses(void) {
  return swift_keyPathGenericWitnessTable;
}

#pragma clang assume_nonnull end

#endif
