// Chains and their links: memory, shape, and reports.
//
// A link is freed when its entry has been reclaimed and nothing holds it any more. It keeps its chain, which keeps
// the memory of its root. For how they end see unlinking.c.
#include "graph/kvo_graph.h"

#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "graph/kvo_route.h"

#include <stdio.h>

kvo_status kvo_key_path_refuse_collection(const kvo_key_path *path, uint32_t behind,
    const kvo_class *cls, kvo_error *error) {
  uint32_t depth = path->first_key;
  while (path->components[depth].next_key < behind) depth = path->components[depth].next_key;
  const char *key = path->components[depth].key;
  const char *next = path->components[behind].key;
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
  kvo_route_release(chain->route);
  kvo_key_path_let_go(chain->path);
  kvo_free(chain);
}

void kvo_link_init(kvo_link *link, kvo_chain *chain, uint32_t depth) {
  const kvo_component *component = &chain->path->components[depth];
  kvo_chain_retain(chain);
  link->chain = chain;
  link->depth = (uint16_t)depth;
  link->is_leaf = component->next_key == chain->path->count && !component->operates;
  link->last_child = &link->children;
}

void kvo_link_add_child_locked(kvo_link *parent, kvo_link *child) {
  child->slot = parent->last_child;
  *parent->last_child = child;
  parent->last_child = &child->next;
  parent->covered += child->occurrences;
}

// MARK: Reports

static bool is_first_report(kvo_chain *chain) {
  return !__atomic_exchange_n(&chain->is_reported, true, __ATOMIC_RELAXED);
}

// Reported once per class, because a dependency is declared by the class: all of its objects have the same mistake.
static void report_dependency(const kvo_chain *chain, const kvo_error *error) {
  char message[768];
  snprintf(message, sizeof message, "\"%s\" of %s can't depend on \"%s\": %s",
      chain->accessors->key, chain->accessors->cls->name, chain->path->text, error->message);
  if (kvo_text_add(message)) kvo_misuse("%s", message);
}

void kvo_chain_report(kvo_chain *chain, const kvo_error *error) {
  if (!is_first_report(chain)) return;
  if (chain->derivation) report_dependency(chain, error);
  else
    kvo_misuse("\"%s\" of %s can't be observed further: %s", chain->path->text,
        chain->accessors->cls->name, error->message);
}

void kvo_chain_report_unread(kvo_chain *chain, const kvo_error *error) {
  if (!is_first_report(chain)) return;
  kvo_misuse("\"%s\" of %s is told as nil: %s", chain->path->text, chain->accessors->cls->name,
      error->message);
}
