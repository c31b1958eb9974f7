/// A class of C in a few lines: one line per property generates its key-value coding accessors, inline functions that
/// call them through the dispatch table, an ivar, and its release in `dealloc`.
///
///     // account.h
///     typedef struct account { kvo_object object; double balance; const char *owner; } account;
///     #define ACCOUNT_PROPERTIES(PROPERTY) PROPERTY(account, double, balance, Balance, ASSIGN) PROPERTY(account, const char *, owner, Owner, COPY)
///     KVO_CLASS_INTERFACE(account, ACCOUNT_PROPERTIES)
///
///     // account.c
///     KVO_CLASS_IMPLEMENTATION(account, "Account", kvo_root_class, ACCOUNT_PROPERTIES, NULL)
///
///     // anywhere
///     account *a = (account *)kvo_object_create(account_class());
///     account_setBalance(a, 10);            // notifies observers, if there are any
///     double balance = account_balance(a);
///
/// A property is PROPERTY(class, type, field and key, Key, policy[, encoding]). The arguments are: the class's name
/// in C; the field's type; the field's name, which is also the key; the same name with a capital letter, from which
/// the setter's name is made; the policy; and for a struct its encoding. The policies:
///
/// | policy | getter | setter |
/// |---|---|---|
/// | ASSIGN | returns the field | stores the value |
/// | READONLY | returns the field | none |
/// | COPY | `const char *`, borrowed | copies the string, frees the old one |
/// | RETAIN | pointer to an object, borrowed | retains the new one, then releases the old one |
/// | CUSTOM | yours: `T class_key_imp(kvo_object *, const kvo_method *)` | yours: `void class_setKey_imp(kvo_object *, const kvo_method *, T)` |
///
/// A string that key-value coding passes to a setter is a copy that is freed when the setter has returned. So a
/// string property needs COPY, not ASSIGN. ASSIGN compiles for strings too, because a string that is never freed may
/// be assigned, but after a set by key the field points at freed memory. With a policy other than RETAIN, a pointer
/// to an object needs the encoding "@" to be treated as an object, so that key paths continue through it. With ASSIGN
/// you must make sure that the field does not outlive the object. The class of an object is not checked: a property
/// of type `account *` accepts any object by key.
///
/// There are no other policies. A misspelt one is an error at the class's KVO_CLASS_INTERFACE, about a missing type,
/// with a note that names the macro KVO_P_INTERFACE_<the policy>. Structs need their encoding: PROPERTY(shape, struct
/// point, origin, Origin, ASSIGN, "{point=dd}"). Only size and alignment are compared with the struct's. The
/// parameter of the list, which is written before each line, may have any name. In a header with nullability
/// annotations the interface macro belongs inside the assume-nonnull region. No property is locked (I4).
///
/// All of this works in C++17 and later as well. An instance is memory filled with zeros: no constructor or
/// destructor is called, so keep members that need them behind a pointer, which the `dealloc` method deletes.
#ifndef KVO_PROPERTY_H
#define KVO_PROPERTY_H

#include "kvo_class.h"
#include "kvo_cplusplus.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// One property of a `kvo_class_definition`.
typedef struct kvo_property_definition {
  const char *key;                          ///< such as "balance"
  const char *getter_selector;              ///< such as "balance"
  const char *KVO_NULLABLE setter_selector; ///< such as "setBalance:"; NULL: read-only
  kvo_imp getter;                           ///< `T f(self, _cmd)`
  kvo_imp KVO_NULLABLE setter;              ///< `void f(self, _cmd, T)`; NULL: read-only
  kvo_layout layout;                        ///< the property's type
  ptrdiff_t ivar_offset;                    ///< negative: no ivar
  const kvo_method *KVO_NULLABLE *KVO_NULLABLE getter_method; ///< receives the getter's handle
  const kvo_method *KVO_NULLABLE *KVO_NULLABLE setter_method; ///< receives the setter's handle
} kvo_property_definition;

