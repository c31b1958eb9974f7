/// Objects whose deaths are counted, so that a leak or a second death fails a test.
#ifndef FIXTURE_TRACKED_H
#define FIXTURE_TRACKED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// Counts the deaths of its objects, and must outlive them. Initially zero-filled.
typedef struct fixture_deaths {
  int64_t count;
} fixture_deaths;

int64_t fixture_deaths_count(const fixture_deaths *deaths);

/// Called by its objects at the very end, while their registrations still exist.
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
