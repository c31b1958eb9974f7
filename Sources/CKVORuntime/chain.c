// Chains and their links: memory, shape, end.
//
// A link is freed when its entry is reclaimed and nobody holds it any more; it keeps its chain,
// which keeps the memory of its root. Ending goes over links that have been taken out of their
// chains, one after the other, so that what hangs on them may be as deep as it likes: the links
// further along, and the derivations of keys that only they watched.
#include "kvo_graph.h"

#include "kvo_fail.h"
#include "kvo_memory.h"

uint32_t kvo_key_path_next_key(const kvo_key_path *path, uint32_t depth) {
  do depth++;
  while (depth < path->count && path->components[depth].op != KVO_OP_NONE);
  return depth;
}

bool kvo_key_path_operates(const kvo_key_path *path, uint32_t depth) {
  do depth++;
  while (depth < path->count && path->components[depth].op == KVO_OP_SELF);
  return depth < path->count && kvo_operator_is_collective(path->components[depth].op);
}

kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t depth,
    const kvo_class *cls, kvo_error *error) {
  const char *key = path->components[depth].key;
  const char *next = path->components[kvo_key_path_next_key(path, depth)].key;
  kvo_fail(error, KVO_INVALID_KEY_PATH, cls->name, path->text,
      "\"%s\" of %s goes on through \"%s\", which is a collection: use an operator, as in "
      "\"%s.@unionOfObjects.%s\".",
      path->text, cls->name, key, key, next);
  kvo_fail_component(error, "", next);
  return KVO_INVALID_KEY_PATH;
}

// MARK: Memory

kvo_chain *kvo_chain_make(kvo_object *root, const kvo_key_path *path,
    const kvo_accessors *accessors, kvo_derivation *derivation) {
  kvo_chain *chain = kvo_alloc_zeroed(sizeof *chain);
  const kvo_key_path *held = chain ? kvo_key_path_hold(path) : NULL;
  if (!held) {
    kvo_free(chain);
    return NULL;
  }
  chain->references = 1;
  chain->path = held;
  chain->accessors = accessors;
  chain->root = root;
  chain->operations = kvo_class_of(root)->operations;
  chain->derivation = derivation;
  chain->is_tracked = derivation && derivation->is_tracked;
  chain->operations->unowned_retain(root);
  return chain;
}

void kvo_chain_retain(kvo_chain *chain) {
  __atomic_fetch_add(&chain->references, 1, __ATOMIC_RELAXED);
}

void kvo_chain_release(kvo_chain *chain) {
  if (__atomic_sub_fetch(&chain->references, 1, __ATOMIC_ACQ_REL)) return;
  chain->operations->unowned_release(chain->root);
  kvo_key_path_let_go(chain->path);
  kvo_free(chain);
}

void kvo_link_init(kvo_link *link, kvo_chain *chain, uint32_t depth) {
  kvo_chain_retain(chain);
  link->chain = chain;
  link->depth = depth;
  link->is_leaf = kvo_link_is_last(link) && !kvo_key_path_operates(chain->path, depth);
  link->last_child = &link->children;
}

void kvo_link_add_child_locked(kvo_link *parent, kvo_link *child) {
  child->slot = parent->last_child;
  *parent->last_child = child;
  parent->last_child = &child->next;
}

static void unlink_child_locked(kvo_link *child) {
  if (!child->slot) return;
  *child->slot = child->next;
  if (child->next) child->next->slot = child->slot;
  else child->parent->last_child = child->slot;
  child->slot = NULL;
  child->next = NULL;
}

// MARK: Ending

// Links to be ended are linked by `next`, having been taken out of their chains.
static void add_doomed(kvo_link **doomed, kvo_link *link) {
  unlink_child_locked(link);
  link->next = *doomed;
  *doomed = link;
}

// Before it is retired: who has guarded its object since then does not find it.
static void set_first(kvo_chain *chain, kvo_link *first) {
  __atomic_store_n(&chain->first, first, __ATOMIC_SEQ_CST);
}

static void add_chains(kvo_link **doomed, kvo_derivation *derivation) {
  for (uint32_t i = 0; i < derivation->count; i++) {
    kvo_chain *chain = derivation->chains[i];
    if (chain->first) add_doomed(doomed, chain->first);
    set_first(chain, NULL);
  }
  kvo_derivation_release(derivation);
}

// A derivation that nobody but its own dependents may still watch ends if that is so: derived keys
// may depend on one another in a circle, which must not keep itself.
static void end_unless_needed(kvo_link **doomed, kvo_derivation *derivation) {
  if (!kvo_derivation_is_needed_locked(derivation) && kvo_derivation_leave_locked(derivation))
    add_chains(doomed, derivation);
}

static void end_entry(kvo_link **doomed, kvo_registration *entry, kvo_retired **retired) {
  kvo_aftermath aftermath = {0};
  kvo_registration_take_out(entry, &aftermath, retired);
  if (aftermath.orphan) add_chains(doomed, aftermath.orphan);
  if (aftermath.suspect) end_unless_needed(doomed, aftermath.suspect);
}

static void end_all_locked(kvo_link *doomed, kvo_retired **retired) {
  while (doomed) {
    kvo_link *link = doomed;
    doomed = link->next;
    link->next = NULL;
    while (link->children) add_doomed(&doomed, link->children);
    end_entry(&doomed, &link->entry, retired);
  }
}

static void end_chain_of(kvo_link *first) {
  set_first(first->chain, NULL);
  first->chain->ended = true;
}

void kvo_entry_end_locked(kvo_registration *entry, kvo_retired **retired) {
  kvo_link *doomed = NULL, *link = kvo_link_of(entry);
  if (link && link->chain->first == link) end_chain_of(link);
  if (link) add_doomed(&doomed, link);
  else end_entry(&doomed, entry, retired);
  end_all_locked(doomed, retired);
}

void kvo_derivation_end_locked(kvo_derivation *derivation, kvo_retired **retired) {
  kvo_link *doomed = NULL;
  add_chains(&doomed, derivation);
  end_all_locked(doomed, retired);
}
