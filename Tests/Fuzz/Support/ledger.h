/// The registrations that there must be, and the changes under way with what each observer must be
/// told: whatever comes otherwise stops the program.
///
/// Each change of a key is announced before it is made, so that what the observers are called with
/// meanwhile is known to be of that change, or of one that a callback has made inside it.
#ifndef LEDGER_H
#define LEDGER_H

#include "graph_model.h"

enum { LEDGER_ROOM = 32 };

typedef struct ledger_entry {
  graph_node *object;
  const char *path;
  kvo_options options;
  graph_node *observer; ///< NULL: a callback
  void *context;
  bool is_live;
  bool is_being_made;                 ///< the initial call is still to come
  const struct ledger_change *within; ///< the change under way when it was registered
  struct ledger_entry *group;         ///< whose handle is shared
  size_t finals;                      ///< how often it has been told, or any of its group
  size_t returns;                     ///< how often it has returned from being told
  size_t begun;                       ///< how many changes of it, or of any of its group, have
} ledger_entry;

/// One bit for each entry.
typedef uint32_t ledger_set;

/// A change of a key, from will until all have been told.
typedef struct ledger_change {
  graph_node *node;
  const char *key;
  bool is_automatic;        ///< what happens to the key within joins it
  bool is_by_hand;          ///< it is a setter's, which calls will and did itself
  bool is_silent;           ///< nobody is told
  bool may_be_untold;       ///< it turned out to be no change
  kvo_change_kind kind;     ///< of those who observe the key itself; 0 if that is not known
  size_t index;             ///< of an array's mutation
  model_value goes;         ///< what a mutation is going to take away, and then has
  model_value before, came; ///< the key's value before, and what came

  ledger_set recipients; ///< whom it reached when it began; later, those whom it still reaches
  ledger_set lost;       ///< those whom it does not, who may be told all the same
  ledger_set told[2];    ///< by finals, by priors
  bool has_begun_finals;
  bool is_open;  ///< a prior call is under way
  bool is_stale; ///< what happened within has left paths standing elsewhere than storage says
  model_value old[LEDGER_ROOM], new[LEDGER_ROOM];
  size_t finals[LEDGER_ROOM];  ///< of each, when it began
  size_t returns[LEDGER_ROOM]; ///< likewise
  size_t begun[LEDGER_ROOM];   ///< likewise
  ledger_set overtaken;        ///< whom another change has told, or had to do with, meanwhile
  size_t known;                ///< how many entries there were when it began
  struct ledger_change *outer;
} ledger_change;

typedef struct ledger {
  ledger_entry entries[LEDGER_ROOM];
  size_t count;
  size_t calls;   ///< that observers have got
  size_t misuses; ///< that were reported before the operation under way
  bool is_short;  ///< paths may stand elsewhere than they lead to, for want of memory
  ledger_change *top;
} ledger;

extern ledger fuzz_ledger;

/// An entry that is registered next, or NULL if there is no room.
ledger_entry *ledger_add(ledger_entry entry);
/// Ends one, with its whole group.
void ledger_end(ledger_entry *entry);
/// Ends those that were made with a node, and by it.
void ledger_end_of_node(const graph_node *node, bool also_as_observer);
/// The most recent one of an observer object; any context if `context` is NULL.
ledger_entry *ledger_find(const graph_node *object, const graph_node *observer, const char *path,
    void *const *context);

/// A change begins: what is to be told is noted.
void ledger_begin(ledger_change *change);
/// It, or the second half of a pair, is on its way.
void ledger_push(ledger_change *change);
void ledger_pop(ledger_change *change);
/// Everybody has been told: nobody was left out.
void ledger_finish(ledger_change *change);

/// A callback's call, or one of an observer object, which may stand for several entries: the
/// one that is meant.
void ledger_called(ledger_entry *entry, const kvo_change *change);
/// It has returned: a change that was begun in the call, and goes on, does not leave it out.
void ledger_returned(ledger_entry *entry, const kvo_change *change);
ledger_entry *ledger_observed(const graph_node *observer, const graph_node *object,
    const char *path, void *context, const kvo_change *change);

/// Whether anybody is told of a change of the key.
bool ledger_has_observers(const graph_node *node, const char *key);
/// That what the runtime says of an object's registrations is what is noted.
void ledger_check(const graph_node *node);

#endif
