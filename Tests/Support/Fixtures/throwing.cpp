#include "fixture_thrower.h"

namespace {

struct thrown {
  int number;
};

template <typename Body> int thrown_by(Body body) {
  try {
    body();
    return 0;
  } catch (const thrown &caught) {
    return caught.number;
  }
}

struct countdown {
  thrower *object;
  int throws;
};

void count_down(void *context, kvo_object *, const char *, const kvo_change *) {
  auto *state = static_cast<countdown *>(context);
  double left = thrower_reading(state->object);
  if (left == 0) fixture_throw(state->throws);
  else thrower_setReading(state->object, left - 1);
}

} // namespace

void fixture_throw(int number) {
  if (number) throw thrown{number};
}

void shelf_throws_once(shelf *self) {
  self->before_get = nullptr;
  fixture_throw(1);
}

void trap_spring(trap *trap, const kvo_change *change) {
  trap->calls++;
  if (trap->first) trap->first(trap->first_context);
  fixture_throw(kvo_change_is_prior(change) ? trap->prior : trap->final);
}

void trap_callback(void *context, kvo_object *, const char *, const kvo_change *change) {
  trap_spring(static_cast<trap *>(context), change);
}

void trap_ended(void *context) { static_cast<trap *>(context)->ends++; }

int thrown_by_set_reading(thrower *object, double value) {
  return thrown_by([=] { thrower_setReading(object, value); });
}

int thrown_by_release(kvo_object *object) {
  return thrown_by([=] { kvo_object_release(object); });
}

namespace {

// A value of a type whose destructor takes an account's branch, and may throw.
struct ending {
  account *account;
  int throws;
  size_t ends;
};

void copy_ending(const kvo_type *, void *target, const void *source) {
  *static_cast<ending **>(target) = *static_cast<ending *const *>(source);
}

void end_ending(const kvo_type *, void *value) {
  ending *ended = *static_cast<ending **>(value);
  ended->ends++;
  account_setBranch(ended->account, nullptr);
  fixture_throw(ended->throws);
}

} // namespace

int thrown_by_death_of_list(account *account, kvo_object *first, int throws, size_t *ends) {
  static const kvo_type type = {"ending", sizeof(struct ending *), alignof(struct ending *),
      KVO_KIND_BINDING, copy_ending, end_ending, nullptr, nullptr, nullptr, nullptr};
  struct ending ending = {account, 0, 0}, *place = &ending;
  kvo_value elements[2] = {kvo_value_object(first)};
  kvo_value_init(&elements[1], &type, &place);
  kvo_collection *list = kvo_collection_create(KVO_ARRAY, elements, 2, nullptr);
  kvo_value_destroy(&elements[0]);
  elements[1].type = nullptr; // needs no destruction
  kvo_object_release(first);
  ending.throws = throws;
  int thrown = thrown_by([=] { kvo_object_release(reinterpret_cast<kvo_object *>(list)); });
  *ends = ending.ends;
  return thrown;
}

namespace {

struct kept {
  int throws;
  size_t *released;
};

void release_kept(void *value) {
  auto *kept = static_cast<struct kept *>(value);
  ++*kept->released;
  fixture_throw(kept->throws);
}

} // namespace

int thrown_by_death_with_values(kvo_object *object, size_t count, int throws, size_t *released) {
  static const char keys[8] = {};
  kept kept = {throws, released};
  *released = 0;
  for (size_t i = 0; i < count && i < sizeof keys; i++)
    kvo_object_associate(object, &keys[i], &kept, release_kept, nullptr);
  return thrown_by_release(object);
}

int thrown_by_set_edge(thrower *object, int value) {
  extent extent = {};
  extent.edges[0] = value;
  return thrown_by([=] { thrower_setExtent(object, extent); });
}

int thrown_by_set_value(kvo_object *object, const char *key, const kvo_value *value) {
  return thrown_by([=] { kvo_set_value_for_key(object, key, value, nullptr); });
}

int thrown_by_set_path(kvo_object *object, const char *key_path, const kvo_value *value) {
  return thrown_by([=] { kvo_set_value_for_key_path(object, key_path, value, nullptr); });
}

int thrown_by_get_value(kvo_object *object, const char *key) {
  kvo_value value = {};
  int number = thrown_by([&] { kvo_value_for_key(object, key, &value, nullptr); });
  if (!number) kvo_value_destroy(&value);
  return number;
}

int thrown_by_get_path(kvo_collection *collection, const char *key_path) {
  auto *object = reinterpret_cast<kvo_object *>(collection);
  kvo_value value = {};
  int number = thrown_by([&] { kvo_value_for_key_path(object, key_path, &value, nullptr); });
  if (!number) kvo_value_destroy(&value);
  return number;
}

int thrown_by_set_key(kvo_collection *collection, const char *key) {
  const kvo_value value = kvo_value_double(1);
  return thrown_by([=] {
    kvo_set_value_for_key(reinterpret_cast<kvo_object *>(collection), key, &value, nullptr);
  });
}

int thrown_by_append(kvo_collection *proxy, const kvo_value *value) {
  return thrown_by([=] { kvo_collection_append(proxy, value, nullptr); });
}

int thrown_by_coalescing(thrower *object, int throws) {
  countdown state = {object, throws};
  auto body = [](void *context) {
    auto *state = static_cast<countdown *>(context);
    thrower_setReading(state->object, 1);
    thrower_setReading(state->object, 2);
    fixture_throw(state->throws);
  };
  return thrown_by([&] { kvo_coalesce(&object->base.object, body, &state); });
}

int thrown_by_will_change(kvo_object *object, const char *key) {
  return thrown_by([=] { kvo_will_change(object, key); });
}

int thrown_by_did_change(kvo_object *object, const char *key) {
  return thrown_by([=] { kvo_did_change(object, key); });
}

int thrown_by_add(kvo_object *object, const char *key, kvo_options options, trap *trap,
    kvo_handle **handle) {
  return thrown_by([=] {
    kvo_add_callback(object, key, options, trap_callback, trap, trap_ended, handle, nullptr);
  });
}

int thrown_by_add_keys(kvo_object *object, const char *key, const char *other, kvo_options options,
    trap *trap, kvo_handle **handle) {
  const char *const keys[] = {key, other};
  return thrown_by([&] {
    kvo_add_callback_for_keys(object, keys, 2, options, trap_callback, trap, 0, trap_ended, handle,
        nullptr);
  });
}

int thrown_by_add_observer(kvo_object *object, kvo_object *observer, const char *key,
    kvo_options options) {
  return thrown_by([=] { kvo_add_observer(object, observer, key, options, nullptr, nullptr); });
}

int thrown_by_countdown(thrower *object, int depth, int throws) {
  countdown state = {object, throws};
  kvo_handle *handle = nullptr;
  kvo_add_callback(&object->base.object, "reading", KVO_OLD, count_down, &state, nullptr, &handle,
      nullptr);
  int number = thrown_by([=] { thrower_setReading(object, depth); });
  kvo_handle_release(handle);
  return number;
}
