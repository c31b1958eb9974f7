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
  KVO_FORCE_CLOSURES = 16, ///< only from the environment
  KVO_LOG_HINTS = 32,
  KVO_DISABLE_FAST_PATH =
      64, ///< disables the fast path, as any of these flags does (kvo_fast_path.h)
};

/// The options from the environment. Usually 0, so that a delivery tests one word.
extern uint32_t kvo_log_flags;

/// Whether all setters are interposed by closures.
bool kvo_closures_are_forced(void);

/// Reports a misuse of the interface. The program continues, unless the environment says otherwise.
void kvo_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Gives a hint, each text once. Call it only if `kvo_wants_hints()` is true.
void kvo_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/// Reports that observers of a key may have missed a change, or parts of it, for lack of memory.
void kvo_report_undelivered(const char *class_name, const char *key);
/// Reports that a result about a property's elements may be wrong for lack of memory.
void kvo_report_unread(const char *class_name, const char *key);
/// Reports that observers of derived keys of a class may miss changes for lack of memory.
void kvo_report_underived(const char *class_name);

/// Reads a number from the environment, if the variable is set. A value that is not a number is reported.
void kvo_read_number(const char *variable, size_t *number);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
