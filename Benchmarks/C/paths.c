/// Changes that reach beyond their own key, to the observer of a key path or of a dependent key; and a
/// collection operator that reads many objects.
#include <stdlib.h>
#include <string.h>

#include "BenchmarkC.h"
#include "kvo_coding.h"
#include "kvo_collection.h"
#include "kvo_property.h"
#include "support.h"

/// A station is linked to the next one, or is in a collection with others. `total` depends on five of its
/// keys.
typedef struct station {
  kvo_object object;
  struct station *next;
  kvo_collection *stops;
  double value, a, b, c, d;
  double total;
} station;

#define STATION_PROPERTIES(PROPERTY)                        \
  PROPERTY(station, station *, next, Next, RETAIN)          \
  PROPERTY(station, kvo_collection *, stops, Stops, RETAIN) \
  PROPERTY(station, double, value, Value, ASSIGN)           \
  PROPERTY(station, double, a, A, ASSIGN)                   \
  PROPERTY(station, double, b, B, ASSIGN)                   \
  PROPERTY(station, double, c, C, ASSIGN)                   \
  PROPERTY(station, double, d, D, ASSIGN)                   \
  PROPERTY(station, double, total, Total, READONLY)
KVO_CLASS_INTERFACE(station, STATION_PROPERTIES)

static void derive_total(kvo_class *cls) {
  static const char *const keys[] = {"value", "a", "b", "c", "d"};
  kvo_error error;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    bench_require_ok(kvo_class_add_dependency(cls, "total", keys[i], &error), &error);
}

KVO_CLASS_IMPLEMENTATION(station, "BenchmarkStation", kvo_root_class, STATION_PROPERTIES,
    derive_total)

static station *make_station(void) {
  kvo_object *object = kvo_object_create(station_class());
  bench_require(object != NULL, "no station can be made");
  return (station *)object;
}

// MARK: Changes

/// A line of stations. The last one's value is set; the first one has the observer.
typedef struct line {
  station *first, *last;
  kvo_handle *handle;
  uint64_t deliveries;
} line;

static void line_run(void *opaque, uint64_t iterations) {
  station *last = ((line *)opaque)->last;
  for (uint64_t i = 0; i < iterations; i++) station_setValue(last, (double)i);
}

static void line_finish(void *opaque, uint64_t iterations) {
  line *line = opaque;
  bench_require(line->deliveries == iterations, "an observer was notified of %llu of %llu changes",
      (unsigned long long)line->deliveries, (unsigned long long)iterations);
  kvo_handle_release(line->handle);
  kvo_object_release(&line->first->object);
  free(line);
}

/// - count: the number of stations, each linked to the next.
static bench_workload make_line(size_t count, const char *key_path, kvo_options options) {
  line *line = bench_allocate(1, sizeof *line);
  line->first = line->last = make_station();
  for (size_t i = 1; i < count; i++) {
    station *next = make_station();
    station_setNext(line->last, next);
    kvo_object_release(&next->object);
    line->last = next;
  }
  line->handle = bench_observe(&line->first->object, key_path, options, &line->deliveries);
  return (bench_workload){line, line_run, line_finish};
}

bench_workload bench_path_leaf(size_t depth, bool old_new) {
  char key_path[128];
  bench_require(depth > 0 && depth * strlen("next.") < sizeof key_path, "the path is too long");
  char *end = key_path;
  for (size_t i = 1; i < depth; i++) end = stpcpy(end, "next.");
  strcpy(end, "value");
  return make_line(depth, key_path, old_new ? KVO_OLD | KVO_NEW : 0);
}

bench_workload bench_dependent(bool old_new) {
  return make_line(1, "total", old_new ? KVO_OLD | KVO_NEW : 0);
}

// MARK: Operators

static kvo_value *station_values(size_t count) {
  kvo_value *values = bench_allocate(count, sizeof *values);
  for (size_t i = 0; i < count; i++) {
    station *stop = make_station();
    station_setValue(stop, (double)i);
    values[i] = kvo_value_object(&stop->object);
    kvo_object_release(&stop->object);
  }
  return values;
}

static kvo_collection *make_stops(size_t count) {
  kvo_error error;
  kvo_value *values = station_values(count);
  kvo_collection *stops = kvo_collection_create(KVO_ARRAY, values, count, &error);
  bench_require(stops != NULL, "%s", error.message);
  for (size_t i = 0; i < count; i++) kvo_value_destroy(&values[i]);
  free(values);
  return stops;
}

static void sum_run(void *opaque, uint64_t iterations) {
  station *station = opaque;
  kvo_error error;
  for (uint64_t i = 0; i < iterations; i++) {
    kvo_value sum;
    bench_require_ok(kvo_value_for_key_path(&station->object, "stops.@sum.value", &sum, &error),
        &error);
    double count = (double)kvo_collection_count(station->stops);
    bench_require(kvo_value_get_double(&sum) == count * (count - 1) / 2, "the sum is wrong");
    kvo_value_destroy(&sum);
  }
}

static void sum_finish(void *opaque, uint64_t iterations) {
  (void)iterations;
  kvo_object_release(opaque);
}

bench_workload bench_sum(size_t count) {
  station *station = make_station();
  kvo_collection *stops = make_stops(count);
  station_setStops(station, stops);
  kvo_object_release((kvo_object *)stops);
  return (bench_workload){station, sum_run, sum_finish};
}
