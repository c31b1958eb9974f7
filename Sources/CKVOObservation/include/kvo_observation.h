/// What KVOObservation has of its own on each thread. Linking this makes every thread's reads be asked about
/// (`kvo_recorder`), which nobody pays who does not.
#ifndef KVO_OBSERVATION_H
#define KVO_OBSERVATION_H

#include "kvo_binding.h"

KVO_ASSUME_NONNULL_BEGIN
KVO_BEGIN_DECLS

/// Whether the thread has hashed the probe's key path since this was asked last.
bool kvo_observation_take_hashed(void);
void kvo_observation_set_hashed(void);

/// The address of something of the thread's own.
const void *kvo_observation_thread(void);

/// The probe that the thread keeps for the next object; NULL if it has none. It is given to `kvo_observation_end_probe`
/// when the thread ends.
void *KVO_NULLABLE kvo_observation_probe(void);
void kvo_observation_keep_probe(void *KVO_NULLABLE probe);

/// Defined in Swift.
void kvo_observation_end_probe(void *probe);

KVO_END_DECLS
KVO_ASSUME_NONNULL_END

#endif
