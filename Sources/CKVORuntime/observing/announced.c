// Automatic changes of a class that announces them by methods of its own (E5), such as Swift classes that override
// `willChangeValue(forKey:)`.
//
// Opening such a change calls the class's method. The method calls its superclass's, which leads to
// `kvo_will_change`. That finds that the thread is in a method called for this very key, and begins the change in the
// existing frame instead of opening a pair. Closing works in the same way. So the method runs before the old value is
// read and prior observers are called, and observers are called when it calls its superclass. A method that does not
// call it leaves the change without a notification.
//
// The keys of such a class are marked manual in tables, so that changes of other classes need no test. A change for
// which the class has no method of its own is begun and finished at once. While the method before the change runs,
// the frame is open: if the method sets the key, that set joins it. While the method after the change runs, the frame
// is not open.
#include "observing/kvo_announced.h"

#include "base/kvo_forward.h"
#include "base/kvo_lock.h"
#include "base/kvo_memory.h"
#include "delivery/kvo_general_delivery.h"
#include "objects/kvo_class_internal.h"

// A call of such a method that is in progress.
typedef struct kvo_announcing {
  kvo_frame *frame;
  const kvo_mutation *KVO_NULLABLE mutation; ///< before the change
  bool is_did;
  struct kvo_announcing *KVO_NULLABLE outer;
} kvo_announcing;

// MARK: Calling the methods

typedef void (*announcing_method)(kvo_object *, const char *, const kvo_part *KVO_NULLABLE);

static void announced_call(const kvo_frame *frame, announcing_method method) {
  if (!(frame->flags & KVO_FRAME_HAS_MUTATION)) {
    method(frame->object, frame->key, NULL);
    return;
  }
  const kvo_mutation_record *record = frame->mutation;
  const kvo_part part = {.kind = record->kind,
      .indexes = record->indexes,
      .goes = record->has_predicted ? &record->predicted : NULL,
      .comes = record->has_new ? &record->new_value : NULL,
      .set_mutation = record->set_mutation,
      .members = record->set_mutation ? &record->objects : NULL};
  method(frame->object, frame->key, &part);
}

// If a getter makes the change, its recorder must not record what the method reads. The closing call may be on
// another thread than the opening one. Returns false if that thread has no record for lack of memory.
static bool announced_call_method(kvo_announcing *announcing, announcing_method method) {
  kvo_thread *thread = kvo_thread_current();
  if (!thread) return false;
  announcing->outer = thread->announcing;
  thread->announcing = announcing;
  void *recorder = kvo_suspend_recording();
  announced_call(announcing->frame, method);
  kvo_resume_recording(recorder);
  thread->announcing = announcing->outer;
  return true;
}

// Stores the part until the change is closed. It is freed with the frame, which may end without a closing call. If
// there is no memory, a setting is announced.
static void keep_part(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_mutation_record *record = kvo_alloc_zeroed(sizeof *record);
  if (!record) return;
  frame->mutation = record;
  frame->flags |= KVO_FRAME_HAS_MUTATION;
  if (kvo_mutation_begin(record, mutation)) return;
  frame->flags &= ~(uint32_t)KVO_FRAME_HAS_MUTATION;
  kvo_mutation_free(record);
}

// MARK: Beginning and finishing

static void announced_begin(kvo_frame *frame, const kvo_mutation *mutation) {
  kvo_object *object = frame->object;
  frame->flags |= KVO_FRAME_BEGUN;
  if (!kvo_object_observers(object, frame->id)) return;
  if (kvo_batch_record(kvo_this_thread, object, frame->id, mutation))
    frame->flags |= KVO_FRAME_BATCHED;
  else kvo_change_begin_mutation(frame, mutation);
}

// From now on no other change can leave recipients to this one. Returns whether one has.
static bool announced_end_path_changes(const kvo_frame *frame) {
  KVO_LOCKED(&kvo_graph_lock);
  if (!(frame->flags & KVO_FRAME_GENERAL_DELIVERY)) return false;
  kvo_open_path_changes_end_locked(frame->general_delivery);
  return frame->general_delivery->notifies_for_others;
}

static void announced_finish(kvo_frame *frame) {
  frame->flags &= ~(uint32_t)KVO_FRAME_BEGUN;
  if (frame->flags & KVO_FRAME_BATCHED) return;
  if (frame->flags & KVO_FRAME_CANCELLED && !announced_end_path_changes(frame)) return;
  __atomic_store_n(&frame->state, KVO_FRAME_DELIVERING, __ATOMIC_RELEASE);
  kvo_change_finish(frame);
}

bool kvo_announced_open(kvo_frame *frame, kvo_observers observers, const kvo_mutation *mutation) {
  if (!kvo_observers_are_announced(observers)) return false;
  const kvo_accessors *accessors = kvo_observers_accessors(observers);
  __atomic_store_n(&frame->state, KVO_FRAME_ANNOUNCED, __ATOMIC_RELAXED);
  if (!(accessors->cls->announces & (mutation ? KVO_ANNOUNCES_PARTS : KVO_ANNOUNCES_SETTINGS))) {
    frame->flags |= KVO_FRAME_SILENT;
    announced_begin(frame, mutation);
    return true;
  }
  if (mutation) keep_part(frame, mutation);
  __atomic_store_n(&frame->key, accessors->key, __ATOMIC_RELAXED);
  kvo_announcing announcing = {.frame = frame, .mutation = mutation};
  (void)announced_call_method(&announcing, kvo_class_of(frame->object)->operations->will);
  return true;
}

void kvo_announced_close(kvo_frame *frame) {
  if (frame->flags & KVO_FRAME_SILENT) {
    announced_finish(frame);
    return;
  }
  __atomic_store_n(&frame->state, KVO_FRAME_ANNOUNCING, __ATOMIC_RELEASE);
  kvo_announcing announcing = {.frame = frame, .is_did = true};
  bool is_called = announced_call_method(&announcing, kvo_class_of(frame->object)->operations->did);
  if (!(frame->flags & KVO_FRAME_BEGUN)) return;
  if (is_called) frame->flags |= KVO_FRAME_CANCELLED; // the method did not call super
  announced_finish(frame);
}

// MARK: Called by the methods

// The change of the key for which this thread is calling the class's method, or NULL.
static kvo_announcing *announced_find(const kvo_object *object, uintptr_t id, bool is_did) {
  kvo_announcing *announcing = kvo_this_thread ? kvo_this_thread->announcing : NULL;
  if (!announcing || announcing->is_did != is_did) return NULL;
  const kvo_frame *frame = announcing->frame;
  return frame->object == object && frame->id == id ? announcing : NULL;
}

// A second call in the same method opens a pair of its own.
bool kvo_announced_begin(kvo_object *object, uintptr_t id) {
  const kvo_announcing *announcing = announced_find(object, id, false);
  if (!announcing || announcing->frame->flags & KVO_FRAME_BEGUN) return false;
  announced_begin(announcing->frame, announcing->mutation);
  return true;
}

bool kvo_announced_finish(const kvo_object *object, uintptr_t id) {
  const kvo_announcing *announcing = announced_find(object, id, true);
  kvo_frame *frame = announcing ? announcing->frame : NULL;
  if (!frame || !(frame->flags & KVO_FRAME_BEGUN)) return false;
  announced_finish(frame);
  __atomic_store_n(&frame->state, KVO_FRAME_ANNOUNCING, __ATOMIC_RELEASE); // the method goes on
  return true;
}