/// A class as the macros define it.
typedef struct kvo_class_definition {
  const char *name; ///< such as "Account"
  /// Returns the superclass; `kvo_root_class`, for example.
  const kvo_class *KVO_NONNULL (*KVO_NONNULL superclass)(void);
  size_t instance_size;                      ///< `sizeof` the instance's struct
  size_t property_count;                     ///< the number of `properties`
  const kvo_property_definition *properties; ///< in the order of their declaration
  /// Releases the values of the properties when an object is destroyed, and sets the fields to NULL. It is called
  /// again if `kvo_store_retained_object` left one for later.
  void (*KVO_NONNULL destroy_properties)(kvo_object *self, const kvo_method *_cmd);
  /// Adds methods and hooks to the class before it is registered.
  void (*KVO_NULLABLE setup)(kvo_class *cls);
  size_t
      instance_alignment; ///< `_Alignof` the instance's struct; 0 if malloc's alignment is enough
} kvo_class_definition;

/// Returns the class of a definition, which is made at the first call and stored in `*once`. An invalid definition is
/// a programming error, which stops the program with a message. So does lack of memory at the first call, since no
/// caller could go on without its class. Programs that must not be stopped for that call `kvo_class_prepare` first.
/// Any thread.
const kvo_class *kvo_class_define(const kvo_class *KVO_NULLABLE *KVO_NONNULL once,
    const kvo_class_definition *definition);

/// Makes a class that macros define, and its superclasses, and can report a failure:
/// `kvo_class_prepare(account_class, &error)`.
/// - class_function: the function that the macros define for the class, such as `account_class`.
/// - error: filled in if it fails. May be NULL.
///
/// KVO_NO_MEMORY, or the status of an invalid definition. After KVO_OK `account_class()` never stops the program.
/// After an error, the same call makes what is missing. Any thread.
kvo_status kvo_class_prepare(const kvo_class *KVO_NONNULL (*KVO_NONNULL class_function)(void),
    kvo_error *KVO_NULLABLE error);

/// Stores a copy of a string in a field, and frees the field's old string. Setters of the policy COPY call it, and
/// setters of the policy CUSTOM may. Returns false if there is no memory for the copy; the field then keeps its old
/// string.
/// - field: the field's address. It must hold NULL, or a string that this function has stored.
/// - string: the string to copy. NULL frees the old string and stores NULL.
bool kvo_store_copied_string(const char *KVO_NULLABLE *KVO_NONNULL field,
    const char *KVO_NULLABLE string);
/// Reports as misuse that a setter had no memory to store its value.
/// - setter: the setter's `_cmd`.
void kvo_report_unset(const kvo_object *self, const kvo_method *setter);
/// Retains an object, stores it in a field, and releases the field's old object. Setters of the policy RETAIN call
/// it, and setters of the policy CUSTOM may.
/// - field: the address of the field, which holds a pointer to an object or NULL.
/// - object: a pointer to an object. NULL releases the old object and stores NULL.
void kvo_store_retained_object(void *field, void *KVO_NULLABLE object);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

/// The encoding of a C type. Scalars have one by their type, pointers other than strings are ^v, and a RETAIN
/// property's policy makes it an object. A struct gives "", which the class refuses with the advice to name the
/// encoding.
#ifdef __cplusplus
#define KVO_ENCODING_OF(type) kvo_encoding<type>::text()
#define KVO_IS_RETAINABLE_(type) kvo_is_retainable<type>::value
#define KVO_IS_OF_FIELD_(cls, type, key) kvo_is_same_type<decltype(((cls *)0)->key), type>::value
#define KVO_LITERAL_(type) type
#define KVO_NONE_ \
  {}
#else
#define KVO_ENCODING_OF(type)   \
  _Generic(*(type *)0,          \
      _Bool: "B",               \
      char: KVO_CHAR_ENCODING_, \
      signed char: "c",         \
      unsigned char: "C",       \
      short: "s",               \
      unsigned short: "S",      \
      int: "i",                 \
      unsigned: "I",            \
      long: "q",                \
      unsigned long: "Q",       \
      long long: "q",           \
      unsigned long long: "Q",  \
      float: "f",               \
      double: "d",              \
      long double: "D",         \
      char *: "*",              \
      const char *: "*",        \
      default: __builtin_classify_type(*(type *)0) == 5 ? "^v" : "")
