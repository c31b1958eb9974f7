/// KVOObservation's state of each thread. Linking this library lets Swift's Observation track reads
/// (`kvo_recording_word`).
#ifndef KVO_OBSERVATION_H
#define KVO_OBSERVATION_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
KVO_BEGIN_DECLS

/// The thread-local variables of one program or library, as the calling thread has them.
typedef struct kvo_thread_locals {
  void *KVO_NULLABLE start; ///< NULL if there are none
  size_t size;              ///< in bytes
} kvo_thread_locals;
/// The variables of the program or library that contains an address. O(*n*) in the number of loaded libraries.
kvo_thread_locals kvo_observation_thread_locals(const void *address);

/// Returns this thread's variable in which Observation keeps what tracks its reads. Defined in Swift.
void *KVO_NULLABLE const *KVO_NONNULL kvo_observation_find_tracker(void);

/// Sets whether the thread is registering an observer for a read. What the registration itself reads is not tracked: an
/// object may read a key by reporting that it is read.
void kvo_observation_set_registering(bool registering);

/// An address that identifies the thread.
const void *kvo_observation_thread(void);

/// Counts the keys that this thread has read without waiting for their changes yet.
void kvo_observation_count_read_key(bool is_read);
/// Whether this thread may begin to wait for the change of a key: it has read keys, and is not being tracked.
bool kvo_observation_may_wait(void);

KVO_END_DECLS
KVO_ASSUME_NONNULL_END

#endif
