// Registrations and objects that are released as soon as they have been made.
#include "doing.h"

#include "failure.h"
#include "perform.h"

static void is_passing(void *context, kvo_object *object, const char *key_path,
    const kvo_change *change) {
  (void)context, (void)object, (void)key_path, (void)change;
}

static void passing_has_ended(void *context) {
  (void)context;
  past.passing_ended++;
}

// A short-lived registration.
void make_passing(int node, const char *path) {
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(object_of(node), path, KVO_NEW, is_passing, NULL,
      passing_has_ended, &handle, NULL);
  if (status) fail_schedule("not registered", "%s: status %d", path, status);
  past.passing_made++;
  kvo_handle_release(handle);
}

void pass_object(void) {
  node *passing = (node *)kvo_object_create(node_class());
  kvo_handle *handle;
  kvo_status status = kvo_add_callback(&passing->object, "next.value", KVO_NEW | KVO_INITIAL,
      is_passing, NULL, passing_has_ended, &handle, NULL);
  if (status) fail_schedule("not registered", "a new object: status %d", status);
  past.passing_made++;
  kvo_object_release(&passing->object);
  kvo_handle_release(handle);
}

void observe_all_paths(void) {
  node *passing = (node *)kvo_object_create(node_class());
  for (int path = 0; path < PATHS; path++) {
    kvo_handle *handle;
    kvo_status status = kvo_add_callback(&passing->object, path_names[path], KVO_OLD, is_passing,
        NULL, NULL, &handle, NULL);
    if (status) fail_schedule("not registered", "%s: status %d", path_names[path], status);
    kvo_handle_release(handle);
  }
  kvo_object_release(&passing->object);
}