// C can't test whether a type is a pointer to a struct. So we list the types that are not.
#define KVO_NOT_RETAINED_(type) \
  type:                         \
  0, type * : 0, const type * : 0
#define KVO_IS_RETAINABLE_(type)             \
  _Generic(*(type *)0,                       \
      KVO_NOT_RETAINED_(_Bool),              \
      KVO_NOT_RETAINED_(char),               \
      KVO_NOT_RETAINED_(signed char),        \
      KVO_NOT_RETAINED_(unsigned char),      \
      KVO_NOT_RETAINED_(short),              \
      KVO_NOT_RETAINED_(unsigned short),     \
      KVO_NOT_RETAINED_(int),                \
      KVO_NOT_RETAINED_(unsigned),           \
      KVO_NOT_RETAINED_(long),               \
      KVO_NOT_RETAINED_(unsigned long),      \
      KVO_NOT_RETAINED_(long long),          \
      KVO_NOT_RETAINED_(unsigned long long), \
      KVO_NOT_RETAINED_(float),              \
      KVO_NOT_RETAINED_(double),             \
      KVO_NOT_RETAINED_(long double),        \
      default: 1)
#define KVO_IS_OF_FIELD_(cls, type, key) \
  __builtin_types_compatible_p(__typeof__(((cls *)0)->key), type)
#define KVO_LITERAL_(type) (type)
#define KVO_NONE_ {0}
#endif

/// The layout of any type with a given encoding.
#define KVO_LAYOUT_OF(type, encoding_string) {(encoding_string), sizeof(type), KVO_ALIGNOF(type)}
/// The layout of a scalar or pointer type.
#define KVO_TYPE(type) KVO_LAYOUT_OF(type, KVO_ENCODING_OF(type))

/// The signature of a getter of a scalar or pointer type, for `kvo_class_add_method`: `KVO_GETTER(double)`.
#define KVO_GETTER(type) (KVO_LITERAL_(kvo_signature){KVO_FORM_GETTER, KVO_TYPE(type)})
/// The signature of a setter of a scalar or pointer type: `KVO_SETTER(double)`.
#define KVO_SETTER(type) (KVO_LITERAL_(kvo_signature){KVO_FORM_SETTER, KVO_TYPE(type)})
/// The signature of a getter of a struct: `KVO_GETTER_OF(struct point, "{point=dd}")`.
#define KVO_GETTER_OF(type, encoding) \
  (KVO_LITERAL_(kvo_signature){KVO_FORM_GETTER, KVO_STRUCT(type, encoding)})
/// The signature of a setter of a struct: `KVO_SETTER_OF(struct point, "{point=dd}")`.
#define KVO_SETTER_OF(type, encoding) \
  (KVO_LITERAL_(kvo_signature){KVO_FORM_SETTER, KVO_STRUCT(type, encoding)})
/// The signature of any method, by its whole encoding, result first: `KVO_ENCODED("v@:dQ")`.
#define KVO_ENCODED(encoding) (KVO_LITERAL_(kvo_signature){KVO_FORM_ENCODED, {(encoding), 0, 0}})
/// The signature of a hook, whose C type is documented beside its name.
#define KVO_HOOK (KVO_LITERAL_(kvo_signature){KVO_FORM_HOOK, {"", 0, 0}})

/// Declares `<class>_class()`, and for each property `<class>_<key>()` and `<class>_set<Key>()`. For a header.
/// - cls: the class's name in C, which is its struct's as well: `account`.
/// - PROPERTIES: a macro with a line for each property, as at the top of this file.
#define KVO_CLASS_INTERFACE(cls, PROPERTIES) \
  const kvo_class *cls##_class(void);        \
  KVO_P_QUIET_BEGIN_                         \
  PROPERTIES(KVO_P_INTERFACE_)               \
  KVO_P_QUIET_END_

