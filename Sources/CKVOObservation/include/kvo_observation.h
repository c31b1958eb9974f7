/// KVOObservation's state of each thread. Linking this library installs a read hook on every thread (`kvo_recorder`).
/// Programs that do not link it pay nothing.
#ifndef KVO_OBSERVATION_H
#define KVO_OBSERVATION_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
KVO_BEGIN_DECLS

/// Whether the thread has hashed the probe's key path since the last call of this function.
bool kvo_observation_take_hashed(void);
/// Notes that the thread has hashed the probe's key path.
void kvo_observation_set_hashed(void);

/// Whether the thread is registering an observer for a read. What the registration itself reads is not tracked: an
/// object may read a key by reporting that it is read.
bool kvo_observation_is_registering(void);
/// Sets whether it is.
void kvo_observation_set_registering(bool registering);

/// An address that identifies the thread.
const void *kvo_observation_thread(void);

/// The probe that the thread keeps for the next object, or NULL. When the thread ends, `kvo_observation_end_probe` is
/// called with it.
void *KVO_NULLABLE kvo_observation_probe(void);
/// Stores the thread's probe; NULL for none.
void kvo_observation_keep_probe(void *KVO_NULLABLE probe);

/// Ends a probe when its thread ends. Defined in Swift.
void kvo_observation_end_probe(void *probe);

KVO_END_DECLS
KVO_ASSUME_NONNULL_END

#endif
