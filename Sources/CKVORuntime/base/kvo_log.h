/// Reports of misuse, and the log that the environment asks for.
#ifndef KVO_LOG_H
#define KVO_LOG_H

#include "kvo_diagnostics.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

enum kvo_log_flag {
  KVO_LOG_REGISTRATIONS = 1,
  KVO_LOG_DELIVERIES = 2,
  KVO_COUNT_HITS = 4,
  KVO_ABORT_ON_MISUSE = 8,
  KVO_FORCE_CLOSURES = 16, ///< from the environment alone
  KVO_LOG_HINTS = 32,
  KVO_FORCE_LONG_WAY = 64, ///< as any of these does (kvo_short.h)
};

/// What the environment asked for; 0 mostly, so that a delivery tests one word.
extern uint32_t kvo_log_flags;

/// Whether setters are interposed by closures alone.
bool kvo_closures_are_forced(void);

/// Reports a misuse of the interface, which is survived unless the environment says otherwise.
void kvo_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Gives a hint, each text once. To be called only where `kvo_wants_hints` says so.
void kvo_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Reports that observers of a key may not have been told all of a change, memory being out.
void kvo_report_untold(const char *class_name, const char *key);
/// Reports that what was answered about a property's elements may be wrong, memory being out.
void kvo_report_unread(const char *class_name, const char *key);
/// Reports that derived keys of a class's objects may not be told of changes, memory being out.
void kvo_report_underived(const char *class_name);

/// Reads a number from the environment, if there is one: what is none is said.
void kvo_read_number(const char *variable, size_t *number);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