/// Defines `<class>_class()`, and the accessors of all policies except CUSTOM. For one source file.
/// - cls: the class's name in C, which is its struct's as well: `account`.
/// - class_name: its name for key-value coding and messages, a string: "Account".
/// - superclass_function: returns the superclass: `kvo_root_class`, `shape_class`.
/// - PROPERTIES: the list that was passed to KVO_CLASS_INTERFACE.
/// - setup_function: `void setup(kvo_class *cls)`, called with the class before it is registered, to add methods and
///   hooks. NULL if there are none.
#define KVO_CLASS_IMPLEMENTATION(cls, class_name, superclass_function, PROPERTIES, setup_function) \
  KVO_P_QUIET_BEGIN_                                                                               \
  PROPERTIES(KVO_P_ACCESSORS_)                                                                     \
  static void cls##_destroy_properties_(kvo_object *object, const kvo_method *_cmd) {              \
    cls *self = (cls *)object;                                                                     \
    (void)self;                                                                                    \
    (void)_cmd;                                                                                    \
    PROPERTIES(KVO_P_DESTROY_)                                                                     \
  }                                                                                                \
  const kvo_class *cls##_class(void) {                                                             \
    static const kvo_class *once;                                                                  \
    /* A last one that is none: ISO C has no empty arrays. */                                      \
    static const kvo_property_definition properties[] = {PROPERTIES(KVO_P_DEFINITION_) KVO_NONE_}; \
    static const kvo_class_definition definition = {class_name, superclass_function, sizeof(cls),  \
        sizeof properties / sizeof *properties - 1, properties, cls##_destroy_properties_,         \
        setup_function, KVO_ALIGNOF(cls)};                                                         \
    const kvo_class *made = __atomic_load_n(&once, __ATOMIC_ACQUIRE);                              \
    return KVO_LIKELY(made) ? made : kvo_class_define(&once, &definition);                         \
  }                                                                                                \
  KVO_P_QUIET_END_

// The accessors of a `volatile` or atomic property take and return its type, where the qualifier has no effect. Compilers
// would warn of it in the program's own code, where the list of properties is.
#if !defined(__cplusplus) || __cplusplus <= 201703L
#define KVO_P_QUIET_BEGIN_ \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wignored-qualifiers\"")
#elif defined(__clang__)
#define KVO_P_QUIET_BEGIN_                                                                  \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wignored-qualifiers\"") \
      _Pragma("GCC diagnostic ignored \"-Wdeprecated-volatile\"")
#else
#define KVO_P_QUIET_BEGIN_                                                                  \
  _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wignored-qualifiers\"") \
      _Pragma("GCC diagnostic ignored \"-Wvolatile\"")
#endif
#define KVO_P_QUIET_END_ _Pragma("GCC diagnostic pop")

// A property's last arguments, `...`, are the policy and an optional encoding. ISO C requires at least one argument
// for an ellipsis, hence the explicit empty arguments here.
#define KVO_P_FIRST_(first, ...) first
#define KVO_P_SECOND_(first, second, ...) second

// The list's parameter may have the same name as a Key, such as `X` in X(point, double, x, X, ASSIGN). Then the Key
// expands to the name of one of the three macros that the list is called with. For a key of one letter, we find the
// Key by that letter.
#define KVO_P_KEY_(key, Key) KVO_P_KEY_FROM_(KVO_P_KEY_IS_##Key(key), Key, )
#define KVO_P_KEY_FROM_(...) KVO_P_SECOND_(__VA_ARGS__)
#define KVO_P_KEY_IS_KVO_P_INTERFACE_(key) , KVO_P_CAPITAL_##key
#define KVO_P_KEY_IS_KVO_P_ACCESSORS_(key) , KVO_P_CAPITAL_##key
#define KVO_P_KEY_IS_KVO_P_DEFINITION_(key) , KVO_P_CAPITAL_##key
#define KVO_P_CAPITAL_a A
#define KVO_P_CAPITAL_b B
#define KVO_P_CAPITAL_c C
#define KVO_P_CAPITAL_d D
#define KVO_P_CAPITAL_e E
#define KVO_P_CAPITAL_f F
#define KVO_P_CAPITAL_g G
#define KVO_P_CAPITAL_h H
#define KVO_P_CAPITAL_i I
#define KVO_P_CAPITAL_j J
#define KVO_P_CAPITAL_k K
#define KVO_P_CAPITAL_l L
#define KVO_P_CAPITAL_m M
#define KVO_P_CAPITAL_n N
#define KVO_P_CAPITAL_o O
#define KVO_P_CAPITAL_p P
#define KVO_P_CAPITAL_q Q
#define KVO_P_CAPITAL_r R
#define KVO_P_CAPITAL_s S
#define KVO_P_CAPITAL_t T
#define KVO_P_CAPITAL_u U
#define KVO_P_CAPITAL_v V
#define KVO_P_CAPITAL_w W
#define KVO_P_CAPITAL_x X
#define KVO_P_CAPITAL_y Y
#define KVO_P_CAPITAL_z Z
#define KVO_P_CALL_(macro, ...) macro(__VA_ARGS__)
#define KVO_P_CALL_BY_KEY_(macro, cls, type, key, Key) \
  KVO_P_CALL_(macro, cls, type, key, KVO_P_KEY_(key, Key))

