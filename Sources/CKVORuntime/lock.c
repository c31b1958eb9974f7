// The locks. Object locks: 64 mutexes, each on its own cache line, chosen by the object's address.
// Two are taken in the order of their stripes, so that threads with the same two objects can't
// deadlock.
#include "kvo_lock.h"

enum { STRIPE_BITS = 6 };
_Static_assert(KVO_OBJECT_LOCKS == 1 << STRIPE_BITS, "a stripe is chosen by its bits of a hash");

typedef struct {
  pthread_mutex_t mutex;
} __attribute__((aligned(64))) stripe;

static stripe stripes[KVO_OBJECT_LOCKS] = {
    [0 ... KVO_OBJECT_LOCKS - 1] = {PTHREAD_MUTEX_INITIALIZER}};

pthread_mutex_t kvo_define_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_mutex_t kvo_class_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_graph_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_intern_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_path_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_struct_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_call_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_closure_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_pairs_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_thread_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t kvo_limbo_lock = PTHREAD_MUTEX_INITIALIZER;

size_t kvo_object_lock_index(const kvo_object *object) {
  uint64_t hash = (uint64_t)(uintptr_t)object * 0x9E3779B97F4A7C15u;
  return hash >> (64 - STRIPE_BITS);
}

pthread_mutex_t *kvo_object_lock(size_t index) { return &stripes[index].mutex; }

static stripe *stripe_of(const kvo_object *object) {
  return &stripes[kvo_object_lock_index(object)];
}

kvo_object_locks kvo_lock_objects(const kvo_object *object, const kvo_object *other) {
  stripe *a = stripe_of(object), *b = other ? stripe_of(other) : a;
  if (a > b) {
    stripe *swapped = a;
    a = b;
    b = swapped;
  }
  pthread_mutex_lock(&a->mutex);
  if (a != b) pthread_mutex_lock(&b->mutex);
  return (kvo_object_locks){&a->mutex, a != b ? &b->mutex : NULL};
}

void kvo_unlock_objects(kvo_object_locks *locks) {
  if (locks->second) pthread_mutex_unlock(locks->second);
  pthread_mutex_unlock(locks->first);
}
