/// Observer objects. Their notifications are passed to a function of the test.
#ifndef FIXTURE_WATCHER_H
#define FIXTURE_WATCHER_H

#include "fixture_tracked.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

/// - level: the class that took the notification.
typedef void (*watcher_sink)(void *KVO_NULLABLE sink_context, const char *level,
    const char *key_path, kvo_object *object, const kvo_change *change, void *KVO_NULLABLE context);

/// Takes every notification. It inherits a property, `mark`, so that it can be observed too, also by itself.
typedef struct watcher {
  tracked tracked;
  watcher_sink KVO_NULLABLE sink;
  void *KVO_NULLABLE sink_context;
  int seen;
} watcher;

/// Takes notifications whose context is `base_watcher_context`, and passes the others to the root.
typedef struct base_watcher {
  watcher watcher;
  int unused;
} base_watcher;

/// Takes notifications whose context is `sub_watcher_context`, and passes the others to base_watcher.
typedef struct sub_watcher {
  base_watcher base;
  int unused;
} sub_watcher;

void *base_watcher_context(void);
void *sub_watcher_context(void);

#define WATCHER_PROPERTIES(PROPERTY) PROPERTY(watcher, int, seen, Seen, ASSIGN)
#define BASE_WATCHER_PROPERTIES(PROPERTY) PROPERTY(base_watcher, int, unused, Unused, ASSIGN)
#define SUB_WATCHER_PROPERTIES(PROPERTY) PROPERTY(sub_watcher, int, unused, Unused, ASSIGN)

KVO_CLASS_INTERFACE(watcher, WATCHER_PROPERTIES)
KVO_CLASS_INTERFACE(base_watcher, BASE_WATCHER_PROPERTIES)
KVO_CLASS_INTERFACE(sub_watcher, SUB_WATCHER_PROPERTIES)

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
