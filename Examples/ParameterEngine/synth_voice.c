#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ParameterEngine.h"

struct synth_voice {
  kvo_object object;
  const char *name;
  synth_point target, position;
  double gain, level;
  bool paused;
  int64_t step, ticks;

  pthread_mutex_t lock; // protects all fields above except `name`, and `is_stopped`
  pthread_cond_t stopped;
  bool is_stopped;
  // Used only by the thread that starts and stops the voice.
  bool has_thread;
  pthread_t thread;
  unsigned milliseconds, ticks_to_run;
};

#define SYNTH_VOICE_PROPERTIES(PROPERTY)                                             \
  PROPERTY(synth_voice, const char *, name, Name, COPY)                              \
  PROPERTY(synth_voice, synth_point, target, Target, CUSTOM, "{synth_point=dd}")     \
  PROPERTY(synth_voice, double, gain, Gain, CUSTOM)                                  \
  PROPERTY(synth_voice, bool, paused, Paused, CUSTOM)                                \
  PROPERTY(synth_voice, synth_point, position, Position, CUSTOM, "{synth_point=dd}") \
  PROPERTY(synth_voice, double, level, Level, CUSTOM)                                \
  PROPERTY(synth_voice, int64_t, step, Step, CUSTOM)                                 \
  PROPERTY(synth_voice, int64_t, ticks, Ticks, CUSTOM)
KVO_CLASS_INTERFACE(synth_voice, SYNTH_VOICE_PROPERTIES)

// MARK: Properties

// The player sets some of these while the thread reads them, and the thread sets others while the
// player reads them. Each is read and written under the voice's lock. No setter is called while
// that lock is held.
#define LOCKED_PROPERTY(type, key, Key, taken)                                                   \
  static type synth_voice_##key##_imp(kvo_object *self, const kvo_method *_cmd) {                \
    synth_voice *voice = (synth_voice *)self;                                                    \
    (void)_cmd;                                                                                  \
    pthread_mutex_lock(&voice->lock);                                                            \
    type value = voice->key;                                                                     \
    pthread_mutex_unlock(&voice->lock);                                                          \
    return value;                                                                                \
  }                                                                                              \
  static void synth_voice_set##Key##_imp(kvo_object *self, const kvo_method *_cmd, type value) { \
    synth_voice *voice = (synth_voice *)self;                                                    \
    (void)_cmd;                                                                                  \
    pthread_mutex_lock(&voice->lock);                                                            \
    voice->key = taken;                                                                          \
    pthread_mutex_unlock(&voice->lock);                                                          \
  }

static void end_voice(kvo_object *self, const kvo_method *_cmd) {
  synth_voice *voice = (synth_voice *)self;
  (void)_cmd;
  pthread_cond_destroy(&voice->stopped);
  pthread_mutex_destroy(&voice->lock);
}

static void setup(kvo_class *cls) {
  kvo_class_add_method(cls, "dealloc", (kvo_imp)end_voice, KVO_HOOK, NULL, NULL);
}

KVO_CLASS_IMPLEMENTATION(synth_voice, "SynthVoice", kvo_root_class, SYNTH_VOICE_PROPERTIES, setup)

static double between(double least, double most, double value) {
  return fmin(fmax(value, least), most);
}

static synth_point on_the_pad(synth_point point) {
  return (synth_point){between(0, SYNTH_PAD_WIDTH, point.x), between(0, SYNTH_PAD_HEIGHT, point.y)};
}

LOCKED_PROPERTY(synth_point, target, Target, on_the_pad(value))
LOCKED_PROPERTY(double, gain, Gain, between(0, 1, value))
LOCKED_PROPERTY(bool, paused, Paused, value)
LOCKED_PROPERTY(synth_point, position, Position, value)
LOCKED_PROPERTY(double, level, Level, value)
LOCKED_PROPERTY(int64_t, step, Step, value)
LOCKED_PROPERTY(int64_t, ticks, Ticks, value)

