/// An engine of C: a synthesizer's voice, whose parameters glide to where they are wanted on a thread of the
/// voice's own. It knows nothing of who may be watching.
#ifndef PARAMETER_ENGINE_H
#define PARAMETER_ENGINE_H

#include <CKVORuntime.h>

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

typedef struct synth_voice synth_voice;

/// A place on the pad that a voice is played on, from 0, 0 to `SYNTH_PAD_WIDTH`, `SYNTH_PAD_HEIGHT`.
typedef struct synth_point {
  double x, y;
} synth_point;
#define SYNTH_PAD_WIDTH 30
#define SYNTH_PAD_HEIGHT 6

/// A voice at 0, 0 that is silent, owned by the caller, who ends it with `synth_voice_close`, which also stops its
/// thread.
synth_voice *synth_voice_open(const char *name);
void synth_voice_close(synth_voice *voice);

/// The voice as an object, for as long as it is open or somebody retains the object. Its keys may be read by any
/// thread, as they are locked.
///
/// | key | type | set by |
/// |---|---|---|
/// | `name` | string | nobody |
/// | `target` | `synth_point` | whoever plays: where the voice is to go, on the pad |
/// | `gain` | double | whoever plays: how loud it is to be, from 0 to 1 |
/// | `paused` | bool | whoever plays |
/// | `position` | `synth_point` | the voice's thread: where it is |
/// | `level` | double | the voice's thread: how loud it is |
/// | `step` | int64_t | the voice's thread: how often it has moved |
/// | `ticks` | int64_t | the voice's thread: how often it has been its turn, paused or not |
kvo_object *synth_voice_object(synth_voice *voice);

/// Has the thread do a tick every so many milliseconds until it is stopped. What a tick changes is told when it
/// ends, by the thread. Starting, running and stopping are for one thread, and not for observers.
void synth_voice_start(synth_voice *voice, unsigned milliseconds);
void synth_voice_stop(synth_voice *voice);
/// Has the thread do so many ticks one after another, and returns when it has.
void synth_voice_run(synth_voice *voice, unsigned ticks);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
