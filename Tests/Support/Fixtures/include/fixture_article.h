/// The examples of an article on key-value coding and observing, as far as C can express them.
#ifndef FIXTURE_ARTICLE_H
#define FIXTURE_ARTICLE_H

#include "fixture_account.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

// MARK: Colours

/// A colour by its Lab components. Red depends on l, green on l and a, blue on l and b, by simplified formulas.
/// `color` is a new tracked object each time, whose mark has red, green and blue in two digits each.
typedef struct article_color {
  kvo_object object;
  double lComponent, aComponent, bComponent;
  tracked *KVO_NULLABLE last_color; ///< the last result of `color`
} article_color;

/// Overrides the getter of `redComponent`, to double it.
typedef article_color article_warm_color;
/// Notifies `lComponent` manually, and only if it changes.
typedef article_color article_manual_color;

double article_color_redComponent(const article_color *self);

/// Owns a colour and shows it: `shown` is the mark of its `color`, from the last notification.
typedef struct article_controller {
  kvo_object object;
  article_color *KVO_NULLABLE labColor;
  kvo_handle *KVO_NULLABLE token;
  int shown;
  int updates;
} article_controller;

// MARK: Contacts

typedef struct article_address {
  kvo_object object;
  const char *KVO_NULLABLE city;
} article_address;

/// Its validator of `name` replaces nil by "" and trims white space.
typedef struct article_contact {
  tracked tracked;
  const char *KVO_NULLABLE name;
  const char *KVO_NULLABLE nickname;
  const char *KVO_NULLABLE email;
  const char *KVO_NULLABLE city;
  double height;
  int age;
  location place;
  article_address *KVO_NULLABLE address;
  int validations;                 ///< calls of the validator
  const char *KVO_NULLABLE motto_; ///< of lenient contacts
} article_contact;

/// Takes nil for `height` as 0, and has the dynamic key `motto`.
typedef article_contact article_lenient_contact;

/// A text field that a person types into.
typedef struct article_field {
  tracked tracked;
  const char *KVO_NULLABLE text;
} article_field;

/// Text fields for the strings of a contact, which are found by key and not retained.
typedef struct article_form {
  kvo_object object;
  article_contact *KVO_NULLABLE contact;
  article_field *KVO_NULLABLE nameField;
  article_field *KVO_NULLABLE nicknameField;
  article_field *KVO_NULLABLE emailField;
  article_field *KVO_NULLABLE cityField;
} article_form;

/// Shows the contact in all fields.
void article_form_update_fields(article_form *self);
/// Stores the text of one of the fields; the second function lets the contact validate it first.
void article_form_editing_ended(article_form *self, article_field *field);
void article_form_name_editing_ended(article_form *self, article_field *field);

/// Ivars without accessors: `_top`, `_isOpen`, `drawer`, `isLocked`, and all four for the key `order`.
typedef struct article_cabinet {
  kvo_object object;
  int top, open, drawer, locked;
  int order[4];
} article_cabinet;

/// A cabinet with `accessInstanceVariablesDirectly` off.
typedef article_cabinet article_closed_cabinet;

// MARK: Collections

enum { ARTICLE_PRIME_COUNT = 300 };

/// Primes without storage: each is computed when it is read.
typedef struct article_primes {
  kvo_object object;
  int counted;  ///< calls of the count accessor
  int found;    ///< calls of the element accessor
  size_t index; ///< of the last prime
} article_primes;

/// The value of its key `backingPrimes`; +1.
kvo_collection *article_primes_primes(article_primes *self);

enum { ARTICLE_ROOM = 16 };

typedef struct article_contacts {
  size_t count;
  article_contact *KVO_NULLABLE items[ARTICLE_ROOM]; ///< retained
} article_contacts;

/// `wrappedContacts` has the accessors of an array, `favourites` those of a set; `ranking` is an
/// ordered set with a getter and a setter.
typedef struct article_list {
  kvo_object object;
  article_contacts contacts;
  article_contacts fans;
  kvo_collection *KVO_NULLABLE ranking;
} article_list;

