#include "fixture_article.h"

#include <stdlib.h>
#include <string.h>

#include "require.h"

static void add(kvo_class *cls, const char *selector, kvo_imp imp, const char *encoding) {
  require_method(cls, selector, imp, KVO_ENCODED(encoding));
}

// primes

static bool is_prime(int number) {
  for (int divisor = 2; divisor * divisor <= number; divisor++)
    if (number % divisor == 0) return false;
  return true;
}

static size_t count_of_primes(article_primes *self, const kvo_method *_cmd) {
  (void)_cmd;
  self->counted++;
  return ARTICLE_PRIME_COUNT;
}

static int prime_at(article_primes *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  int number = 2;
  self->found++;
  self->index = index;
  for (size_t left = index; left || !is_prime(number); number++)
    if (is_prime(number)) left--;
  return number;
}

kvo_collection *article_primes_primes(article_primes *self) {
  kvo_error error = {0};
  kvo_value value;
  require_ok(kvo_value_for_key(&self->object, "backingPrimes", &value, &error), &error);
  kvo_collection *primes = kvo_collection_of_value(&value);
  kvo_object_retain((kvo_object *)primes);
  kvo_value_destroy(&value);
  return primes;
}

static void primes_setup(kvo_class *cls) {
  add(cls, "countOfBackingPrimes", (kvo_imp)count_of_primes, "Q@:");
  add(cls, "objectInBackingPrimesAtIndex:", (kvo_imp)prime_at, "i@:Q");
}

KVO_CLASS_IMPLEMENTATION(article_primes, "CArticlePrimes", kvo_root_class, ARTICLE_NO_PROPERTIES,
    primes_setup)

// Storage of lists

static void put(article_contacts *all, article_contact *contact, size_t index) {
  memmove(all->items + index + 1, all->items + index, (all->count++ - index) * sizeof *all->items);
  all->items[index] = (article_contact *)kvo_object_retain((kvo_object *)contact);
}

static void take(article_contacts *all, size_t index) {
  article_contact *gone = all->items[index];
  memmove(all->items + index, all->items + index + 1, (--all->count - index) * sizeof *all->items);
  kvo_object_release((kvo_object *)gone);
}

static size_t find(const article_contacts *all, const article_contact *contact) {
  size_t index = 0;
  while (index < all->count && all->items[index] != contact) index++;
  return index;
}

static void take_all(article_contacts *all) {
  while (all->count) take(all, all->count - 1);
}

// wrappedContacts

static size_t count_of_contacts(article_list *self, const kvo_method *_cmd) {
  (void)_cmd;
  return self->contacts.count;
}

static article_contact *contact_at(article_list *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  return self->contacts.items[index];
}

static void insert_contact(article_list *self, const kvo_method *_cmd, article_contact *contact,
    size_t index) {
  (void)_cmd;
  put(&self->contacts, contact, index);
}

static void remove_contact(article_list *self, const kvo_method *_cmd, size_t index) {
  (void)_cmd;
  take(&self->contacts, index);
}

static void replace_contact(article_list *self, const kvo_method *_cmd, size_t index,
    article_contact *contact) {
  (void)_cmd;
  kvo_store_retained_object(&self->contacts.items[index], contact);
}

kvo_collection *article_list_mutableContacts(article_list *self) {
  kvo_error error = {0};
  kvo_collection *proxy = NULL;
  require_ok(kvo_mutable_array(&self->object, "wrappedContacts", &proxy, &error), &error);
  return proxy;
}

void article_list_insertContact(article_list *self, article_contact *contact, size_t index) {
  const kvo_method *method =
      kvo_class_method(kvo_class_of(&self->object), "insertObject:inWrappedContactsAtIndex:");
  ((void (*)(article_list *, const kvo_method *, article_contact *,
      size_t))kvo_method_lookup(&self->object, method))(self, method, contact, index);
}

// favourites

static size_t count_of_favourites(article_list *self, const kvo_method *_cmd) {
  (void)_cmd;
  return self->fans.count;
}

static kvo_collection *favourites(article_list *self, const kvo_method *_cmd) {
  kvo_value values[ARTICLE_ROOM];
  (void)_cmd;
  for (size_t i = 0; i < self->fans.count; i++)
    values[i] = kvo_value_object((kvo_object *)self->fans.items[i]);
  kvo_collection *all = kvo_collection_create(KVO_SET, values, self->fans.count, NULL);
  for (size_t i = 0; i < self->fans.count; i++) kvo_value_destroy(&values[i]);
  return all;
}

static article_contact *favourite(article_list *self, const kvo_method *_cmd,
    article_contact *contact) {
  (void)_cmd;
  return find(&self->fans, contact) < self->fans.count ? contact : NULL;
}

