// Wiring: following a key path from object to object, and moving along when a link changes.
//
// Where a link leads is found by reading its key, which is the user's code and runs without a
// lock; what is read is installed under the graph lock afterwards. Two threads may follow one link
// at once: each takes a ticket before it reads, and what was read by a later ticket is not replaced
// by what an earlier one read, who then reads once more. What is found may be derived, or lead on; that is put on a stack of
// tasks rather than recursed into, so that a path or a chain of derived keys may be as long as
// memory allows. A derivation that another thread is still wiring is gone through once more by
// whoever needs it. The stack works off what a recursion would do, in its order: a key's derivation
// first, then what the key leads to. A tracked key is read as well (tracking.c), and stands at what
// it read.
#include "kvo_collection_internal.h"
#include "kvo_graph.h"
#include "kvo_lock.h"
#include "kvo_log.h"
#include "kvo_memory.h"
#include "kvo_thread.h"
#include "kvo_type.h"

#include <stdlib.h>
#include <string.h>

static uint32_t first_key(const kvo_key_path *path) {
  return path->components[0].op == KVO_OP_NONE ? 0 : kvo_key_path_next_key(path, 0);
}

static kvo_link *make_link(kvo_chain *chain, uint32_t depth, const kvo_stand *stand) {
  kvo_link *link = kvo_alloc_zeroed(sizeof *link);
  if (!link) return NULL;
  link->entry = (kvo_registration){.references = 2, // its table's, and that of whoever makes it
      .options = KVO_LINKED,
      .object = stand->object,
      .id = stand->accessors->id,
      .key_path = chain->path->text};
  kvo_link_init(link, chain, depth);
  return link;
}

static void free_link(kvo_link *link) {
  kvo_registration_let_go(&link->entry);
  kvo_registration_let_go(&link->entry);
}

// MARK: Tasks

typedef struct task {
  enum { WIRE_CHAIN, FOLLOW_LINK, ENSURE_LINK, STAND, TRACK } kind;
  bool thorough;              // what stands further along already is gone through as well
  kvo_chain *chain;           // to be wired; a reference
  kvo_link *link;             // to be followed, or the parent of what is to stand; held
  kvo_object *object;         // the chain's root, or where to stand; a reference
  kvo_derivation *derivation; // to be tracked; a reference
  uint64_t ticket;            // by which it was found where to stand; how often it was tracked
} task;

typedef struct {
  task *tasks;
  size_t count, capacity;
  task current;
  kvo_reads reads; // of the key that is being tracked
  kvo_retired *retired;
  kvo_derivation *own;      // those that this one has begun to wire, by `next_own`; references
  kvo_derivation **foreign; // those that another thread is at, gone through here; references
  size_t foreign_count, foreign_capacity;
} wiring;

static bool make_room(wiring *wiring, size_t more) {
  if (wiring->count + more <= wiring->capacity) return true;
  size_t capacity =
      wiring->capacity * 2 > wiring->count + more ? wiring->capacity * 2 : wiring->count + more + 8;
  task *tasks = kvo_alloc(capacity * sizeof *tasks);
  if (!tasks) return false;
  if (wiring->count) memcpy(tasks, wiring->tasks, wiring->count * sizeof *tasks);
  kvo_free(wiring->tasks);
  wiring->tasks = tasks;
  wiring->capacity = capacity;
  return true;
}

static void push_follow(wiring *wiring, kvo_link *link, bool thorough) {
  if (kvo_link_is_last(link) || !make_room(wiring, 1)) return;
  kvo_registration_hold(&link->entry);
  wiring->tasks[wiring->count++] = (task){.kind = FOLLOW_LINK, .link = link, .thorough = thorough};
}

// Whoever comes upon a derivation that another thread is wiring goes through all of it as well, so
// that no change is missed once he returns: it does no harm twice. Once for each, since derived keys
// may depend on one another in a circle.
static bool goes_through_foreign_locked(wiring *wiring, kvo_derivation *derivation) {
  for (size_t i = 0; i < wiring->foreign_count; i++)
    if (wiring->foreign[i] == derivation) return false;
  if (wiring->foreign_count == wiring->foreign_capacity) {
    size_t capacity = wiring->foreign_capacity * 2 + 4;
    kvo_derivation **larger = kvo_alloc(capacity * sizeof *larger);
    if (!larger) return false;
    if (wiring->foreign_count)
      memcpy(larger, wiring->foreign, wiring->foreign_count * sizeof *larger);
    kvo_free(wiring->foreign);
    wiring->foreign = larger;
    wiring->foreign_capacity = capacity;
  }
  wiring->foreign[wiring->foreign_count++] = kvo_derivation_retain(derivation);
  return true;
}

