// Links whose change is open on this thread, and what they lead to by now (G5).
//
// A link's change is delivered at its end: of a setter that stores the link, a pair by hand, a bracket, a batch. Until then the links
// behind it stay where they were placed. So before the recipients of another change are looked for, each open link is read: what was
// placed behind it at an object that it does not lead to any more is left, and reaches nothing. The path's observers are notified
// when the link's change ends, from the value that was delivered to them last.
//
// A tracked path whose route is known is compared with memory, any other one is read.
#include "delivery/kvo_propagation.h"

#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "base/kvo_upcalls.h"
#include "graph/kvo_route.h"
#include "tables/kvo_table.h"

// Reading may run the program's code, and that may change something.
static _Thread_local bool is_finding;

static bool add_outer(kvo_open_links *open, kvo_propagation *propagation) {
  if (open->outer_count == open->outer_capacity) {
    kvo_propagation **larger = kvo_grow(open->outer, open->outer_count, open->outer_count + 1,
        sizeof(kvo_propagation *), &open->outer_capacity);
    if (!larger) return false;
    open->outer = larger;
  }
  open->outer[open->outer_count++] = kvo_propagation_retain(propagation);
  return true;
}

static void add_if_it_leads_on(kvo_open_links *open, kvo_propagation *propagation) {
  if (propagation && propagation->before.leads_on) (void)add_outer(open, propagation);
}

static void add_frame(void *opaque, const kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_PROPAGATES) add_if_it_leads_on(opaque, frame->propagation);
}

static void add_pairs(kvo_open_links *open, const kvo_thread *thread) {
  KVO_LOCKED(&kvo_pairs_lock);
  for (const kvo_open_pair *pair = thread->pairs; pair; pair = pair->next_of_thread)
    add_if_it_leads_on(open, pair->propagation);
}

static bool add_link(kvo_open_links *open, kvo_link *link) {
  if (open->count == open->capacity) {
    kvo_open_link *larger =
        kvo_grow(open->links, open->count, open->count + 1, sizeof *larger, &open->capacity);
    if (!larger) return false;
    open->links = larger;
  }
  kvo_registration_hold(&link->entry);
  open->links[open->count++] = (kvo_open_link){.link = link};
  return true;
}

static void add_links_locked(kvo_open_links *open, kvo_observers observers) {
  if (!observers || kvo_observers_is_seat(observers)) return;
  bool is_list = kvo_observers_is_list(observers);
  kvo_list *list = is_list ? kvo_observers_list(observers) : NULL;
  for (uint32_t i = 0; i < (list ? list->count : 1); i++) {
    kvo_registration *entry = list ? list->items[i] : kvo_observers_registration(observers);
    kvo_link *link = entry && entry->state == KVO_LIVE ? kvo_link_of(entry) : NULL;
    if (link && !kvo_link_is_last(link)) (void)add_link(open, link);
  }
}

static kvo_open_path *find_path(const kvo_open_links *open, const kvo_derivation *path) {
  for (size_t i = 0; i < open->path_count; i++)
    if (open->paths[i].path == path) return &open->paths[i];
  return NULL;
}

static void add_path(kvo_open_links *open, kvo_derivation *path) {
  if (path->route || find_path(open, path)) return;
  if (open->path_count == open->path_capacity) {
    kvo_open_path *larger = kvo_grow(open->paths, open->path_count, open->path_count + 1,
        sizeof *larger, &open->path_capacity);
    if (!larger) return;
    open->paths = larger;
  }
  open->paths[open->path_count++] = (kvo_open_path){.path = kvo_derivation_retain(path)};
}

static void add_paths(kvo_open_links *open, const kvo_recipients *before) {
  for (uint32_t i = 0; i < before->member_count; i++)
    if (before->members[i].path) add_path(open, before->members[i].path);
}

static void add_links(kvo_open_links *open) {
  KVO_LOCKED(&kvo_graph_lock);
  for (size_t i = 0; i < open->outer_count; i++) {
    const kvo_recipients *before = &open->outer[i]->before;
    add_paths(open, before);
    for (uint32_t j = 0; j < before->affected_count; j++) {
      const kvo_affected *changed = &before->affected[j];
      KVO_LOCKED_OBJECTS(changed->object, NULL);
      add_links_locked(open, kvo_object_observers_locked(changed->object, changed->id));
    }
  }
}

static void find(void *opaque) {
  kvo_open_links *open = opaque;
  for (size_t i = 0; i < open->count; i++)
    open->links[i].is_read = kvo_link_read(open->links[i].link, &open->links[i].targets);
  for (size_t i = 0; i < open->path_count; i++)
    open->paths[i].is_read = kvo_derivation_read(open->paths[i].path, &open->paths[i].reads);
}

static void end_finding(void *opaque) {
  is_finding = false;
  kvo_open_links_destroy(opaque);
}

void kvo_open_links_find_nested(const kvo_frame *frame, kvo_open_links *open) {
  if (is_finding) return;
  kvo_thread_visit_open(frame->thread, frame, add_frame, open);
  if (frame->thread->pairs) add_pairs(open, frame->thread);
  if (!open->outer_count) return;
  add_links(open);
  is_finding = true;
  kvo_unwinding(find, end_finding, open);
  is_finding = false;
}

void kvo_open_links_destroy(kvo_open_links *open) {
  for (size_t i = 0; i < open->count; i++) {
    kvo_targets_destroy(&open->links[i].targets);
    kvo_registration_let_go(&open->links[i].link->entry);
  }
  for (size_t i = 0; i < open->path_count; i++) {
    kvo_reads_destroy(&open->paths[i].reads);
    kvo_derivation_release(open->paths[i].path);
  }
  for (size_t i = 0; i < open->outer_count; i++) kvo_propagation_release(open->outer[i]);
  kvo_free(open->paths);
  kvo_free(open->links);
  kvo_free(open->outer);
  *open = (kvo_open_links){0};
}

// MARK: What has been left

static bool leads_to(const kvo_targets *targets, const kvo_object *object) {
  for (size_t i = 0; i < targets->count; i++)
    if (targets->objects[i] == object) return true;
  return false;
}

static bool is_left_by(const kvo_open_links *open, const kvo_link *link) {
  for (size_t i = 0; i < open->count; i++)
    if (open->links[i].link == link->parent && open->links[i].is_read)
      return !leads_to(&open->links[i].targets, link->entry.object);
  return false;
}

bool kvo_open_links_have_left(const kvo_open_links *open, const kvo_link *link) {
  for (; link->parent; link = link->parent)
    if (is_left_by(open, link)) return true;
  return false;
}

static bool reaches(const kvo_recipients *recipients, const kvo_derivation *path) {
  for (uint32_t i = 0; i < recipients->member_count; i++)
    if (recipients->members[i].path == path) return true;
  return false;
}

static bool is_open_path(const kvo_open_links *open, const kvo_derivation *path) {
  for (size_t i = 0; i < open->outer_count; i++)
    if (reaches(&open->outer[i]->before, path)) return true;
  return false;
}

static bool come_by(const kvo_reads *reads, const kvo_object *object) {
  for (size_t i = 0; i < reads->count; i++)
    if (reads->items[i].object == object) return true;
  return false;
}

bool kvo_open_links_have_left_path(const kvo_open_links *open, const kvo_derivation *path,
    const kvo_object *object) {
  if (!is_open_path(open, path)) return false;
  if (path->route) return !kvo_route_leads_to(path->route, object);
  const kvo_open_path *found = find_path(open, path);
  return found && found->is_read && !come_by(&found->reads, object);
}
