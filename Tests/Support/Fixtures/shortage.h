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

/// What one run has: three linked nodes and one apart, all of one new class, whose observers write
/// what they are told into the log.
typedef struct world {
  kvo_class *cls;
  scarce *nodes[SHORTAGE_NODES];
  kvo_handle *handles[SHORTAGE_HANDLES];
  size_t handle_count;
  int begun, ended;
  kvo_error error;
  fixture_deaths deaths;
  struct ward *wards[WARDS]; // of scenarios about bindings
  fixture_deaths ward_deaths;
  shelf *shelf; // of scenarios about what collections are changed by
  // What an act needs, made while there was memory.
  kvo_value values[3];
  kvo_index_set *indexes;
  kvo_collection *collection, *proxy;
  kvo_class *made, *made_root; // by a scenario about classes,
  int step;                    // which has come so far
  char serial[16];             // differs from run to run
  char log[8192];
} world;

typedef enum {
  ACT_REPORTS,     // gives a status
  ACT_TELLS,       // gives none: what it could not do is reported as misuse
  ACT_TELLS_OFTEN, // the same of several changes
  ACT_MUST,        // does it all whatever memory there is
} act_kind;

typedef struct scenario {
  const char *group, *name;
  act_kind kind;
  void (*set_up)(world *);
  kvo_status (*act)(world *);
  void (*go_on)(world *);
  const char *key; // what an error names, or NULL
} scenario;

typedef struct scenario_table {
  const scenario *rows;
  size_t count;
  void (*finish)(void); // after the last one, or NULL
} scenario_table;

/// The scenarios of each group.
extern const scenario_table shortage_classes, shortage_registration, shortage_changes,
    shortage_coding, shortage_mutation, shortage_removal, shortage_diagnostics, shortage_threads,
    shortage_nesting, shortage_bindings, shortage_tracking, shortage_proxies, shortage_forks,
    shortage_shelves;

/// Writes a line.
void world_log(world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));
void world_log_change(world *world, kvo_object *object, const char *key_path,
    const kvo_change *change);
/// Registers a callback that writes what it is told. The handle is the world's.
kvo_status world_observe(world *world, int node, const char *key_path, kvo_options options);
kvo_status world_observe_object(world *world, kvo_object *object, const char *key_path,
    kvo_options options);
/// Acts on a thread that has had nothing to do with the runtime, under this one's limit of memory.
/// What the pool has of such threads' records is taken by `park_threads`, until `unpark_threads`.
kvo_status world_act_on_thread(world *world, kvo_status (*act)(struct world *world));
void world_park_threads(world *world);
void unpark_threads(void);
/// How many reports of misuse there have been since the run began.
int misuse_count(void);
kvo_object *world_object(world *world, int node);
void world_release_handles(world *world);

#endif
