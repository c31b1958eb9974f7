// Routes: how a tracked key path of stored properties was read.
//
// Such a path reads one property of each object along it, so where it leads depends only on the references stored
// there. Therefore it can be seen from memory whether a new reading would read the same properties. For each property
// but the last, a route has the address where it is stored and the reference that was found there. While all
// addresses hold the same references, a change of the last property needs no tracking. The path's observer is
// notified by single_recipient.c, or by propagation.c without reading the path again.
//
// A route is always checked against the current objects; it does not depend on the reading that built it. The caller
// retains the first object, and each reference that is still in its place keeps the next one. The addresses are read
// as the path's getters would read them, by a thread that sets a property of the path. The route holds the memory of
// the objects, so that an address can be read even if it holds no property any more. A class may declare other keys
// for properties of the path, so a route is valid only while none of its classes has changed.
#include "graph/kvo_route.h"

#include "base/kvo_memory.h"

static bool is_path(const kvo_derivation *derivation, const kvo_reads *reads) {
  const kvo_sequence *made = reads->made;
  if (!made || !made->count || made->count != reads->path_length) return false;
  for (size_t i = 0; i < made->count; i++)
    if (!made->reads[i].place) return false;
  return made->reads[0].object == derivation->object;
}

static uint32_t generation_of(const kvo_class *cls) {
  return __atomic_load_n(&cls->generation, __ATOMIC_ACQUIRE);
}

static kvo_step make_step(const kvo_read *read) {
  const kvo_class *cls = kvo_class_of(read->object);
  read->operations->unowned_retain(read->object);
  return (kvo_step){.place = read->place,
      .object = read->object,
      .operations = read->operations,
      .cls = cls,
      .generation = generation_of(cls)};
}

static kvo_route *make(const kvo_derivation *derivation, const kvo_reads *reads) {
  const kvo_sequence *made = reads->made;
  kvo_route *route = kvo_alloc(sizeof *route + made->count * sizeof *route->steps);
  if (!route) return NULL;
  *route = (kvo_route){
      .references = 1, .count = (uint32_t)made->count, .accessors = derivation->accessors};
  for (size_t i = 0; i < made->count; i++) {
    route->steps[i] = make_step(&made->reads[i]);
    if (i)
      route->steps[i - 1].reference =
          (uintptr_t)made->reads[i].object - (uintptr_t)reads->reference_offset;
  }
  return route;
}

// NULL if memory is out or a class has changed since the reading began: then the path is read again after each
// change.
kvo_route *kvo_route_make(const kvo_derivation *derivation, const kvo_reads *reads) {
  uint64_t shortages = kvo_shortages;
  kvo_route *route = is_path(derivation, reads) ? make(derivation, reads) : NULL;
  kvo_shortages = shortages;
  if (reads->epoch == kvo_classes_now()) return route;
  kvo_route_release(route);
  return NULL;
}

kvo_route *kvo_route_retain(kvo_route *route) {
  __atomic_fetch_add(&route->references, 1, __ATOMIC_RELAXED);
  return route;
}

void kvo_route_release(kvo_route *route) {
  if (!route || __atomic_sub_fetch(&route->references, 1, __ATOMIC_ACQ_REL)) return;
  for (uint32_t i = 0; i < route->count; i++)
    route->steps[i].operations->unowned_release(route->steps[i].object);
  kvo_free(route);
}

// A class that changes from now on has a later generation.
void kvo_route_renew(kvo_route *route, uint64_t epoch) {
  for (uint32_t i = 0; i < route->count; i++) {
    kvo_step *step = &route->steps[i];
    uint32_t generation = generation_of(step->cls);
    if (epoch != kvo_classes_now()) return;
    __atomic_store_n(&step->generation, generation, __ATOMIC_RELEASE);
  }
}

static bool is_up_to_date(const kvo_step *step) {
  return __atomic_load_n(&step->generation, __ATOMIC_ACQUIRE) == generation_of(step->cls);
}

static bool leads_on(const kvo_step *step) {
  return __atomic_load_n(step->place, __ATOMIC_RELAXED) == step->reference;
}

bool kvo_route_is_current(const kvo_route *route) {
  for (uint32_t i = 0; i < route->count; i++) {
    const kvo_step *step = &route->steps[i];
    if (!is_up_to_date(step) || (i + 1 < route->count && !leads_on(step))) return false;
  }
  return true;
}
