// `KVO_DISTINCT`: a change is delivered only if its new value differs from the one last delivered to the observer, or,
// before the first delivery, from the value at registration (D3).
//
// Each such registration stores that value (`kvo_last`). A change compares just before it calls the observer, and
// stores its value if it calls. Changes may overlap: those of several threads, or one that an observer makes while
// others have yet to be called. So each takes a ticket, a greater number each time, between its store and its reading
// of the new value. A change is withheld if one with a later ticket has been compared already, because its own value
// was read earlier. The change with the last ticket has read what all others have stored, and is compared last. So in
// the end the stored value is the property's. If elements are delivered, no value is stored, but the ticket is.
// (Tests/Models/distinct.pml)
//
// Comparing may call the program's code, so no lock is held. The change compares with a stored value that it retains,
// and stores its own under the object's lock if that one is still in place. Otherwise it compares again. Two values of
// the same plain type of C are compared and exchanged at once, under the lock.
//
// An object is compared by identity. Its reference is unowned, so it is not kept alive, and its address is not used
// again. A value that can't be compared is not kept.
#include "tables/kvo_distinct.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "objects/kvo_class_internal.h"
#include "tables/kvo_group.h"
#include "values/kvo_collection_internal.h"

typedef struct kvo_known {
  uint32_t references;    // atomic
  struct kvo_known *next; // the next one that was taken from a registration that has ended
  kvo_value value;
  kvo_object *object; // unless NULL, the value is this object
  const kvo_class_operations *operations;
} kvo_known;

static uint64_t last_ticket; // atomic

uint64_t kvo_distinct_take_ticket(void) {
  if (!kvo_process_has_threads()) return ++last_ticket;
  return __atomic_add_fetch(&last_ticket, 1, __ATOMIC_SEQ_CST);
}

static kvo_last *last_of(kvo_registration *registration) {
  if (!(registration->options & KVO_GROUPED)) return &((kvo_counts *)(registration + 1))->last;
  kvo_group *group = registration->group;
  return &kvo_group_lasts(group)[registration - group->registrations];
}

// MARK: Stored values

// The object, if the value is one. A collection counts as a value, since it was made for the change.
static kvo_object *object_of(const kvo_value *value) {
  kvo_object *object = kvo_value_get_object(value);
  return object && !kvo_class_of(object)->is_collection ? object : NULL;
}

static bool is_comparable(const kvo_value *value) {
  return !value->type || value->type->equal || object_of(value);
}

static kvo_known *make_known(const kvo_value *value) {
  kvo_known *known = kvo_alloc(sizeof *known);
  if (!known) return NULL;
  *known = (kvo_known){.references = 1, .object = object_of(value)};
  if (known->object) {
    known->operations = kvo_class_of(known->object)->operations;
    known->operations->unowned_retain(known->object);
  } else if (kvo_value_copy(&known->value, value)) {
    kvo_free(known);
    return NULL;
  }
  kvo_value_detach(&known->value);
  return known;
}

static void release_known(kvo_known *known) {
  if (!known || __atomic_sub_fetch(&known->references, 1, __ATOMIC_ACQ_REL)) return;
  if (known->object) known->operations->unowned_release(known->object);
  kvo_value value = known->value;
  kvo_free(known);
  kvo_value_destroy(&value);
}

// Takes the stored value away, and stores the ticket of the change that does so.
static kvo_known *take_away(kvo_registration *registration, uint64_t ticket) {
  KVO_LOCKED_OBJECTS(registration->object, NULL);
  kvo_last *last = last_of(registration);
  kvo_known *known = last->known;
  last->known = NULL;
  if (last->ticket < ticket) last->ticket = ticket;
  return known;
}

// MARK: Plain values

// Whether the value can be copied and compared under a lock: without the program's code and without an allocation.
static bool distinct_is_plain(const kvo_value *value) {
  const kvo_type *type = value->type;
  return type && !type->copy && type->kind != KVO_KIND_BINDING &&
         type->size <= KVO_VALUE_INLINE_SIZE && type->alignment <= _Alignof(kvo_value);
}

// Compares the new value with the stored one under the lock, and replaces that if they differ. False, with nothing
// done, if they must be compared without a lock.
static bool exchange_plain(kvo_registration *registration, uint64_t ticket, const kvo_value *new,
    bool *is_distinct) {
  KVO_LOCKED_OBJECTS(registration->object, NULL);
  kvo_last *last = last_of(registration);
  kvo_known *known = last->known;
  bool is_shared = known && __atomic_load_n(&known->references, __ATOMIC_ACQUIRE) != 1;
  if (!known || is_shared || known->value.type != new->type || !distinct_is_plain(new))
    return false;
  bool is_overtaken = ticket < last->ticket;
  *is_distinct = !is_overtaken && !kvo_value_equal(&known->value, new);
  if (!is_overtaken) last->ticket = ticket;
  if (*is_distinct) known->value = *new;
  return true;
}

// MARK: Comparing