static bool starts_wiring(wiring *wiring, kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  if (derivation->state == KVO_WIRED || derivation->wirer == wiring) return false;
  if (derivation->state == KVO_BEING_WIRED) return goes_through_foreign_locked(wiring, derivation);
  derivation->state = KVO_BEING_WIRED;
  derivation->wirer = wiring;
  derivation->next_own = wiring->own;
  wiring->own = kvo_derivation_retain(derivation);
  return true;
}

static void push_track(wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  if (!make_room(wiring, 1)) return;
  wiring->tasks[wiring->count++] =
      (task){.kind = TRACK, .derivation = kvo_derivation_retain(derivation), .ticket = again};
}

static void push_chains(wiring *wiring, kvo_derivation *derivation) {
  if (derivation->is_tracked) {
    push_track(wiring, derivation, 0);
    return;
  }
  if (!make_room(wiring, derivation->count)) return;
  for (uint32_t i = derivation->count; i-- > 0;) {
    kvo_chain_retain(derivation->chains[i]);
    kvo_object_retain(derivation->object);
    wiring->tasks[wiring->count++] =
        (task){.kind = WIRE_CHAIN, .chain = derivation->chains[i], .object = derivation->object};
  }
}

// What follows from standing at a key: pushed in the reverse of the order in which it is done. Ends
// the maker's reference.
static void push_consequences(wiring *wiring, kvo_link *link, kvo_stand *stand) {
  push_follow(wiring, link, false);
  if (stand->derivation && starts_wiring(wiring, stand->derivation))
    push_chains(wiring, stand->derivation);
  kvo_stand_settle(stand);
  kvo_registration_let_go(&link->entry);
}

// The derivation of the key where a link stands.
static kvo_derivation *derivation_at(const kvo_link *link) {
  KVO_LOCKED(&kvo_graph_lock);
  KVO_LOCKED_OBJECTS(link->entry.object, NULL);
  kvo_table *table = link->entry.state == KVO_LIVE ? link->entry.object->observations : NULL;
  kvo_cell *cell = table ? kvo_table_find(table, link->entry.id) : NULL;
  return cell && cell->derivation ? kvo_derivation_retain(cell->derivation) : NULL;
}

static void ensure(wiring *wiring, kvo_link *link) {
  push_follow(wiring, link, true);
  kvo_derivation *derivation = derivation_at(link);
  if (derivation && starts_wiring(wiring, derivation)) push_chains(wiring, derivation);
  kvo_derivation_release(derivation);
}

static void end_task(task *task) {
  if (task->chain) kvo_chain_release(task->chain);
  if (task->link) kvo_registration_let_go(&task->link->entry);
  if (task->object) kvo_object_release(task->object);
  kvo_derivation_release(task->derivation);
  *task = (struct task){0};
}

// MARK: Standing

// What can't be followed is told to the developer, once for each chain; the path counts as broken
// there.
static void report(kvo_chain *chain, const kvo_error *error) {
  if (__atomic_exchange_n(&chain->is_reported, true, __ATOMIC_RELAXED)) return;
  if (chain->derivation)
    kvo_misuse("\"%s\" of %s can't depend on \"%s\": %s", chain->accessors->key,
        chain->accessors->cls->name, chain->path->text, error->message);
  else
    kvo_misuse("\"%s\" of %s can't be observed further: %s", chain->path->text,
        chain->accessors->cls->name, error->message);
}

static bool prepare(kvo_chain *chain, kvo_object *object, uint32_t depth, kvo_stand *stand) {
  kvo_error error;
  if (!kvo_stand_prepare(object, chain->path->components[depth].key, stand, &error)) return true;
  report(chain, &error);
  return false;
}

// Places a chain's first link, unless another thread has, or the chain has ended.
static bool place_first(kvo_chain *chain, kvo_link *link, kvo_stand *stand, kvo_retired **retired) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->ended || chain->first) return false;
  if (!kvo_registration_place(&link->entry, stand, retired)) return false;
  chain->first = link;
  return true;
}

static kvo_link *hold_first(kvo_chain *chain) {
  KVO_LOCKED(&kvo_graph_lock);
  if (chain->first) kvo_registration_hold(&chain->first->entry);
  return chain->first;
}

