/// Scenarios in which memory runs out.
#ifndef FIXTURE_SHORTAGE_H
#define FIXTURE_SHORTAGE_H

#include "fixture_account.h"
#include "fixture_graph.h"
#include "fixture_memory.h"
#include "fixture_shelf.h"

/// A node with properties that need memory to be copied, and with keys derived from others.
typedef struct scarce {
  graph_node node;
  const char *name;
  location place[2];
} scarce;

typedef struct {
  location first, second;
} scarce_span;

enum { SHORTAGE_NODES = 4, SHORTAGE_HANDLES = 24, WARDS = 4 };

/// The data of one run: three linked nodes and a separate one, all of one new class. Their observers record their
/// notifications in the log.
typedef struct world {
  kvo_class *cls;
  scarce *nodes[SHORTAGE_NODES];
  kvo_handle *handles[SHORTAGE_HANDLES];
  size_t handle_count;
  int begun, ended;
  kvo_error error;
  fixture_deaths deaths;
  struct ward *wards[WARDS]; // for scenarios about bindings
  fixture_deaths ward_deaths;
  shelf *shelf; // for scenarios about methods that change collections
  // Values for an act, made while there was memory.
  kvo_value values[3];
  kvo_index_set *indexes;
  kvo_collection *collection, *proxy;
  kvo_class *made, *made_root; // by a scenario about classes,
  int step;                    // which has reached this step
  char serial[16];             // differs between runs
  char log[8192];
} world;

typedef enum {
  ACT_REPORTS,     // returns a status
  ACT_TELLS,       // returns none: reports failures as misuse
  ACT_TELLS_OFTEN, // makes several changes, each of which may report one
  ACT_MUST,        // succeeds with whatever memory there is
} act_kind;

typedef struct scenario {
  const char *group, *name;
  act_kind kind;
  void (*set_up)(world *);
  kvo_status (*act)(world *);
  void (*go_on)(world *);
  const char *key; // the key in an error, or NULL
} scenario;

typedef struct scenario_table {
  const scenario *rows;
  size_t count;
  void (*finish)(void); // after the last scenario, or NULL
} scenario_table;

/// The scenarios of each group.
extern const scenario_table shortage_classes, shortage_registration, shortage_changes,
    shortage_coding, shortage_mutation, shortage_removal, shortage_diagnostics, shortage_threads,
    shortage_nesting, shortage_bindings, shortage_tracking, shortage_proxies, shortage_forks,
    shortage_shelves;

/// Writes a line to the log.
void world_log(world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_log_change(world *world, kvo_object *object, const char *key_path,
    const kvo_change *change);
/// Registers a callback that logs its notifications. The world owns the handle.
kvo_status world_observe(world *world, int node, const char *key_path, kvo_options options);
kvo_status world_observe_object(world *world, kvo_object *object, const char *key_path,
    kvo_options options);
/// Runs the act on a thread that has not used the runtime, under this thread's memory limit. `world_park_threads` takes
/// all pooled thread records, until `unpark_threads`.
kvo_status world_act_on_thread(world *world, kvo_status (*act)(struct world *world));
void world_park_threads(world *world);
void unpark_threads(void);
/// The number of misuse reports since the run began.
int misuse_count(void);
kvo_object *world_object(world *world, int node);
void world_release_handles(world *world);

#endif
