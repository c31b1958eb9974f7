// Environment options, misuse and the log (J2, J3).
#include "base/kvo_log.h"

#include "base/kvo_intern.h"
#include "kvo_binding.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t kvo_log_flags;

static void (*misuse_handler)(const char *message);
static void (*hint_handler)(const char *message);
static bool closures_forced; // atomic

// One row per option: the environment variable, a word that its value must contain (NULL: any value but 0), the flag
// it sets, and the help text, which is NULL for an old spelling.
static const struct option {
  const char *variable;
  const char *word;
  uint32_t flag;
  const char *help;
} options[] = {
    {"KVO_LOG", "registrations", KVO_LOG_REGISTRATIONS, "log each registration made and ended"},
    {"KVO_LOG", "deliveries", KVO_LOG_DELIVERIES, "log each call of an observer"},
    {"KVO_LOG", "hints", KVO_LOG_HINTS, "log probable mistakes, each once"},
    {"KVO_LOG", "conventions", KVO_LOG_HINTS, NULL}, // an old spelling
    {"KVO_COUNT_HITS", NULL, KVO_COUNT_HITS, "count calls per registration, shown by the dump"},
    {"KVO_ABORT_ON_MISUSE", NULL, KVO_ABORT_ON_MISUSE, "stop at the first misuse"},
    {"KVO_FORCE_CLOSURES", NULL, KVO_FORCE_CLOSURES, "interpose setters by closures alone"},
    {"KVO_DISABLE_FAST_PATH", NULL, KVO_DISABLE_FAST_PATH, "make no change on the fast path"},
    {"KVO_FORCE_LONG_WAY", NULL, KVO_DISABLE_FAST_PATH, NULL}, // an old spelling
    {"KVO_DEPTH", "10000", 0,
        "stop at about so many nested changes (0: only where the stack ends)"},
    {"KVO_NAMES", "100000", 0,
        "keep at most so many observed names that are not keys of a class (0: none)"},
    {"KVO_HELP", NULL, KVO_LOG_HINTS, "list these options, and log hints"},
};

static bool asks_for(const struct option *option) {
  const char *value = getenv(option->variable);
  if (!value) return false;
  return option->word ? strstr(value, option->word) != NULL : strcmp(value, "0") != 0;
}

void kvo_read_number(const char *variable, size_t *number) {
  const char *value = getenv(variable);
  char *end = NULL;
  size_t read = value ? strtoul(value, &end, 10) : 0;
  if (value && *value >= '0' && *value <= '9' && !*end) *number = read;
  else if (value) fprintf(stderr, "KVO: %s takes a number, not \"%s\".\n", variable, value);
}

static void print_help(void) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    char setting[64];
    if (!options[i].help) continue;
    snprintf(setting, sizeof setting, "%s=%s", options[i].variable,
        options[i].word ? options[i].word : "1");
    fprintf(stderr, "  %-24s %s\n", setting, options[i].help);
  }
}

static bool is_word_of(const char *variable, const char *text, size_t length) {
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    const char *word = options[i].word;
    if (word && !strcmp(options[i].variable, variable) && strlen(word) == length &&
        !strncmp(word, text, length))
      return true;
  }
  return false;
}

static void report_unknown_words(const char *variable) {
  const char *text = getenv(variable);
  for (size_t length; text && *text; text += length + (text[length] == ',')) {
    length = strcspn(text, ",");
    if (!is_word_of(variable, text, length))
      fprintf(stderr, "KVO: %s has no kind \"%.*s\"; KVO_HELP=1 lists them.\n", variable,
          (int)length, text);
  }
}

// Runs early, so that the options are set when the program's constructors run.
__attribute__((constructor(101))) static void log_read_environment(void) {
  uint32_t asked = 0;
  for (size_t i = 0; i < sizeof options / sizeof *options; i++)
    if (asks_for(&options[i])) asked |= options[i].flag;
  kvo_log_flags = asked & ~KVO_FORCE_CLOSURES; // any other flag puts deliveries on the slow path
  kvo_set_closures_forced(asked & KVO_FORCE_CLOSURES);
  report_unknown_words("KVO_LOG");
  const char *help = getenv("KVO_HELP");
  if (!help || !strcmp(help, "0")) return;
  fprintf(stderr,
      "CKVORuntime reads these from the environment (KVO_LOG takes several, comma-separated):\n");
  print_help();
}

bool kvo_set_closures_forced(bool forced) {
  return __atomic_exchange_n(&closures_forced, forced, __ATOMIC_RELAXED);
}

bool kvo_closures_are_forced(void) { return __atomic_load_n(&closures_forced, __ATOMIC_RELAXED); }

bool kvo_set_fast_path_disabled(bool forced) {
  bool was = kvo_log_flags & KVO_DISABLE_FAST_PATH;
  kvo_log_flags =
      (kvo_log_flags & ~(uint32_t)KVO_DISABLE_FAST_PATH) | (forced ? KVO_DISABLE_FAST_PATH : 0);
  return was;
}

__attribute__((weak, noinline)) void kvo_break_on_misuse(const char *message) {
  // Kept by the compiler, so that a debugger finds it.
  __asm__ volatile("" ::"r"(message) : "memory");
}

void kvo_set_misuse_handler(void (*handler)(const char *message)) {
  __atomic_store_n(&misuse_handler, handler, __ATOMIC_RELEASE);
}

void kvo_report_misuse(const char *message) { kvo_misuse("%s", message); }

void kvo_set_hint_handler(void (*handler)(const char *message)) {
  __atomic_store_n(&hint_handler, handler, __ATOMIC_RELEASE);
}

bool kvo_wants_hints(void) {
  return kvo_log_flags & KVO_LOG_HINTS || __atomic_load_n(&hint_handler, __ATOMIC_RELAXED);
}

void kvo_give_hint(const char *message) {
  void (*handler)(const char *) = __atomic_load_n(&hint_handler, __ATOMIC_ACQUIRE);
  if (handler) handler(message);
  else if (kvo_log_flags & KVO_LOG_HINTS) fprintf(stderr, "KVO hint: %s\n", message);
}

void kvo_hint(const char *format, ...) {
  char message[768];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (kvo_text_add(message)) kvo_give_hint(message);
}

void kvo_misuse(const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  kvo_break_on_misuse(message);
  void (*handler)(const char *) = __atomic_load_n(&misuse_handler, __ATOMIC_ACQUIRE);
  if (handler) handler(message);
  else fprintf(stderr, "KVO misuse: %s\n", message);
  if (kvo_log_flags & KVO_ABORT_ON_MISUSE) abort();
}

void kvo_report_undelivered(const char *class_name, const char *key) {
  kvo_misuse(
      "No memory to notify all observers of a change of \"%s\" of %s: some may have missed it.",
      key, class_name);
}

void kvo_report_unread(const char *class_name, const char *key) {
  kvo_misuse("No memory to read \"%s\" of %s: what was answered about its elements may be wrong.",
      key, class_name);
}

void kvo_report_underived(const char *class_name) {
  kvo_misuse(
      "No memory to follow what the derived keys of %s depend on: observers may miss changes.",
      class_name);
}