static void wire_chain(wiring *wiring, kvo_chain *chain, kvo_object *root) {
  kvo_link *first = hold_first(chain);
  if (first) {
    ensure(wiring, first);
    kvo_registration_let_go(&first->entry);
    return;
  }
  kvo_stand stand;
  uint32_t depth = first_key(chain->path);
  if (depth == chain->path->count || !prepare(chain, root, depth, &stand)) return;
  kvo_link *link = make_link(chain, depth, &stand);
  if (link && place_first(chain, link, &stand, &wiring->retired)) {
    push_consequences(wiring, link, &stand);
    return;
  }
  if (link) free_link(link);
  kvo_stand_discard(&stand);
}

// Another thread read the link later, but may not be done yet: this one follows it once more itself,
// so that nothing is missed once it returns.
static bool is_superseded_locked(wiring *wiring, kvo_link *link, bool is_newer) {
  if (is_newer) push_follow(wiring, link, false);
  return is_newer;
}

static bool place_child(wiring *wiring, kvo_link *parent, uint64_t ticket, kvo_link *child,
    kvo_stand *stand) {
  KVO_LOCKED(&kvo_graph_lock);
  if (parent->entry.state != KVO_LIVE) return false;
  if (is_superseded_locked(wiring, parent, parent->installed != ticket)) return false;
  child->parent = parent; // before the entry can be seen: it tells whose it is
  if (!kvo_registration_place(&child->entry, stand, &wiring->retired)) return false;
  kvo_link_add_child_locked(parent, child);
  return true;
}

static void stand_at(wiring *wiring, kvo_link *parent, uint64_t ticket, kvo_object *object) {
  kvo_stand stand;
  uint32_t depth = kvo_key_path_next_key(parent->chain->path, parent->depth);
  if (!prepare(parent->chain, object, depth, &stand)) return;
  kvo_link *child = make_link(parent->chain, depth, &stand);
  if (child && place_child(wiring, parent, ticket, child, &stand)) {
    push_consequences(wiring, child, &stand);
    return;
  }
  if (child) free_link(child);
  kvo_stand_discard(&stand);
}

// MARK: Following

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
  report(link->chain, &error);
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
  if (accessors) kvo_accessors_read(accessors, object, &value);
  kvo_value_unwrap(&value);
  targets found = targets_of(link, &value);
  kvo_value_destroy(&value);
  return found;
}