/// The mutable proxy of `wrappedContacts`; +1.
kvo_collection *article_list_mutableContacts(article_list *self);
void article_list_insertContact(article_list *self, article_contact *contact, size_t index);
/// The storage of `favourites`, without notifying.
void article_list_store_favourite(article_list *self, article_contact *contact);

/// Brackets its changes of `wrappedContacts` manually, though the key is automatic.
typedef article_list article_double_list;
/// Brackets its changes manually, with automatic notification off.
typedef article_list article_manual_list;

// MARK: Properties

#define ARTICLE_COLOR_PROPERTIES(PROPERTY)                        \
  PROPERTY(article_color, double, lComponent, LComponent, ASSIGN) \
  PROPERTY(article_color, double, aComponent, AComponent, ASSIGN) \
  PROPERTY(article_color, double, bComponent, BComponent, ASSIGN)
#define ARTICLE_CONTROLLER_PROPERTIES(PROPERTY) \
  PROPERTY(article_controller, article_color *KVO_NULLABLE, labColor, LabColor, CUSTOM, "@")
#define ARTICLE_ADDRESS_PROPERTIES(PROPERTY) \
  PROPERTY(article_address, const char *KVO_NULLABLE, city, City, COPY)
#define ARTICLE_CONTACT_PROPERTIES(PROPERTY)                                    \
  PROPERTY(article_contact, const char *KVO_NULLABLE, name, Name, COPY)         \
  PROPERTY(article_contact, const char *KVO_NULLABLE, nickname, Nickname, COPY) \
  PROPERTY(article_contact, const char *KVO_NULLABLE, email, Email, COPY)       \
  PROPERTY(article_contact, const char *KVO_NULLABLE, city, City, COPY)         \
  PROPERTY(article_contact, double, height, Height, ASSIGN)                     \
  PROPERTY(article_contact, int, age, Age, ASSIGN)                              \
  PROPERTY(article_contact, location, place, Place, ASSIGN, "{location=dd}")    \
  PROPERTY(article_contact, article_address *KVO_NULLABLE, address, Address, RETAIN)
#define ARTICLE_FIELD_PROPERTIES(PROPERTY) \
  PROPERTY(article_field, const char *KVO_NULLABLE, text, Text, COPY)
#define ARTICLE_FORM_PROPERTIES(PROPERTY)                                                        \
  PROPERTY(article_form, article_contact *KVO_NULLABLE, contact, Contact, CUSTOM, "@")           \
  PROPERTY(article_form, article_field *KVO_NULLABLE, nameField, NameField, ASSIGN, "@")         \
  PROPERTY(article_form, article_field *KVO_NULLABLE, nicknameField, NicknameField, ASSIGN, "@") \
  PROPERTY(article_form, article_field *KVO_NULLABLE, emailField, EmailField, ASSIGN, "@")       \
  PROPERTY(article_form, article_field *KVO_NULLABLE, cityField, CityField, ASSIGN, "@")
#define ARTICLE_LIST_PROPERTIES(PROPERTY) \
  PROPERTY(article_list, kvo_collection *KVO_NULLABLE, ranking, Ranking, RETAIN)
#define ARTICLE_NO_PROPERTIES(PROPERTY)

KVO_CLASS_INTERFACE(article_color, ARTICLE_COLOR_PROPERTIES)
KVO_CLASS_INTERFACE(article_warm_color, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_manual_color, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_controller, ARTICLE_CONTROLLER_PROPERTIES)
KVO_CLASS_INTERFACE(article_address, ARTICLE_ADDRESS_PROPERTIES)
KVO_CLASS_INTERFACE(article_contact, ARTICLE_CONTACT_PROPERTIES)
KVO_CLASS_INTERFACE(article_lenient_contact, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_field, ARTICLE_FIELD_PROPERTIES)
KVO_CLASS_INTERFACE(article_form, ARTICLE_FORM_PROPERTIES)
KVO_CLASS_INTERFACE(article_cabinet, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_closed_cabinet, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_primes, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_list, ARTICLE_LIST_PROPERTIES)
KVO_CLASS_INTERFACE(article_double_list, ARTICLE_NO_PROPERTIES)
KVO_CLASS_INTERFACE(article_manual_list, ARTICLE_NO_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