typedef struct {
  kvo_registration *registration;
  uint64_t ticket;
  const kvo_value *new;
  kvo_known *known; // the stored value, retained while it is compared with
  kvo_known *made;  // the new value, to be stored; later the value that it has replaced
  bool is_distinct;
} comparison;

// At the end of a key path, values of several types may follow each other. A binding may compare its own ones.
static bool values_equal(const kvo_value *known, const kvo_value *new) {
  const kvo_type *type = known->type, *other = new->type;
  bool is_binding_asked = type != other && type && type->operations &&
                          type->operations->equal_other && other && other->kind == KVO_KIND_BINDING;
  return is_binding_asked ? type->operations->equal_other(type, kvo_value_bytes(known), new)
                          : kvo_value_equal(known, new);
}

static bool equals_known(const comparison *comparison) {
  const kvo_known *known = comparison->known;
  if (!known) return false;
  const kvo_object *object = object_of(comparison->new);
  if (object || known->object) return object == known->object;
  return values_equal(&known->value, comparison->new);
}

static void release_compared(comparison *comparison) {
  kvo_known *known = comparison->known;
  comparison->known = NULL;
  release_known(known);
}

// False if a change with a greater ticket has been compared.
static bool take_known(comparison *comparison) {
  KVO_LOCKED_OBJECTS(comparison->registration->object, NULL);
  const kvo_last *last = last_of(comparison->registration);
  if (comparison->ticket < last->ticket) return false;
  comparison->known = last->known;
  if (last->known) __atomic_add_fetch(&last->known->references, 1, __ATOMIC_RELAXED);
  return true;
}

// False if the value that was compared with has been replaced.
static bool distinct_store(comparison *comparison) {
  KVO_LOCKED_OBJECTS(comparison->registration->object, NULL);
  kvo_last *last = last_of(comparison->registration);
  if (last->known != comparison->known || comparison->ticket < last->ticket) return false;
  last->ticket = comparison->ticket;
  if (!comparison->is_distinct) return true;
  kvo_known *replaced = last->known;
  last->known = comparison->made;
  comparison->made = replaced;
  return true;
}

static void distinct_compare(void *opaque) {
  comparison *comparison = opaque;
  while (take_known(comparison)) {
    comparison->is_distinct = !equals_known(comparison);
    bool keeps = comparison->is_distinct && !comparison->made && is_comparable(comparison->new);
    if (keeps) comparison->made = make_known(comparison->new);
    if (distinct_store(comparison)) return;
    release_compared(comparison);
  }
  comparison->is_distinct = false;
}

static void distinct_end_comparison(void *opaque) {
  comparison *comparison = opaque;
  release_compared(comparison);
  release_known(comparison->made);
}

// Without memory, values count as different and none is stored, so no observer misses a change.
bool kvo_distinct_admits(kvo_registration *registration, uint64_t ticket, const kvo_value *new) {
  if (!new) {
    release_known(take_away(registration, ticket));
    return true;
  }
  bool is_distinct;
  if (exchange_plain(registration, ticket, new, &is_distinct)) return is_distinct;
  uint64_t shortages = kvo_shortages;
  comparison comparison = {.registration = registration, .ticket = ticket, .new = new};
  kvo_finally(distinct_compare, distinct_end_comparison, &comparison);
  kvo_shortages = shortages;
  return comparison.is_distinct;
}

// MARK: Beginning and end

// Stores the first value, unless a change has been compared already and the value is not about to be delivered. The
// caller releases `made`: the value that was replaced, or the one not stored. False if a change was compared whose
// value may differ from the one that is stored or delivered now.
static bool store_first(kvo_registration *registration, uint64_t ticket, bool is_initial,
    kvo_known **made) {
  KVO_LOCKED_OBJECTS(registration->object, NULL);
  kvo_last *last = last_of(registration);
  if (!is_initial && last->ticket) return false;
  bool is_newest = ticket >= last->ticket;
  kvo_known *replaced = last->known;
  *last = (kvo_last){*made, ticket};
  *made = replaced;
  return is_newest;
}

bool kvo_distinct_begin(kvo_registration *registration, uint64_t ticket, const kvo_value *value,
    bool is_initial) {
  uint64_t shortages = kvo_shortages;
  kvo_known *made = is_comparable(value) ? make_known(value) : NULL;
  kvo_shortages = shortages;
  bool is_stored = store_first(registration, ticket, is_initial, &made);
  release_known(made);
  return is_stored;
}

void kvo_distinct_take(kvo_registration *registration, kvo_known **taken) {
  kvo_known *known = take_away(registration, 0);
  if (!known) return;
  known->next = *taken;
  *taken = known;
}

static void release_taken(void *opaque) {
  kvo_known **taken = opaque;
  for (kvo_known *known; (known = *taken);) {
    *taken = known->next;
    release_known(known);
  }
}

void kvo_distinct_release(kvo_known *taken) { kvo_until_done(release_taken, &taken); }
