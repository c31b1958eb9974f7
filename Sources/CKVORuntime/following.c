// Following a link: reading where it leads, and moving what stands further along.
//
// A link leads to the object that its key answers, or, with an operator behind it, to each element
// of the collection. Reading is the user's code and runs without a lock; what is read is installed
// under the graph lock afterwards: children at other objects end, and where there is none yet one
// is to stand (wiring.c). Two threads may follow one link at once: each takes a ticket before it
// reads, and what was read by a later ticket is not replaced by what an earlier one read, who then
// reads once more. A child that stays has been followed, unless another thread is at the path: then
// it is gone through as well (sharing.c).
#include "kvo_collection_internal.h"
#include "kvo_lock.h"
#include "kvo_memory.h"
#include "kvo_thread.h"
#include "kvo_type.h"
#include "kvo_wiring.h"

#include <stdlib.h>

// The objects that a link leads to, each held.
typedef struct {
  kvo_object **objects;
  size_t count;
} targets;

static void add_target(targets *found, kvo_object *object) {
  if (object && !kvo_class_is_collection(kvo_class_of(object)))
    found->objects[found->count++] = kvo_object_retain(object);
}

static bool make_targets(targets *found, size_t count) {
  *found = (targets){kvo_alloc(count * sizeof *found->objects + 1), 0};
  return found->objects;
}

// What stands in for a collection among the elements is its own elements, behind the others.
static void flatten(kvo_elements *elements) {
  for (size_t i = 0; i < elements->count; i++) {
    kvo_value inner = elements->values[i];
    if (!kvo_value_is_collection(&inner, NULL)) continue;
    elements->values[i] = KVO_VALUE_NIL;
    kvo_value_elements(&inner, NULL, elements, NULL);
    kvo_value_destroy(&inner);
  }
}

static targets elements_of(const kvo_value *collection) {
  targets found = {0};
  kvo_elements elements = {0};
  kvo_value_elements(collection, NULL, &elements, NULL);
  flatten(&elements);
  if (make_targets(&found, elements.count))
    for (size_t i = 0; i < elements.count; i++)
      add_target(&found, kvo_value_get_object(&elements.values[i]));
  kvo_elements_destroy(&elements);
  return found;
}

static void report_collection(const kvo_link *link) {
  const kvo_key_path *path = link->chain->path;
  kvo_error error;
  kvo_key_path_refuse_collection(path, link->depth, link->chain->accessors->cls, &error);
  kvo_chain_report(link->chain, &error);
}

static targets targets_of(const kvo_link *link, const kvo_value *value) {
  bool is_collection = kvo_value_is_collection(value, NULL);
  if (is_collection && kvo_key_path_operates(link->chain->path, link->depth))
    return elements_of(value);
  targets found;
  if (is_collection) report_collection(link);
  if (make_targets(&found, 1) && !is_collection) add_target(&found, kvo_value_get_object(value));
  return found;
}

static targets read_targets(const kvo_link *link, kvo_object *object) {
  const char *key = link->chain->path->components[link->depth].key;
  kvo_value value = KVO_VALUE_NIL;
  const kvo_accessors *accessors = kvo_observable_accessors(object, key, NULL);
  if (accessors) kvo_accessors_read_link(accessors, object, &value);
  kvo_value_unwrap(&value);
  targets found = targets_of(link, &value);
  kvo_value_destroy(&value);
  return found;
}

// Holds the link's object, if it lives, and takes a ticket.
static kvo_object *begin_following(kvo_wiring *wiring, kvo_link *link, uint64_t *ticket) {
  KVO_LOCKED(&kvo_graph_lock);
  if (link->entry.state != KVO_LIVE) return NULL;
  kvo_object *object = link->entry.object;
  kvo_wiring_enter_locked(wiring);
  *ticket = ++link->issued;
  return kvo_class_of(object)->operations->try_retain(object) ? object : NULL;
}

static int compare_addresses(const void *a, const void *b) {
  uintptr_t left = *(const uintptr_t *)a, right = *(const uintptr_t *)b;
  return (left > right) - (left < right);
}

// Takes out of a sorted array, whose lowest bits are marks of what was taken.
static bool take(uintptr_t *sorted, size_t count, const kvo_object *object) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if ((sorted[middle] & ~(uintptr_t)1) < (uintptr_t)object) low = middle + 1;
    else high = middle;
  }
  if (low == count || sorted[low] != (uintptr_t)object) return false;
  sorted[low] |= 1;
  return true;
}