// Holds the link's object, if it lives, and takes a ticket.
static kvo_object *begin_following(kvo_link *link, uint64_t *ticket) {
  KVO_LOCKED(&kvo_graph_lock);
  if (link->entry.state != KVO_LIVE) return NULL;
  kvo_object *object = link->entry.object;
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

static void push_children_locked(wiring *wiring, kvo_link *link) {
  for (kvo_link *child = link->children; child; child = child->next) {
    if (!make_room(wiring, 1)) return;
    kvo_registration_hold(&child->entry);
    wiring->tasks[wiring->count++] = (task){.kind = ENSURE_LINK, .link = child};
  }
}

static bool install(wiring *wiring, kvo_link *link, uint64_t ticket, uintptr_t *sorted,
    size_t count, bool thorough) {
  KVO_LOCKED(&kvo_graph_lock);
  if (link->entry.state != KVO_LIVE) return false;
  if (is_superseded_locked(wiring, link, ticket <= link->installed)) return false;
  link->installed = ticket;
  keep_children_locked(link, sorted, count, &wiring->retired);
  if (thorough) push_children_locked(wiring, link);
  return true;
}

static void push_stand(wiring *wiring, kvo_link *link, uint64_t ticket, kvo_object *object) {
  kvo_registration_hold(&link->entry);
  wiring->tasks[wiring->count++] =
      (task){.kind = STAND, .link = link, .object = kvo_object_retain(object), .ticket = ticket};
}

// The first target is to be worked off first, so it is pushed last.
static void push_missing(wiring *wiring, kvo_link *link, uint64_t ticket, const targets *found,
    uintptr_t *sorted, size_t count) {
  if (!make_room(wiring, count)) return;
  size_t start = wiring->count;
  for (size_t i = 0; i < found->count; i++)
    if (take(sorted, count, found->objects[i])) push_stand(wiring, link, ticket, found->objects[i]);
  for (size_t low = start, high = wiring->count; low + 1 < high; low++) {
    task swapped = wiring->tasks[low];
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

static void follow(wiring *wiring, kvo_link *link, bool thorough) {
  uint64_t ticket;
  kvo_object *object = begin_following(link, &ticket);
  if (!object) return;
  targets found = read_held(link, object);
  uintptr_t *sorted = kvo_alloc(found.count * sizeof *sorted + 1);
  size_t count = sorted ? sort_once(sorted, &found) : 0;
  if (sorted && install(wiring, link, ticket, sorted, count, thorough))
    push_missing(wiring, link, ticket, &found, sorted, count);
  kvo_free(sorted);
  for (size_t i = 0; i < found.count; i++) kvo_object_release(found.objects[i]);
  kvo_free(found.objects);
}

// MARK: Tracking

static bool is_unwired(const kvo_chain *chain) { return !chain->first && !chain->ended; }

static bool has_unwired(const kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unwired(derivation->chains[i])) return true;
  return false;
}

static void push_wire(wiring *wiring, kvo_chain *chain) {
  if (!make_room(wiring, 1) || !chain->operations->try_retain(chain->root)) return;
  kvo_chain_retain(chain);
  wiring->tasks[wiring->count++] =
      (task){.kind = WIRE_CHAIN, .chain = chain, .object = chain->root};
}

enum { MOST_AGAIN = 3 };

// Where there is no link yet: another thread may have got no further. What is set between being read
// and being stood at is seen by reading once more, when all are in place; several times only where
// other threads keep setting.
static void push_unwired(wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  KVO_LOCKED(&kvo_graph_lock);
  if (!has_unwired(derivation)) return;
  if (again < MOST_AGAIN) push_track(wiring, derivation, again + 1);
  for (uint32_t i = 0; i < derivation->count; i++)
    if (is_unwired(derivation->chains[i])) push_wire(wiring, derivation->chains[i]);
}

// Not for objects that the getter made for itself, and that have died since.
static bool has_new_links(const kvo_derivation *derivation) {
  KVO_LOCKED(&kvo_graph_lock);
  bool found = false;
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *chain = derivation->chains[i];
    found = found || (chain->is_new && chain->first);
    chain->is_new = false;
  }
  return found;
}

static void track(wiring *wiring, kvo_derivation *derivation, uint64_t again) {
  if (again && !has_new_links(derivation)) return;
  kvo_tracked result = kvo_derivation_track(derivation, &wiring->reads, &wiring->retired);
  if (result == KVO_TRACKED) push_unwired(wiring, derivation, again);
  else if (result == KVO_TRACKED_LATE) push_track(wiring, derivation, again);
  kvo_reads_destroy(&wiring->reads);
}

static void run_task(wiring *wiring, const task *task) {
  switch (task->kind) {
  case WIRE_CHAIN: wire_chain(wiring, task->chain, task->object); break;
  case FOLLOW_LINK: follow(wiring, task->link, task->thorough); break;
  case ENSURE_LINK: ensure(wiring, task->link); break;
  case STAND: stand_at(wiring, task->link, task->ticket, task->object); break;
  case TRACK: track(wiring, task->derivation, task->ticket); break;
  }
}

static void run_tasks(void *opaque) {
  wiring *wiring = opaque;
  while (wiring->count) {
    wiring->current = wiring->tasks[--wiring->count];
    run_task(wiring, &wiring->current);
    end_task(&wiring->current);
  }
}

static kvo_derivation *take_own(wiring *wiring) {
  KVO_LOCKED(&kvo_graph_lock);
  kvo_derivation *own = wiring->own;
  if (!own) return NULL;
  wiring->own = own->next_own;
  own->state = KVO_WIRED;
  own->wirer = NULL;
  return own;
}

static void end_derivations(wiring *wiring) {
  for (kvo_derivation *own; (own = take_own(wiring));) kvo_derivation_release(own);
  for (size_t i = 0; i < wiring->foreign_count; i++) kvo_derivation_release(wiring->foreign[i]);
  kvo_free(wiring->foreign);
}

// Also where a getter or hook throws.
static void end_wiring(void *opaque) {
  wiring *wiring = opaque;
  end_task(&wiring->current);
  while (wiring->count) end_task(&wiring->tasks[--wiring->count]);
  kvo_free(wiring->tasks);
  kvo_reads_destroy(&wiring->reads);
  end_derivations(wiring);
  kvo_retire(wiring->retired);
}

static void work_off(wiring *wiring) {
  kvo_unwinding(run_tasks, end_wiring, wiring);
  end_wiring(wiring);
}

void kvo_wire(kvo_link *first, kvo_derivation *derivation) {
  wiring wiring = {0};
  if (first) push_follow(&wiring, first, false);
  if (derivation && starts_wiring(&wiring, derivation)) push_chains(&wiring, derivation);
  kvo_derivation_release(derivation);
  work_off(&wiring);
}

void kvo_link_follow(kvo_link *link) {
  wiring wiring = {0};
  push_follow(&wiring, link, false);
  work_off(&wiring);
}

void kvo_derivation_follow(kvo_derivation *derivation) {
  wiring wiring = {0};
  push_track(&wiring, derivation, 0);
  work_off(&wiring);
}
