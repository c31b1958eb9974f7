/// A to-many key with any combination of methods, whose calls are recorded.
#ifndef FIXTURE_SHELF_H
#define FIXTURE_SHELF_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Methods of the key `items`, of elements of type int.
typedef enum KVO_FLAG_ENUM shelf_methods {
  SHELF_COUNT = 1 << 0,
  SHELF_OBJECT = 1 << 1,
  SHELF_OBJECTS = 1 << 2, ///< itemsAtIndexes:
  SHELF_RANGE = 1 << 3,   ///< getItems:range:
  SHELF_INDEX = 1 << 4,   ///< indexInItemsOfObject:
  SHELF_ENUMERATOR = 1 << 5,
  SHELF_MEMBER = 1 << 6,
  SHELF_INSERT = 1 << 7,
  SHELF_INSERT_MANY = 1 << 8,
  SHELF_REMOVE = 1 << 9,
  SHELF_REMOVE_MANY = 1 << 10,
  SHELF_REPLACE = 1 << 11,
  SHELF_REPLACE_MANY = 1 << 12,
  SHELF_ADD = 1 << 13,
  SHELF_ADD_MANY = 1 << 14,
  SHELF_DROP = 1 << 15, ///< removeItemsObject:
  SHELF_DROP_MANY = 1 << 16,
  SHELF_INTERSECT = 1 << 17,
  SHELF_GETTER = 1 << 18, ///< for `value`, like the next two
  SHELF_SETTER = 1 << 19,
  SHELF_IVAR = 1 << 20,
  SHELF_RESULTS =
      1 << 21, ///< the methods that change `items`, and `getItems:range:`, return a struct
} shelf_methods;

enum { SHELF_ROOM = 64 };

/// The first methods serve `items`, the last three `value`.
typedef struct shelf {
  kvo_object object;
  size_t count;
  int items[SHELF_ROOM];
  kvo_collection *KVO_NULLABLE value;
  bool stubborn; ///< methods that change the items do nothing
  size_t most;   ///< unless 0: the setter keeps only so many of the elements, the last ones
  bool reverses; ///< the setter stores the elements in reverse order
  void (*KVO_NULLABLE before_get)(struct shelf *self); ///< called by the getter
  void (*KVO_NULLABLE after_set)(struct shelf
          *self);  ///< called by the setter, when it has stored the elements
  char calls[512]; ///< such as "count object(2) ", since it was last emptied
} shelf;

/// The class with exactly these methods. Any thread.
const kvo_class *shelf_class(shelf_methods methods);
/// A new class with another name.
const kvo_class *shelf_class_named(const char *name, shelf_methods methods);
/// Adds methods to a class in use.
void shelf_class_add(const kvo_class *cls, shelf_methods methods);

/// Call `insertObject:inItemsAtIndex:`, `addItems:` and so on as a user of the class does. The index KVO_NOT_FOUND
/// means the end.
void shelf_insert(shelf *self, int item, size_t index);
void shelf_remove(shelf *self, size_t index);
void shelf_remove_many(shelf *self, const kvo_index_set *indexes);
void shelf_replace(shelf *self, size_t index, int item);
void shelf_add_many(shelf *self, kvo_collection *items);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
