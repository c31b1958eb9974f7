/// Classes that get dependencies of their derived keys late. There is one for each name, with the numbers `a` and
/// `b`, a link `peer`, and the derived `sum` and `peerSum`, which are undeclared at first.
#ifndef FIXTURE_EXTENDED_H
#define FIXTURE_EXTENDED_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct extended {
  kvo_object object;
  double a, b;
  struct extended *KVO_NULLABLE peer;
} extended;

/// A new class with that name.
kvo_class *extended_class(const char *name);
/// A subclass that overrides the getter of `sum`, to double it, and the setter of `a`.
kvo_class *extended_subclass(const char *name, const kvo_class *superclass);

/// `setSum:`, which sets `a` and `b` by their setters.
void extended_add_setter_of_sum(kvo_class *cls);

/// `keyPathsForValuesAffectingSum`, which names `a` and `b`.
void extended_add_hook_of_key(kvo_class *cls);
/// The general hook, which adds `a` for `sum` to the superclass's answer. Only for one class.
void extended_add_general_hook(kvo_class *cls);

void extended_setA(extended *self, double a);
void extended_setB(extended *self, double b);
/// For a class that has a setter for it.
void extended_setSum(extended *self, double sum);
void extended_setPeer(extended *self, extended *KVO_NULLABLE peer);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