void article_list_store_favourite(article_list *self, article_contact *contact) {
  if (find(&self->fans, contact) == self->fans.count) put(&self->fans, contact, self->fans.count);
}

static void add_favourite(article_list *self, const kvo_method *_cmd, article_contact *contact) {
  (void)_cmd;
  article_list_store_favourite(self, contact);
}

static void remove_favourite(article_list *self, const kvo_method *_cmd, article_contact *contact) {
  size_t index = find(&self->fans, contact);
  (void)_cmd;
  if (index < self->fans.count) take(&self->fans, index);
}

// list

static void list_dealloc(kvo_object *self, const kvo_method *_cmd) {
  (void)_cmd;
  take_all(&((article_list *)self)->contacts);
  take_all(&((article_list *)self)->fans);
}

static void list_setup(kvo_class *cls) {
  add(cls, "countOfWrappedContacts", (kvo_imp)count_of_contacts, "Q@:");
  add(cls, "objectInWrappedContactsAtIndex:", (kvo_imp)contact_at, "@@:Q");
  add(cls, "insertObject:inWrappedContactsAtIndex:", (kvo_imp)insert_contact, "v@:@Q");
  add(cls, "removeObjectFromWrappedContactsAtIndex:", (kvo_imp)remove_contact, "v@:Q");
  add(cls, "replaceObjectInWrappedContactsAtIndex:withObject:", (kvo_imp)replace_contact, "v@:Q@");
  add(cls, "countOfFavourites", (kvo_imp)count_of_favourites, "Q@:");
  add(cls, "enumeratorOfFavourites", (kvo_imp)favourites, "@@:");
  add(cls, "memberOfFavourites:", (kvo_imp)favourite, "@@:@");
  add(cls, "addFavouritesObject:", (kvo_imp)add_favourite, "v@:@");
  add(cls, "removeFavouritesObject:", (kvo_imp)remove_favourite, "v@:@");
  require_hook(cls, "dealloc", (kvo_imp)list_dealloc);
}

KVO_CLASS_IMPLEMENTATION(article_list, "CArticleList", kvo_root_class, ARTICLE_LIST_PROPERTIES,
    list_setup)

// double_list

static kvo_index_set *at(size_t index) {
  kvo_index_set *indexes = kvo_index_set_create_range(index, 1);
  if (!indexes) abort();
  return indexes;
}

static void insert_by_hand(article_list *self, const kvo_method *_cmd, article_contact *contact,
    size_t index) {
  kvo_index_set *indexes = at(index);
  kvo_will_change_indexes(&self->object, KVO_INSERTION, indexes, "wrappedContacts");
  insert_contact(self, _cmd, contact, index);
  kvo_did_change_indexes(&self->object, KVO_INSERTION, indexes, "wrappedContacts");
  kvo_index_set_destroy(indexes);
}

static void remove_by_hand(article_list *self, const kvo_method *_cmd, size_t index) {
  kvo_index_set *indexes = at(index);
  kvo_will_change_indexes(&self->object, KVO_REMOVAL, indexes, "wrappedContacts");
  remove_contact(self, _cmd, index);
  kvo_did_change_indexes(&self->object, KVO_REMOVAL, indexes, "wrappedContacts");
  kvo_index_set_destroy(indexes);
}

static void replace_by_hand(article_list *self, const kvo_method *_cmd, size_t index,
    article_contact *contact) {
  kvo_index_set *indexes = at(index);
  kvo_will_change_indexes(&self->object, KVO_REPLACEMENT, indexes, "wrappedContacts");
  replace_contact(self, _cmd, index, contact);
  kvo_did_change_indexes(&self->object, KVO_REPLACEMENT, indexes, "wrappedContacts");
  kvo_index_set_destroy(indexes);
}

static void double_setup(kvo_class *cls) {
  add(cls, "insertObject:inWrappedContactsAtIndex:", (kvo_imp)insert_by_hand, "v@:@Q");
  add(cls, "removeObjectFromWrappedContactsAtIndex:", (kvo_imp)remove_by_hand, "v@:Q");
  add(cls, "replaceObjectInWrappedContactsAtIndex:withObject:", (kvo_imp)replace_by_hand, "v@:Q@");
}

KVO_CLASS_IMPLEMENTATION(article_double_list, "CArticleDoubleList", article_list_class,
    ARTICLE_NO_PROPERTIES, double_setup)

// manual_list

static bool says_no(const kvo_class *cls) {
  (void)cls;
  return false;
}

static void manual_setup(kvo_class *cls) {
  require_class_method(cls, "automaticallyNotifiesObserversOfWrappedContacts", (kvo_imp)says_no);
}

KVO_CLASS_IMPLEMENTATION(article_manual_list, "CArticleManualList", article_double_list_class,
    ARTICLE_NO_PROPERTIES, manual_setup)
