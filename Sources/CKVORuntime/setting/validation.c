// Validation, on request only: calls `validate<Key>:error:` of the last object on a path (B10). A class may answer
// for all its keys by a general hook. The root's hook, which is in this file, searches for the key's own.
//
// The validator receives a copy of the value, and its replacement counts only if it accepts the value. The copy is
// destroyed if the validator throws.
#include "kvo_coding.h"

#include "base/kvo_fail.h"
#include "base/kvo_forward.h"
#include "base/kvo_intern.h"
#include "coding/kvo_get_key_path.h"
#include "objects/kvo_class_internal.h"
#include "threads/kvo_thread.h"

typedef kvo_status (*validator)(kvo_object *, const kvo_method *, kvo_value *, kvo_error *);
typedef kvo_status (*general_validator)(kvo_object *, const kvo_method *, kvo_value *, const char *,
    kvo_error *);

// A call of a validator. A general one also receives the key.
typedef struct question {
  kvo_object *object;
  const kvo_method *hook;
  const char *key;
  bool is_general;
} question;

static kvo_status validation_no_memory(const kvo_class *cls, const char *key, kvo_error *error) {
  return kvo_fail_no_memory(error, "validate", cls->name, key);
}

// A validator's own error is returned unchanged, except that a status which it leaves out is filled in. A validator that
// gives no error gets this one.
static kvo_status validation_refuse(const kvo_class *cls, const char *key, kvo_status status,
    const kvo_error *cause, kvo_error *error) {
  if (!cause->status && !cause->message[0])
    return kvo_fail(error, status, cls->name, key, "The value is not valid for \"%s\" of %s.", key,
        cls->name);
  if (error) {
    *error = *cause;
    if (!error->status) error->status = status;
  }
  return status;
}

static kvo_status validation_ask(const question *question, kvo_value *value, kvo_error *error) {
  kvo_imp imp = kvo_class_imp(kvo_class_of(question->object), question->hook);
  if (question->is_general)
    return ((general_validator)imp)(question->object, question->hook, value, question->key, error);
  return ((validator)imp)(question->object, question->hook, value, error);
}

typedef struct {
  const question *question;
  kvo_value proposed;
  kvo_error cause;
  kvo_status status;
} proposal;

static void validation_propose(void *opaque) {
  proposal *proposal = opaque;
  proposal->status = validation_ask(proposal->question, &proposal->proposed, &proposal->cause);
}

static void end_proposal(void *opaque) { kvo_value_destroy(&((proposal *)opaque)->proposed); }

static kvo_status validation_validate(const question *question, kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(question->object);
  proposal proposal = {.question = question};
  if (kvo_value_copy(&proposal.proposed, value))
    return validation_no_memory(cls, question->key, error);
  kvo_unwinding(validation_propose, end_proposal, &proposal);
  kvo_value_destroy(proposal.status ? &proposal.proposed : value);
  if (proposal.status)
    return validation_refuse(cls, question->key, proposal.status, &proposal.cause, error);
  *value = proposal.proposed;
  return KVO_OK;
}

kvo_status kvo_search_and_validate(kvo_object *object, const kvo_method *method, kvo_value *value,
    const char *key, kvo_error *error) {
  (void)method;
  const char *selector = kvo_accessor_name("validate", key, true, ":error:");
  const kvo_method *hook = selector ? kvo_class_find_method(kvo_class_of(object), selector) : NULL;
  const question question = {object, hook, key, false};
  return hook ? validation_validate(&question, value, error) : KVO_OK;
}

static kvo_status validate_key(kvo_object *object, const char *key, kvo_value *value,
    kvo_error *error) {
  const kvo_class *cls = kvo_class_of(object);
  const kvo_method *hook = kvo_class_find_method(cls, kvo_hooks()->validate_value);
  bool is_own = hook && kvo_class_imp(cls, hook) != (kvo_imp)kvo_search_and_validate;
  const question question = {object, hook, key, true};
  return is_own ? validation_validate(&question, value, error)
                : kvo_search_and_validate(object, hook, value, key, error);
}

typedef struct {
  kvo_object *object;
  kvo_value *value;
  kvo_error *error;
} validation;

static kvo_status validate_last_key(const kvo_value *target, const char *key, void *opaque) {
  const validation *validation = opaque;
  kvo_object *last = kvo_value_get_object(target);
  return last ? validate_key(last, key, validation->value, validation->error) : KVO_OK;
}

static kvo_status validate_along(const kvo_key_path *path, void *opaque) {
  const validation *validation = opaque;
  return kvo_with_last_key(validation->object, path, validate_last_key, opaque, validation->error);
}

kvo_status kvo_validate_value(kvo_object *object, const char *key_path, kvo_value *value,
    kvo_error *error) {
  validation validation = {object, value, error};
  return kvo_along_path(key_path, kvo_class_of(object), validate_along, &validation, error);
}
