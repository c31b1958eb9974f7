// Uses each old spelling of kvo_deprecated.h. It must compile, as C and C++, with a warning for each. See
// Scripts/checks/runtime.
#include <CKVORuntime.h>

void use_old_spellings(kvo_object *object, const kvo_method *method, kvo_imp imp, kvo_frame *frame,
    kvo_part *part, kvo_reads *reads, kvo_binding_lock *lock);
void use_old_spellings(kvo_object *object, const kvo_method *method, kvo_imp imp, kvo_frame *frame,
    kvo_part *part, kvo_reads *reads, kvo_binding_lock *lock) {
  kvo_uniform_will(object, object);
  kvo_uniform_will_key(object, "key");
  kvo_uniform_will_part(object, "key", part);
  kvo_uniform_did(frame);
  kvo_uniform_did_key(frame, "key");
  kvo_uniform_cancel(frame);
  kvo_uniform_look(object, object);
  kvo_uniform_look_key(object, "key");
  kvo_bracket_will(object, "key", 0);
  kvo_bracket_will_named(object, "key");
  kvo_bracket_did(frame);
  kvo_bracket_look(object, "key");
  kvo_setter_ran_bare(object, method, imp, 0);
  kvo_set_long_way_forced(true);
  kvo_reads_answer(reads);
  kvo_tell_tracker(object, "key");
  kvo_current_flow();
  kvo_set_flow(NULL);
  kvo_current_sink();
  kvo_set_sink(NULL);
  kvo_binding_lock_take(lock);
  kvo_binding_lock_give_back(lock);
  (void)kvo_flow;
  (void)kvo_sink;
}