#define KVO_P_INTERFACE_(cls, type, key, Key, ...) \
  KVO_P_CALL_BY_KEY_(KVO_P_FIRST_(KVO_P_INTERFACE_##__VA_ARGS__, ), cls, type, key, Key)
#define KVO_P_INTERFACE_READONLY(cls, type, key, Key)                             \
  extern const kvo_method *cls##_##key##_method;                                  \
  KVO_INLINE __attribute__((unused)) type cls##_##key(const cls *self) {          \
    kvo_object *object = (kvo_object *)(uintptr_t)self;                           \
    return ((type (*)(kvo_object *, const kvo_method *))kvo_method_lookup(object, \
        cls##_##key##_method))(object, cls##_##key##_method);                     \
  }
#define KVO_P_INTERFACE_ASSIGN(cls, type, key, Key)                                                     \
  KVO_P_INTERFACE_READONLY(cls, type, key, Key)                                                         \
  KVO_ASSERT_(sizeof #key == sizeof #Key, #key                                                          \
      " of " #cls                                                                                       \
      ": the Key of a PROPERTY is its key with a capital letter, and no name of the list's parameter"); \
  extern const kvo_method *cls##_set##Key##_method;                                                     \
  KVO_INLINE __attribute__((unused)) void cls##_set##Key(cls *self, type value) {                       \
    kvo_object *object = (kvo_object *)self;                                                            \
    const kvo_method *method = cls##_set##Key##_method;                                                 \
    uint64_t begun = kvo_setter_begins();                                                               \
    kvo_imp imp = kvo_method_lookup(object, method);                                                    \
    ((void (*)(kvo_object *, const kvo_method *, type))imp)(object, method, value);                     \
    kvo_setter_returned(object, method, imp, begun);                                                    \
  }
#define KVO_P_INTERFACE_COPY(cls, type, key, Key) KVO_P_INTERFACE_ASSIGN(cls, type, key, Key)
#define KVO_P_INTERFACE_RETAIN(cls, type, key, Key) KVO_P_INTERFACE_ASSIGN(cls, type, key, Key)
#define KVO_P_INTERFACE_CUSTOM(cls, type, key, Key) KVO_P_INTERFACE_ASSIGN(cls, type, key, Key)

#define KVO_P_ACCESSORS_(cls, type, key, Key, ...) \
  KVO_P_CALL_BY_KEY_(KVO_P_FIRST_(KVO_P_ACCESSORS_##__VA_ARGS__, ), cls, type, key, Key)
#define KVO_P_ACCESSORS_READONLY(cls, type, key, Key)                             \
  KVO_ASSERT_(KVO_IS_OF_FIELD_(cls, type, key),                                   \
      #key " of " #cls ": the type of a PROPERTY must be the type of its field"); \
  const kvo_method *cls##_##key##_method;                                         \
  static type cls##_##key##_imp(kvo_object *self, const kvo_method *_cmd) {       \
    (void)_cmd;                                                                   \
    return ((cls *)self)->key;                                                    \
  }
#define KVO_P_SETTER_(cls, type, key, Key, statement)                                      \
  KVO_P_ACCESSORS_READONLY(cls, type, key, Key)                                            \
  const kvo_method *cls##_set##Key##_method;                                               \
  static void cls##_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type value) { \
    (void)_cmd;                                                                            \
    statement;                                                                             \
  }
#define KVO_P_ACCESSORS_ASSIGN(cls, type, key, Key) \
  KVO_P_SETTER_(cls, type, key, Key, ((cls *)self)->key = value)
#define KVO_P_ACCESSORS_COPY(cls, type, key, Key) \
  KVO_P_SETTER_(cls, type, key, Key,              \
      if (!kvo_store_copied_string(&((cls *)self)->key, value)) kvo_report_unset(self, _cmd))
#define KVO_P_ACCESSORS_RETAIN(cls, type, key, Key)                                                \
  KVO_ASSERT_(KVO_IS_RETAINABLE_(type), "RETAIN is for objects: a string wants COPY, a number or " \
                                        "another pointer ASSIGN");                                 \
  KVO_P_SETTER_(cls, type, key, Key, kvo_store_retained_object(&((cls *)self)->key, value))
#define KVO_P_ACCESSORS_CUSTOM(cls, type, key, Key)                        \
  const kvo_method *cls##_##key##_method;                                  \
  const kvo_method *cls##_set##Key##_method;                               \
  static type cls##_##key##_imp(kvo_object *self, const kvo_method *_cmd); \
  static void cls##_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type value);

#define KVO_P_DESTROY_(cls, type, key, Key, ...) KVO_P_FIRST_(KVO_P_DESTROY_##__VA_ARGS__, )(key)
#define KVO_P_DESTROY_READONLY(key)
#define KVO_P_DESTROY_ASSIGN(key)
#define KVO_P_DESTROY_CUSTOM(key)
#define KVO_P_DESTROY_COPY(key) kvo_store_copied_string(&self->key, NULL);
#define KVO_P_DESTROY_RETAIN(key) kvo_store_retained_object(&self->key, NULL);

// The encoding that the line names, or else the type's own.
#define KVO_P_LAYOUT_(type, encoding) \
  KVO_LAYOUT_OF(type, (sizeof("" encoding) > 1 ? "" encoding : KVO_ENCODING_OF(type)))
#define KVO_P_DEFINITION_(cls, type, key, Key, ...)                           \
  KVO_P_CALL_(KVO_P_FIRST_(KVO_P_DEFINITION_##__VA_ARGS__, ), cls, type, key, \
      KVO_P_KEY_(key, Key), KVO_P_LAYOUT_(type, KVO_P_SECOND_(KVO_P_##__VA_ARGS__, , )))
#define KVO_P_DEFINITION_READONLY(cls, type, key, Key, ...)                                    \
  {#key, #key, NULL, (kvo_imp)cls##_##key##_imp, NULL, __VA_ARGS__, -1, &cls##_##key##_method, \
      NULL},
#define KVO_P_DEFINITION_ASSIGN(cls, type, key, Key, ...)                                 \
  {#key, #key, "set" #Key ":", (kvo_imp)cls##_##key##_imp, (kvo_imp)cls##_set##Key##_imp, \
      __VA_ARGS__, offsetof(cls, key), &cls##_##key##_method, &cls##_set##Key##_method},
#define KVO_P_DEFINITION_COPY(cls, type, key, Key, ...) \
  KVO_P_DEFINITION_ASSIGN(cls, type, key, Key, __VA_ARGS__)
#define KVO_P_DEFINITION_RETAIN(cls, type, key, Key, ...) \
  KVO_P_DEFINITION_ASSIGN(cls, type, key, Key, KVO_LAYOUT_OF(type, "@"))
#define KVO_P_DEFINITION_CUSTOM(cls, type, key, Key, ...)                                 \
  {#key, #key, "set" #Key ":", (kvo_imp)cls##_##key##_imp, (kvo_imp)cls##_set##Key##_imp, \
      __VA_ARGS__, -1, &cls##_##key##_method, &cls##_set##Key##_method},

#endif
