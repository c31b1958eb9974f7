/// The expected registrations, and the open changes with what each observer must get. Any deviation stops the
/// program.
///
/// Each change of a key is recorded before it is made. Calls of observers during it belong to that change, or to one
/// that a callback has made inside it.
#ifndef LEDGER_H
#define LEDGER_H

#include "graph_model.h"

enum { LEDGER_ROOM = 32, LEDGER_OPEN = 32 };

typedef struct ledger_entry {
  graph_node *object;
  const char *path;
  kvo_options options;
  graph_node *observer; ///< NULL: a callback
  void *context;
  bool is_live;
  bool is_being_made;                 ///< the initial call is still to come
  const struct ledger_change *within; ///< the open change when it was registered
  struct ledger_entry *group;         ///< the first entry of the same handle
  // With KVO_DISTINCT:
  model_value last; ///< the value last delivered, or at registration
  size_t compared;  ///< when the value that was last compared was read
  bool is_known;    ///< it has a last value
  bool is_unsure;   ///< the last value may be another one
} ledger_entry;

/// One bit for each entry.
typedef uint32_t ledger_set;

/// A change of a key, from its will until all observers have been called.
typedef struct ledger_change {
  graph_node *node;
  const char *key;
  bool is_automatic;        ///< inner changes of the key join it
  bool is_by_hand;          ///< its setter makes a manual pair
  bool is_silent;           ///< notifies no observer
  bool may_be_silent;       ///< had no effect, so it need not notify
  kvo_change_kind kind;     ///< for observers of the key itself; 0 if unknown
  size_t index;             ///< of an array's mutation
  model_value goes;         ///< elements that a mutation will remove, or has removed
  model_value before, came; ///< the key's value before, and the elements inserted

  ledger_set reached; ///< when it began, also behind open changes of links
  ledger_set behind;  ///< of these, those that it reached only behind such changes (G5)
  ledger_set late;    ///< reached now, not behind such changes, and no recipients when it began
  ledger_set
      made_within; ///< of these, those registered since: notified only if a change has led a path here
  ledger_set recipients;  ///< recipients when it began; later, those it still reaches
  ledger_set notified[2]; ///< called by finals, by priors
  bool has_begun_finals;
  bool is_open;  ///< a prior call is running
  bool is_stale; ///< an inner change has left paths where storage does not lead
  model_value old[LEDGER_ROOM], new[LEDGER_ROOM];
  size_t read_at;  ///< when the new values were read
  size_t known;    ///< the number of entries when it began, or later when its finals did
  bool is_joining; ///< it is part of another change, which notifies
  struct ledger_change *outer;
  struct ledger_change *opened_before; ///< the next of the open ones
} ledger_change;

typedef struct ledger {
  ledger_entry entries[LEDGER_ROOM];
  size_t count;
  size_t calls;   ///< calls received by observers
  size_t time;    ///< counts readings of new values
  size_t misuses; ///< misuse reported before the current operation
  bool is_short;  ///< for lack of memory, paths may lag behind their links
  ledger_change *top;
  ledger_change *open; ///< from their wills until their finals, the last opened first
} ledger;

extern ledger fuzz_ledger;

/// Adds an entry that is about to be registered. NULL if there is no room.
ledger_entry *ledger_add(ledger_entry entry);
/// Notes that the call that registers an entry has returned.
void ledger_added(ledger_entry *entry);
/// Ends an entry with its whole group.
void ledger_end(ledger_entry *entry);
/// Ends the entries of a node, and with `also_as_observer` those that it made.
void ledger_end_of_node(const graph_node *node, bool also_as_observer);
/// The most recent entry of an observer object; with any context if `context` is NULL.
ledger_entry *ledger_find(const graph_node *object, const graph_node *observer, const char *path,
    void *const *context);

/// Begins a change: records what must be delivered.
void ledger_begin(ledger_change *change);
/// Pushes a change, or the second half of a pair, on the stack of open ones.
void ledger_push(ledger_change *change);
void ledger_pop(ledger_change *change);
/// Notes that a change never ends, because its object dies.
void ledger_lose(const ledger_change *change);
/// Ends a change: requires that every recipient was called.
void ledger_finish(ledger_change *change);

/// Records a call of a callback.
void ledger_called(ledger_entry *entry, const kvo_change *change);
/// Records a call of an observer object, and returns the entry that it is attributed to.
ledger_entry *ledger_observed(const graph_node *observer, const graph_node *object,
    const char *path, void *context, const kvo_change *change);

/// Whether a change of the key has observers.
bool ledger_has_observers(const graph_node *node, const char *key);
/// Requires that the runtime's list of an object's registrations equals the ledger.
void ledger_check(const graph_node *node);

#endif
