// A forked child's use of the objects that it has inherited. The parent's must be unaffected.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fixture_stress.h"
#include "shortage_steps.h"

// A child's result.
typedef struct {
  kvo_status status;
  kvo_error error;
  fixture_memory_limit limit;
  bool notified; // of a misuse report
  char log[sizeof((world *)0)->log];
} reply;

typedef struct {
  world *world;
  kvo_status (*act)(world *);
  fixture_memory_limit limit;
  reply *reply;
} errand;

// Runs in the child. The calls after the act have all memory, and must succeed.
static bool act_and_go_on(void *context) {
  errand *errand = context;
  world *world = errand->world;
  fixture_restore_memory_limit(errand->limit);
  errand->reply->status = errand->act(world);
  errand->reply->limit = fixture_lift_memory_limit();
  errand->reply->error = world->error;
  errand->reply->notified = misuse_count();
  strcpy(errand->reply->log, world->log);
  int notified = misuse_count();
  if (errand->reply->status) must(errand->act(world));
  if (world->nodes[0]) change_all(world);
  world_release_handles(world);
  return world->begun == world->ended && misuse_count() == notified;
}

static kvo_status fork_and(world *world, kvo_status (*act)(struct world *)) {
  reply *reply =
      mmap(NULL, sizeof *reply, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  errand errand = {world, act, fixture_lift_memory_limit(), reply};
  if (fixture_fork(act_and_go_on, &errand)) world_log(world, "the child went wrong\n");
  kvo_status status = reply->status;
  if (status) world->error = reply->error;
  if (reply->notified) kvo_report_misuse("CScarce: a child's report about memory");
  world_log(world, "%s", reply->log);
  fixture_restore_memory_limit(reply->limit);
  munmap(reply, sizeof *reply);
  return status;
}

static kvo_status observe(world *world) {
  return world_observe(world, 0, "next.value", KVO_NEW | KVO_OLD | KVO_INITIAL);
}

static kvo_status end_all(world *world) {
  world_release_handles(world);
  return KVO_OK;
}

static kvo_status die(world *world) {
  for (int i = 0; i < SHORTAGE_NODES; i++) {
    kvo_object_release(world_object(world, i));
    world->nodes[i] = NULL;
  }
  return KVO_OK;
}

#define IN_CHILD(act) \
  static kvo_status act##_in_child(world *world) { return fork_and(world, act); }

IN_CHILD(set_value)
IN_CHILD(relink)
IN_CHILD(observe)
IN_CHILD(end_all)
IN_CHILD(die)

static void watch_all(world *world) {
  watch(world, 0, "value", KVO_NEW | KVO_OLD | KVO_PRIOR);
  watch_paths(world);
  watch_items(world);
}

#define FORK(kind, set_up, act) SCENARIO("fork", kind, set_up, act##_in_child, change_all, NULL)

SCENARIO_TABLE(shortage_forks, FORK(ACT_TELLS, watch_all, set_value),
    FORK(ACT_TELLS, watch_all, relink), FORK(ACT_REPORTS, watch_all, observe),
    FORK(ACT_REPORTS, nothing, observe), FORK(ACT_MUST, watch_all, end_all),
    FORK(ACT_MUST, watch_all, die));
