/// An engine in C: a synthesizer's voice, whose parameters glide to their targets on the voice's
/// own thread. It does not know about observers.
#ifndef PARAMETER_ENGINE_H
#define PARAMETER_ENGINE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct synth_voice synth_voice;

/// A point on the pad that plays the voice, from 0, 0 to `SYNTH_PAD_WIDTH`, `SYNTH_PAD_HEIGHT`.
typedef struct synth_point {
  double x, y;
} synth_point;
#define SYNTH_PAD_WIDTH 30
#define SYNTH_PAD_HEIGHT 6

/// Returns a silent voice at 0, 0. The caller owns it and ends it with `synth_voice_close`, which
/// also stops its thread.
synth_voice *synth_voice_open(const char *name);
void synth_voice_close(synth_voice *voice);

/// The voice as an object, valid until the voice is closed, or longer if the caller retains it. Any
/// thread may read its keys, which are protected by a lock.
///
/// | key | type | set by |
/// |---|---|---|
/// | `name` | string | no one |
/// | `target` | `synth_point` | the player: the point on the pad to move to |
/// | `gain` | double | the player: the loudness to reach, from 0 to 1 |
/// | `paused` | bool | the player |
/// | `position` | `synth_point` | the voice's thread: the current point |
/// | `level` | double | the voice's thread: the current loudness |
/// | `step` | int64_t | the voice's thread: the number of moves |
/// | `ticks` | int64_t | the voice's thread: the number of ticks, including those while paused |
kvo_object *synth_voice_object(synth_voice *voice);

/// Starts the thread, which does a tick every `milliseconds` until it is stopped. The thread
/// notifies observers of a tick's changes when the tick ends. Start, run and stop must be called on
/// one thread, and not by observers.
void synth_voice_start(synth_voice *voice, unsigned milliseconds);
void synth_voice_stop(synth_voice *voice);
/// Does `ticks` ticks on the voice's thread, one after another, and returns when they are done.
void synth_voice_run(synth_voice *voice, unsigned ticks);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
