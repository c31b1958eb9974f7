/// One class with one property: how to make it, and how to call it.
#ifndef SIGNATURE_CASE_H
#define SIGNATURE_CASE_H

#include "signature_types.h"

typedef struct signature_case {
  const char *name;
  const description *(*value)(void);
  const description *(*result)(void); ///< NULL: the setter returns void
  size_t instance_size;
  size_t value_offset;
  size_t result_offset; ///< in the instance: the setter's result
  kvo_imp getter;
  kvo_imp setter;
  kvo_signature getter_signature;
  kvo_signature setter_signature;
  /// `*value = [object value]`, through the dispatch table.
  void (*get)(kvo_object *object, const kvo_method *method, void *value);
  /// `*result = [object setValue:*value]`, through the dispatch table.
  void (*set)(kvo_object *object, const kvo_method *method, const void *value, void *result);
} signature_case;

extern const signature_case signature_cases[];
extern const size_t signature_cases_count;

#endif
