/// Diagnostics: dumps, reports of misuse, limits, and environment options.
///
/// These environment variables are read once:
///
/// | variable | effect |
/// |---|---|
/// | `KVO_HELP=1` | lists the options, and logs hints |
/// | `KVO_LOG=registrations,deliveries,hints` | logs registrations, deliveries and hints (`kvo_set_hint_handler`) to stderr |
/// | `KVO_COUNT_HITS=1` | counts deliveries per registration, for the dump |
/// | `KVO_ABORT_ON_MISUSE=1` | stops the program at the first misuse |
/// | `KVO_FORCE_CLOSURES=1` | calls `kvo_set_closures_forced(true)` |
/// | `KVO_DISABLE_FAST_PATH=1` | calls `kvo_set_fast_path_disabled(true)` |
/// | `KVO_DEPTH=1000` | calls `kvo_set_depth_limit(1000)` |
/// | `KVO_NAMES=1000` | calls `kvo_set_name_limit(1000)` |
#ifndef KVO_DIAGNOSTICS_H
#define KVO_DIAGNOSTICS_H

#include "kvo_class.h"
#include "kvo_observing.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Writes to stderr: every registration with the object (key path, observer, options, context, hits if they are
/// counted), every registration that the object made as an observer, and its open manual changes. Call it from a
/// debugger: `call kvo_debug_dump(object)`.
void kvo_debug_dump(const kvo_object *KVO_NULLABLE object);
/// Returns the text that `kvo_debug_dump` writes. The caller frees it with `free`. NULL if out of memory. Any thread.
char *KVO_NULLABLE kvo_copy_debug_dump(const kvo_object *object);

/// One registration, as `kvo_visit_registrations` reports it. The strings are valid during the call.
typedef struct kvo_registration_info {
  const char *key_path;             ///< the key path as registered
  const char *observer;             ///< a description of the observer
  kvo_options options;              ///< the options as registered
  const void *KVO_NULLABLE context; ///< the context as registered
  bool is_callback;                 ///< made by `kvo_add_callback`, not by an observer object
  uint64_t hits;                    ///< 0 unless `KVO_COUNT_HITS` is set
} kvo_registration_info;

/// Calls `visit` for each registration with the object: sorted by key path, and for each key path in the order of
/// registration. It works on a copy made at the start, and holds no lock during the calls. KVO_NO_MEMORY, with no
/// call made. Any thread.
/// - visit: called with `context` and one registration.
/// - context: a pointer of the caller's, never read.
kvo_status kvo_visit_registrations(const kvo_object *object,
    void (*visit)(void *KVO_NULLABLE context, const kvo_registration_info *info),
    void *KVO_NULLABLE context);

/// Called with the message at every misuse, before it is handled: set a breakpoint here. Weak: a program may define
/// its own.
void kvo_break_on_misuse(const char *message);
/// Sets a handler that receives each misuse, in place of the line on stderr. NULL restores that. Any thread.
void kvo_set_misuse_handler(void (*KVO_NULLABLE handler)(const char *message));
/// Sets a handler for notifications that no class of their observer handled, which would otherwise stop the program
/// with a message. NULL restores that. Any thread.
void kvo_set_unhandled_notification_handler(void (*KVO_NULLABLE handler)(const char *key_path,
    kvo_object *object, kvo_object *observer));
/// Reports a notification that reached the root of a binding's hierarchy unhandled. Stops the program unless
/// `kvo_set_unhandled_notification_handler` set a handler.
void kvo_report_unhandled_notification(const char *key_path, kvo_object *object,
    kvo_object *observer);

/// Forces libffi closures. Setters that are interposed from now on, when a key of their class is first observed, are
/// interposed by a closure. This holds even if a compiled function for their argument's type would be several times
/// faster. The notifications are the same. Returns the previous setting. Any thread.
bool kvo_set_closures_forced(bool forced);

/// Forces the slow path: each change is delivered like a change with several observers, even if it could take the fast
/// path. The notifications are the same. Returns the previous setting. Don't call it while another
/// thread makes changes.
bool kvo_set_fast_path_disabled(bool forced);

/// Limits the depth of nested deliveries. When about `limit` nested changes are being delivered on one thread, the
/// program stops with a message that names class and key: some observer sets what it observes, without end. The limit
/// is checked every 16 levels. Independently of it, the program is stopped when 16 more levels may not fit on the
/// stack, because a stack overflow would end it without a message. 0: only that check. The default is
/// `KVO_DEFAULT_DEPTH`. Changes that are open but not being delivered, such as suspended accesses, don't count. Any
/// thread.
void kvo_set_depth_limit(uint32_t limit);
/// The limit that `kvo_set_depth_limit` set. Any thread.
uint32_t kvo_depth_limit(void);
/// The default depth limit.
enum {
  KVO_DEFAULT_DEPTH = 10000 ///< nested changes being delivered
};

/// Limits how many names the runtime keeps that are not keys of a class: key paths that were observed, and keys that
/// only a hook answers (`valueForUndefinedKey:`) or that were changed manually. Each takes 200 to 500 bytes and is
/// never freed. A name that can't be observed, and one that is only read, set or validated, is not kept. Beyond the
/// limit, observing a new name fails with KVO_NOT_OBSERVABLE, and a manual change of one is reported and not
/// delivered. For programs that observe names which clients send. The default is `KVO_DEFAULT_NAMES`, or `KVO_NAMES`
/// of the environment. Any thread.
void kvo_set_name_limit(size_t limit);
/// The limit that `kvo_set_name_limit` set. Any thread.
size_t kvo_name_limit(void);
/// The number of names that count towards the limit (`kvo_set_name_limit`). Any thread.
size_t kvo_name_count(void);
/// The default limit of names.
enum {
  KVO_DEFAULT_NAMES = 100000 ///< the limit that `kvo_set_name_limit` replaces
};

/// Writes a description of an object: "<Class: address>", or the one that the class's binding gives. Writes at most
/// `capacity` bytes, including the NUL. Returns the whole length, as snprintf does.
size_t kvo_object_describe(const kvo_object *object, char *buffer, size_t capacity);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
