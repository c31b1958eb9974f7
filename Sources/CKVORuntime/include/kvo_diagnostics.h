/// Telling what goes on: dump, misuse, environment options.
///
/// Environment, read once:
/// `KVO_HELP=1` lists the options, and logs hints; `KVO_LOG=registrations,deliveries` logs those to
/// stderr, `hints` what a binding's program probably means otherwise (`kvo_set_hint_handler`);
/// `KVO_COUNT_HITS=1` counts deliveries per registration for the dump; `KVO_ABORT_ON_MISUSE=1`
/// stops at the first misuse; `KVO_FORCE_CLOSURES=1` is `kvo_set_closures_forced(true)`,
/// `KVO_FORCE_LONG_WAY=1` is `kvo_set_long_way_forced(true)`;
/// `KVO_DEPTH=1000` is `kvo_set_depth_limit(1000)`, `KVO_NAMES=1000` `kvo_set_name_limit(1000)`.
#ifndef KVO_DIAGNOSTICS_H
#define KVO_DIAGNOSTICS_H

#include "kvo_class.h"
#include "kvo_observing.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Writes every registration with the object (key path, observer, options, context, hits if they
/// are counted), every registration that it made, and the pairs open on it, to stderr. Made to be
/// called from a debugger: `call kvo_debug_dump(object)`.
void kvo_debug_dump(const kvo_object *KVO_NULLABLE object);
/// The same text, to be freed by the caller; NULL if memory is out.
char *KVO_NULLABLE kvo_copy_debug_dump(const kvo_object *object);

/// One registration as `kvo_visit_registrations` shows it; strings live during the call.
typedef struct kvo_registration_info {
  const char *key_path;             ///< as registered
  const char *observer;             ///< described
  kvo_options options;              ///< as registered
  const void *KVO_NULLABLE context; ///< as registered
  bool is_callback;                 ///< made by `kvo_add_callback`, not by an observer object
  uint64_t hits;                    ///< 0 unless `KVO_COUNT_HITS` is set
} kvo_registration_info;

/// Calls `visit` for each registration with the object, key paths by name and each in the order
/// of registration, from a copy made at the start, with no lock held. KVO_NO_MEMORY, with none visited. Any thread.
/// - visit: called with `context` and one registration.
/// - context: a pointer of the caller's, never read.
kvo_status kvo_visit_registrations(const kvo_object *object,
    void (*visit)(void *KVO_NULLABLE context, const kvo_registration_info *info),
    void *KVO_NULLABLE context);

/// Called on every misuse with the message, before it is handled: set a breakpoint here. Weak: a
/// program may define its own.
void kvo_break_on_misuse(const char *message);
/// Sees each misuse in place of the line on stderr. NULL restores that. Any thread.
void kvo_set_misuse_handler(void (*KVO_NULLABLE handler)(const char *message));
/// Sees each notification that no class of its observer took, in place of the stop with a
/// message. NULL restores that. Any thread.
void kvo_set_unhandled_notification_handler(void (*KVO_NULLABLE handler)(const char *key_path,
    kvo_object *object, kvo_object *observer));
/// For the root of a binding's hierarchy: reports a notification that reached it, which stops the
/// program unless a handler is set.
void kvo_report_unhandled_notification(const char *key_path, kvo_object *object,
    kvo_object *observer);

/// Forces closures: setters that come to be interposed from now on, when a key of their
/// class is observed for the first time, are interposed by libffi closures, also where a function
/// compiled for their argument's type would do it several times faster. What observers are told is
/// the same. Returns what was set before. Any thread.
bool kvo_set_closures_forced(bool forced);

/// Has each change go the long way that changes with several observers go, also where a shorter one
/// would do. What observers are told is the same. Returns what was set before. Not while another
/// thread makes changes.
bool kvo_set_long_way_forced(bool forced);

/// Stops the program when about so many changes are being told on one thread within one another,
/// with a message that names class and key: some observer sets what it observes, and never stops.
/// Looked at every 16 levels. Without an end, observers would use up the thread's stack, which ends
/// the program without a word; so whatever the limit is, it is also stopped when so little of the
/// stack is left that 16 more levels may not fit. 0: only then. At first `KVO_DEFAULT_DEPTH`.
/// Changes that are open but not being told, such as suspended accesses, don't count. Any thread.
void kvo_set_depth_limit(uint32_t limit);
/// What `kvo_set_depth_limit` was last given. Any thread.
uint32_t kvo_depth_limit(void);
/// What the depth limit is at first.
enum {
  KVO_DEFAULT_DEPTH = 10000 ///< changes told within one another
};

/// How many names the runtime may keep that are no keys of a class: key paths that were observed,
/// and keys that only a hook answers (`valueForUndefinedKey:`) or that were changed by hand. Each
/// takes 200 to 500 bytes, for ever. A name that can't be observed, and one that is only read, set
/// or validated, is not kept. Beyond the limit observing a new name fails with KVO_NOT_OBSERVABLE,
/// and a change by hand of one is reported and not told. For programs that observe names which
/// clients send. At first `KVO_DEFAULT_NAMES`, or what `KVO_NAMES` in the environment says. Any
/// thread.
void kvo_set_name_limit(size_t limit);
/// What `kvo_set_name_limit` was last given. Any thread.
size_t kvo_name_limit(void);
/// How many it keeps.
size_t kvo_name_count(void);
/// What the limit of names is at first.
enum {
  KVO_DEFAULT_NAMES = 100000 ///< names
};

/// Writes "<Class: address>", or what the class's binding says. Returns as snprintf does.
size_t kvo_object_describe(const kvo_object *object, char *buffer, size_t capacity);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
