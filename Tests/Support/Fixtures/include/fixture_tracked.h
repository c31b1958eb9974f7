/// Objects whose deaths are counted, so that a leak or a second death fails a test.
#ifndef FIXTURE_TRACKED_H
#define FIXTURE_TRACKED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Counts the deaths of the objects that were given it; outlives them. Zero-filled at first.
typedef struct fixture_deaths {
  int64_t count;
} fixture_deaths;

int64_t fixture_deaths_count(const fixture_deaths *deaths);

/// What its objects do at the very end, while their registrations are still there.
typedef void (*fixture_last_words)(void *KVO_NULLABLE context, kvo_object *self);

typedef struct tracked {
  kvo_object object;
  int mark;
  fixture_deaths *KVO_NULLABLE deaths;
  fixture_last_words KVO_NULLABLE last_words;
  void *KVO_NULLABLE last_words_context;
} tracked;

#define TRACKED_PROPERTIES(PROPERTY) PROPERTY(tracked, int, mark, Mark, ASSIGN)
KVO_CLASS_INTERFACE(tracked, TRACKED_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
