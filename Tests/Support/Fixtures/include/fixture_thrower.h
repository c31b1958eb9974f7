/// Setters, getters and observers that throw C++ exceptions, and calls that catch them.
#ifndef FIXTURE_THROWER_H
#define FIXTURE_THROWER_H

#include "fixture_account.h"
#include "fixture_shelf.h"
#include "fixture_watcher.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// A hundred bytes: accessed only through libffi, and not stored inside a value.
typedef struct extent {
  int edges[25];
} extent;

/// Which parts throw: a number other than 0, which is thrown.
typedef struct thrower {
  tracked base;
  int getter_throws;
  int calm_reads;    ///< reads that do not throw before
  int setter_throws; ///< after it has stored
  int dealloc_throws;
  /// Called by setters after storing; they don't touch the object afterwards.
  void (*KVO_NULLABLE last_step)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE last_step_context;
  double reading;
  extent extent;
  const char *note; ///< an ivar; there is no setter
  tracked *KVO_NULLABLE ward;
} thrower;

#define THROWER_PROPERTIES(PROPERTY)                                  \
  PROPERTY(thrower, double, reading, Reading, CUSTOM)                 \
  PROPERTY(thrower, extent, extent, Extent, CUSTOM, "{extent=[25i]}") \
  PROPERTY(thrower, tracked *, ward, Ward, CUSTOM, "@")
KVO_CLASS_INTERFACE(thrower, THROWER_PROPERTIES)

/// A watcher that throws in the calls that its trap names.
typedef struct throwing_watcher {
  watcher watcher;
  struct trap *KVO_NULLABLE trap;
  int unused;
} throwing_watcher;

#define THROWING_WATCHER_PROPERTIES(PROPERTY) \
  PROPERTY(throwing_watcher, int, unused, Unused, ASSIGN)
KVO_CLASS_INTERFACE(throwing_watcher, THROWING_WATCHER_PROPERTIES)

/// An observer that throws: `prior` in prior calls, `final` in the others, 0 for not throwing. It calls `first`
/// before that.
typedef struct trap {
  int prior;
  int final;
  int calls;
  int ends;
  void (*KVO_NULLABLE first)(void *KVO_NULLABLE context);
  void *KVO_NULLABLE first_context;
} trap;

void trap_spring(trap *trap, const kvo_change *change);
/// For kvo_add_callback, with the trap as context.
void trap_callback(void *KVO_NULLABLE context, kvo_object *object, const char *key_path,
    const kvo_change *change);

/// For kvo_add_callback, with the trap as context: counts calls.
void trap_ended(void *KVO_NULLABLE context);

/// Throws the number, unless it is 0.
void fixture_throw(int number);

/// For a shelf's `before_get`: throws 1, and does not stay there.
void shelf_throws_once(shelf *self);

/// The number that each of these calls throws, or 0 if it returns.
int thrown_by_set_reading(thrower *object, double value);
/// Releases the object.
int thrown_by_release(kvo_object *object);
/// Releases a list that holds the last reference to `first` and a value. The value's destructor takes the account's
/// branch, then throws the number. Returns how often the value was destroyed.
int thrown_by_death_of_list(account *account, kvo_object *first, int throws, size_t *ends);
/// Releases an object with `count` associated values, each of which throws the number when it is released. Returns the
/// number thrown, and in `released` how many values were released.
int thrown_by_death_with_values(kvo_object *object, size_t count, int throws, size_t *released);
int thrown_by_set_edge(thrower *object, int value);
int thrown_by_set_value(kvo_object *object, const char *key, const kvo_value *value);
int thrown_by_set_path(kvo_object *object, const char *key_path, const kvo_value *value);
int thrown_by_get_value(kvo_object *object, const char *key);
/// Reads, or sets to 1, a key path of a collection's elements.
int thrown_by_get_path(kvo_collection *collection, const char *key_path);
int thrown_by_set_key(kvo_collection *collection, const char *key);
int thrown_by_append(kvo_collection *proxy, const kvo_value *value);
/// Sets the reading to 1, then to 2, inside `kvo_coalesce`, and throws unless the number is 0.
int thrown_by_coalescing(thrower *object, int throws);
int thrown_by_will_change(kvo_object *object, const char *key);
int thrown_by_did_change(kvo_object *object, const char *key);
int thrown_by_add(kvo_object *object, const char *key, kvo_options options, trap *trap,
    kvo_handle *KVO_NULLABLE *KVO_NONNULL handle);
/// Registers for two keys at once.
int thrown_by_add_keys(kvo_object *object, const char *key, const char *other, kvo_options options,
    trap *trap, kvo_handle *KVO_NULLABLE *KVO_NONNULL handle);
int thrown_by_add_observer(kvo_object *object, kvo_object *observer, const char *key,
    kvo_options options);
/// Sets the reading to `depth`. The final call sets it to one less, down to 0.
int thrown_by_countdown(thrower *object, int depth, int throws);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
