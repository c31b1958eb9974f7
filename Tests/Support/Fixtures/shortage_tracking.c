// Keys affected by what their getters read.
#include "shortage_steps.h"
#include "shortage_wards.h"

static kvo_object *header(world *world, int i) { return &world_ward(world, i)->header; }

static void set_levels(world *world) {
  for (int i = 0; i < WARDS; i++)
    if (world->wards[i]) ward_set_level(world_ward(world, i), 30 + i);
}

static void change_wards(world *world) {
  set_levels(world);
  ward_set_next(world_ward(world, 1), world_ward(world, 3));
  set_levels(world);
  ward_set_next(world_ward(world, 0), world_ward(world, 3));
  set_levels(world);
  ward_set_next(world_ward(world, 0), NULL);
  set_levels(world);
}

static void change_wards_anew(world *world) {
  ward_set_next(world_ward(world, 0), world_ward(world, 2));
  world->log[0] = 0;
  change_wards(world);
}

#define OBSERVE(name, key_path, options)                                     \
  static kvo_status observe_##name(world *world) {                           \
    return world_observe_object(world, header(world, 0), key_path, options); \
  }

OBSERVE(sum, "sum", KVO_NEW | KVO_OLD)
OBSERVE(sum_initially, "sum", KVO_NEW | KVO_INITIAL | KVO_PRIOR)
OBSERVE(tracked_path, "nextLevel", KVO_NEW | KVO_OLD)
OBSERVE(next_sum, "nextSum", KVO_NEW | KVO_OLD)
OBSERVE(along, "next.sum", KVO_NEW | KVO_OLD)

static kvo_status observe_group(world *world) {
  static const char *const keys[] = {"sum", "level", "nextSum"};
  kvo_status status = kvo_add_callback_for_keys(header(world, 0), keys, 3, KVO_NEW, log_key, world,
      0, end_group, &world->handles[world->handle_count], &world->error);
  if (!status) world->handle_count++, world->begun++;
  return status;
}

static void watch_sum(world *world) {
  world_make_wards(world);
  must(observe_sum(world));
}

static void watch_tracked(world *world) {
  watch_sum(world);
  must(observe_tracked_path(world));
  must(observe_next_sum(world));
}

static void watch_along(world *world) {
  watch_tracked(world);
  must(observe_along(world));
}

static kvo_status set_level(world *world) {
  ward_set_level(world_ward(world, 0), 5);
  return KVO_OK;
}

static kvo_status set_next_level(world *world) {
  ward_set_level(world_ward(world, 1), 5);
  return KVO_OK;
}

static kvo_status set_far_level(world *world) {
  ward_set_level(world_ward(world, 2), 5);
  return KVO_OK;
}

static kvo_status relink_wards(world *world) {
  ward_set_next(world_ward(world, 0), world_ward(world, 3));
  return KVO_OK;
}

static kvo_status relink_further(world *world) {
  ward_set_next(world_ward(world, 1), world_ward(world, 3));
  return KVO_OK;
}

static kvo_status change_by_hand(world *world) {
  kvo_will_change(header(world, 0), "next");
  kvo_did_change(header(world, 0), "next");
  return KVO_OK;
}

static kvo_status declare(world *world) {
  return kvo_class_add_dependency((kvo_class *)(uintptr_t)world_ward(world, 0)->cls, "sum", "name",
      &world->error);
}

static void set_levels_anew(world *world) {
  ward_set_next(world_ward(world, 1), world_ward(world, 2));
  ward_set_next(world_ward(world, 0), world_ward(world, 1));
  world->log[0] = 0;
  change_wards(world);
}

#define TRACKING(kind, set_up, act, go_on, key) SCENARIO("tracking", kind, set_up, act, go_on, key)
#define REGISTRATION(set_up, act, key) TRACKING(ACT_REPORTS, set_up, act, change_wards, key)
#define CHANGE(set_up, act, go_on) TRACKING(ACT_TELLS, set_up, act, go_on, NULL)

SCENARIO_TABLE(shortage_tracking, REGISTRATION(world_make_wards, observe_sum, "sum"),
    REGISTRATION(world_make_wards, observe_sum_initially, "sum"),
    REGISTRATION(world_make_wards, observe_tracked_path, "nextLevel"),
    REGISTRATION(world_make_wards, observe_next_sum, "nextSum"),
    REGISTRATION(world_make_wards, observe_along, ""),
    REGISTRATION(world_make_wards, observe_group, NULL),
    REGISTRATION(watch_sum, observe_sum, "sum"),
    REGISTRATION(watch_sum, observe_next_sum, "nextSum"),
    REGISTRATION(watch_tracked, observe_along, ""), CHANGE(watch_sum, set_level, set_levels_anew),
    CHANGE(watch_sum, set_next_level, set_levels_anew),
    CHANGE(watch_sum, relink_wards, change_wards_anew),
    CHANGE(watch_along, set_next_level, set_levels_anew),
    CHANGE(watch_along, set_far_level, set_levels_anew),
    CHANGE(watch_along, relink_wards, set_levels_anew),
    CHANGE(watch_along, relink_further, set_levels_anew),
    CHANGE(watch_tracked, change_by_hand, set_levels_anew),
    REGISTRATION(watch_along, declare, "sum"), CHANGE(watch_tracked, forget, set_levels_anew),
    TRACKING(ACT_MUST, watch_along, release_handles, change_wards, NULL),
    TRACKING(ACT_MUST, watch_along, kill_observed, set_levels, NULL));