static size_t sort_once(uintptr_t *sorted, const targets *found) {
  for (size_t i = 0; i < found->count; i++) sorted[i] = (uintptr_t)found->objects[i];
  if (found->count) qsort(sorted, found->count, sizeof *sorted, compare_addresses);
  size_t count = 0;
  for (size_t i = 0; i < found->count; i++)
    if (!count || sorted[count - 1] != sorted[i]) sorted[count++] = sorted[i];
  return count;
}

// Ends the children whose objects are not among the targets, and marks the others' as taken.
static void keep_children_locked(kvo_link *link, uintptr_t *sorted, size_t count,
    kvo_retired **retired) {
  for (kvo_link *child = link->children, *next; child; child = next) {
    next = child->next;
    if (!take(sorted, count, child->entry.object)) kvo_entry_end_locked(&child->entry, retired);
  }
}

static void push_children_locked(kvo_wiring *wiring, kvo_link *link) {
  for (kvo_link *child = link->children; child; child = child->next) {
    if (!kvo_wiring_make_room(wiring, 1)) return;
    kvo_registration_hold(&child->entry);
    wiring->tasks[wiring->count++] = (kvo_task){.kind = KVO_ENSURE_LINK, .link = child};
  }
}

static bool install(kvo_wiring *wiring, kvo_link *link, uint64_t ticket, uintptr_t *sorted,
    size_t count, bool thorough) {
  KVO_LOCKED(&kvo_graph_lock);
  if (link->entry.state != KVO_LIVE) return false;
  if (kvo_wiring_is_superseded_locked(wiring, link, ticket <= link->installed)) return false;
  link->installed = ticket;
  keep_children_locked(link, sorted, count, &wiring->retired);
  if (thorough || kvo_link_has_others_locked(link)) push_children_locked(wiring, link);
  return true;
}

static void push_stand(kvo_wiring *wiring, kvo_link *link, uint64_t ticket, kvo_object *object) {
  kvo_registration_hold(&link->entry);
  wiring->tasks[wiring->count++] = (kvo_task){
      .kind = KVO_STAND, .link = link, .object = kvo_object_retain(object), .ticket = ticket};
}

// The first target is to be worked off first, so it is pushed last.
static void push_missing(kvo_wiring *wiring, kvo_link *link, uint64_t ticket, const targets *found,
    uintptr_t *sorted, size_t count) {
  if (!kvo_wiring_make_room(wiring, count)) return;
  size_t start = wiring->count;
  for (size_t i = 0; i < found->count; i++)
    if (take(sorted, count, found->objects[i])) push_stand(wiring, link, ticket, found->objects[i]);
  for (size_t low = start, high = wiring->count; low + 1 < high; low++) {
    kvo_task swapped = wiring->tasks[low];
    wiring->tasks[low] = wiring->tasks[--high];
    wiring->tasks[high] = swapped;
  }
}

// While the user's code runs, a frame holds the object: it lets go, should that throw.
static targets read_held(const kvo_link *link, kvo_object *object) {
  kvo_thread *thread = kvo_thread_current();
  kvo_frame *frame = thread ? kvo_frame_push(thread, object) : NULL;
  if (!frame) {
    kvo_object_release(object);
    return (targets){0};
  }
  frame->flags |= KVO_FRAME_RETAINED;
  targets found = read_targets(link, object);
  kvo_frame_pop(frame);
  return found;
}

enum { FEW_TARGETS = 4 };

void kvo_wiring_follow(kvo_wiring *wiring, kvo_link *link, bool thorough) {
  kvo_wiring_settle(wiring); // before the ticket: a later one has seen as much
  uint64_t ticket;
  kvo_object *object = begin_following(wiring, link, &ticket);
  if (!object) return;
  targets found = read_held(link, object);
  uintptr_t few[FEW_TARGETS];
  uintptr_t *sorted = found.count > FEW_TARGETS ? kvo_alloc(found.count * sizeof *sorted) : few;
  size_t count = sorted ? sort_once(sorted, &found) : 0;
  if (sorted && install(wiring, link, ticket, sorted, count, thorough))
    push_missing(wiring, link, ticket, &found, sorted, count);
  if (sorted != few) kvo_free(sorted);
  for (size_t i = 0; i < found.count; i++) kvo_object_release(found.objects[i]);
  kvo_free(found.objects);
}
