/// Nodes whose links and numbers several threads may set at once: their storage is atomic, and links are not
/// retained. `twice` is derived from `value`; `nextTwice` and `nextNext` from the object behind `next`.
#ifndef FIXTURE_SHARED_NODE_H
#define FIXTURE_SHARED_NODE_H

#include <CKVORuntime.h>

#include "fixture_threads.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct shared_node shared_node;

const kvo_class *shared_node_class(void);
void shared_node_set_value(kvo_object *node, double value);
void shared_node_set_next(kvo_object *node, kvo_object *KVO_NULLABLE next);
/// Stores without notifying, like a weak link whose object dies.
void shared_node_forget_next(kvo_object *node);
/// Makes the calling thread wait at the gate, once, when it next reads the node's link while the node is observed.
void shared_node_halt_at(kvo_object *node, gate *gate);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