// MARK: The voice's movement

// Goes half of the remaining way, or all of it if it is short.
static double glide(double from, double to) {
  double rest = (to - from) / 2;
  return fabs(rest) < 0.005 ? to : from + rest;
}

static void move(synth_voice *voice) {
  synth_point target = synth_voice_target(voice), position = synth_voice_position(voice);
  synth_voice_setPosition(voice,
      (synth_point){glide(position.x, target.x), glide(position.y, target.y)});
  synth_voice_setLevel(voice, glide(synth_voice_level(voice), synth_voice_gain(voice)));
  synth_voice_setStep(voice, synth_voice_step(voice) + 1);
}

static void tick(void *context) {
  synth_voice *voice = context;
  if (!synth_voice_paused(voice)) move(voice);
  synth_voice_setTicks(voice, synth_voice_ticks(voice) + 1);
}

// Waits for the next tick; false if the voice is stopped while waiting.
static bool wait_for_tick(synth_voice *voice) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += voice->milliseconds * 1000000L;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock(&voice->lock);
  while (!voice->is_stopped && !pthread_cond_timedwait(&voice->stopped, &voice->lock, &until)) {}
  bool goes_on = !voice->is_stopped;
  pthread_mutex_unlock(&voice->lock);
  return goes_on;
}

static void *tick_by_the_clock(void *context) {
  synth_voice *voice = context;
  while (wait_for_tick(voice)) kvo_coalesce(&voice->object, tick, voice);
  return NULL;
}

static void *tick_at_once(void *context) {
  synth_voice *voice = context;
  for (unsigned i = 0; i < voice->ticks_to_run; i++) kvo_coalesce(&voice->object, tick, voice);
  return NULL;
}

// MARK: The thread

static void stop_the_program(const char *message) {
  fprintf(stderr, "%s\n", message);
  abort();
}

static void start_thread(synth_voice *voice, void *(*body)(void *)) {
  voice->is_stopped = false;
  if (pthread_create(&voice->thread, NULL, body, voice)) stop_the_program("No thread for a voice.");
  voice->has_thread = true;
}

static void join_thread(synth_voice *voice) {
  pthread_join(voice->thread, NULL);
  voice->has_thread = false;
}

void synth_voice_start(synth_voice *voice, unsigned milliseconds) {
  synth_voice_stop(voice);
  voice->milliseconds = milliseconds;
  start_thread(voice, tick_by_the_clock);
}

void synth_voice_stop(synth_voice *voice) {
  if (!voice->has_thread) return;
  pthread_mutex_lock(&voice->lock);
  voice->is_stopped = true;
  pthread_cond_signal(&voice->stopped);
  pthread_mutex_unlock(&voice->lock);
  join_thread(voice);
}

void synth_voice_run(synth_voice *voice, unsigned ticks) {
  synth_voice_stop(voice);
  voice->ticks_to_run = ticks;
  start_thread(voice, tick_at_once);
  join_thread(voice);
}

// MARK: Voices

static void make_lock(synth_voice *voice) {
  pthread_condattr_t by_monotonic_clock;
  pthread_condattr_init(&by_monotonic_clock);
  pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC);
  pthread_cond_init(&voice->stopped, &by_monotonic_clock);
  pthread_condattr_destroy(&by_monotonic_clock);
  pthread_mutex_init(&voice->lock, NULL);
}

synth_voice *synth_voice_open(const char *name) {
  synth_voice *voice = (synth_voice *)kvo_object_create(synth_voice_class());
  if (!voice) stop_the_program("No memory for a voice.");
  make_lock(voice);
  // No other thread has the voice yet, so this setter needs no lock.
  synth_voice_setName(voice, name);
  return voice;
}

void synth_voice_close(synth_voice *voice) {
  synth_voice_stop(voice);
  kvo_object_release(&voice->object);
}

kvo_object *synth_voice_object(synth_voice *voice) { return &voice->object; }
