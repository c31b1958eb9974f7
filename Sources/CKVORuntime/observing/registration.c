// Making registrations (C1, C3). They end (registration_end.c) by removal, by invalidation, or by the death of the
// observed object or of the observer, whichever is first.
//
// A registration with an observer object is linked in two places: in the table of the observed object, and in the
// observer's list of its registrations, under the observer's lock. It holds an unowned reference to the observer, so
// that a delivery can check whether the observer is alive. It is inserted before its initial call, so that no change
// is missed between the two. A registration for a key path follows the path (path_tasks.c) before the initial call.
//
// If this calls the program's code (class hooks, getters, the initial call), object and observer are held until the
// registration is made (C4). That code may release the last other reference to either.
#include "base/kvo_fail.h"
#include "base/kvo_intern.h"
#include "base/kvo_lock.h"
#include "base/kvo_log.h"
#include "base/kvo_memory.h"
#include "coding/kvo_get_key_path.h"
#include "delivery/kvo_delivery.h"
#include "graph/kvo_graph.h"
#include "values/kvo_collection_internal.h"

#include <string.h>

typedef struct request {
  kvo_object *object;
  kvo_object *observer; // or NULL for a callback
  const kvo_class *observers_class;
  const char *key_path;
  const kvo_key_path *path;
  kvo_options options;
  kvo_callback callback;
  void *context;
  void (*ended)(void *context);
  const void *words; // of a binding: they are stored after the registration, and are its context
  size_t words_size;
} request;

// MARK: Making

// `end` is the end of the registration's own data, where the words are stored.
KVO_INLINE void registration_fill_in(kvo_registration *made, const request *request,
    kvo_thread *thread, const kvo_accessors *accessors, bool with_handle, void *end) {
  *made = (kvo_registration){.references = with_handle ? 2 : 1,
      .options = (uint8_t)(request->options & KVO_ALL_OPTIONS),
      .context =
          request->words ? memcpy(end, request->words, request->words_size) : request->context,
      .tagged_accessors = kvo_tag_accessors(accessors),
      .thread = thread->number,
      .object = request->object};
  if (request->observer) {
    made->options |= KVO_BY_OBSERVER;
    made->observer = request->observer;
    made->operations = request->observers_class->operations_number;
  } else {
    made->callback = request->callback;
    made->ended = request->ended;
  }
}

static __attribute__((noinline)) kvo_registration *make_counted(const request *request,
    kvo_thread *thread, const kvo_accessors *accessors, bool with_handle) {
  size_t size = sizeof(kvo_registration) + sizeof(kvo_counts);
  kvo_registration *made = kvo_alloc_zeroed(size + request->words_size);
  if (!made) return NULL;
  registration_fill_in(made, request, thread, accessors, with_handle, (char *)made + size);
  made->has_counts = true;
  return made;
}

KVO_INLINE kvo_registration *make_plain(const request *request, kvo_thread *thread,
    const kvo_accessors *accessors, bool with_handle) {
  bool is_counted = request->options & KVO_DISTINCT || kvo_log_flags & KVO_COUNT_HITS;
  if (KVO_UNLIKELY(is_counted)) return make_counted(request, thread, accessors, with_handle);
  kvo_registration *made = kvo_alloc(sizeof *made + request->words_size);
  if (made) registration_fill_in(made, request, thread, accessors, with_handle, made + 1);
  return made;
}

static kvo_registration *make_first_node(const request *request, kvo_thread *thread,
    const kvo_accessors *accessors, bool with_handle) {
  kvo_path_observation *observation =
      kvo_path_observation_make(request->object, request->path, accessors, NULL);
  kvo_path_node *node = observation ? kvo_alloc_zeroed(sizeof *node + request->words_size) : NULL;
  if (node) {
    registration_fill_in(&node->entry, request, thread, accessors, with_handle, node + 1);
    node->entry.options |= KVO_PATH_NODE;
    node->entry.has_counts = true;
    kvo_path_node_init(node, observation, request->path->first_key);
    observation->first = node;
  }
  if (observation) kvo_path_observation_release(observation);
  return node ? &node->entry : NULL;
}

static kvo_registration *registration_make(const request *request, const kvo_accessors *accessors,
    bool with_handle) {
  kvo_thread *thread = kvo_thread_current();
  if (!thread) return NULL;
  bool has_links = request->path->count > 1;
  return has_links ? make_first_node(request, thread, accessors, with_handle)
                   : make_plain(request, thread, accessors, with_handle);
}

// Frees a registration that was not inserted.
static void registration_discard(kvo_registration *made) {
  kvo_path_node *node = kvo_path_node_of(made);
  if (node) kvo_path_observation_release(node->observation);
  kvo_free(made);
}

// Removes a registration whose path could not be followed completely, or whose initial call could not be made. A
// group's registration is ended with its group.
static kvo_status registration_take_back(kvo_registration *registration, kvo_handle **handle,
    const kvo_accessors *accessors, kvo_error *error) {
  if (!(registration->options & KVO_GROUPED)) {
    if (!(registration->options & KVO_BY_OBSERVER)) registration->ended = NULL;
    kvo_registration_end(registration);
    if (handle) kvo_registration_release(registration);
  }
  return kvo_fail_no_memory(error, "observe", accessors->cls->name, accessors->key);
}

// Frees a registration that could not be inserted.
static kvo_status registration_give_up(kvo_registration *registration,
    kvo_prepared_registration *prepared, kvo_error *error) {
  kvo_prepared_registration_discard(prepared);
  if (!(registration->options & KVO_GROUPED)) registration_discard(registration);
  return kvo_fail_no_memory(error, "observe", prepared->accessors->cls->name,
      prepared->accessors->key);
}

// The state of an insertion, for cleaning up if the program's code throws an exception.
typedef struct {
  kvo_registration *registration;
  kvo_prepared_registration *prepared;
  kvo_handle **handle;
  kvo_error *error;
  kvo_frame *frame; // protects the object, if the current value is read or delivered
  bool is_inserted; // the object refers to the registration
  kvo_status status;
} insertion;

static kvo_status no_memory_in_time(const insertion *insertion) {
  return registration_take_back(insertion->registration, insertion->handle,
      insertion->prepared->accessors, insertion->error);
}

// False if out of memory.
static bool registration_insert_entry(insertion *insertion, kvo_path_node *node) {
  kvo_retired *retired = NULL;
  bool in_graph = node || insertion->prepared->dependent_key;
  kvo_registration_retain(insertion->registration); // another thread may remove it at once
  if (in_graph) pthread_mutex_lock(&kvo_graph_lock);
  insertion->is_inserted = kvo_entry_insert(insertion->registration, insertion->prepared, &retired);
  if (in_graph) pthread_mutex_unlock(&kvo_graph_lock);
  kvo_retire(retired);
  if (!insertion->is_inserted) kvo_registration_release(insertion->registration);
  return insertion->is_inserted;
}

static void registration_attach(insertion *insertion, kvo_path_node *node) {
  kvo_prepared_registration *prepared = insertion->prepared;
  bool in_graph = node || prepared->dependent_key;
  if (in_graph && kvo_registration_state(insertion->registration) != KVO_NOT_INSERTED) {
    kvo_dependent_key *dependent_key = prepared->dependent_key;
    prepared->dependent_key = NULL;
    kvo_path_attach(node, dependent_key);
  }
  kvo_prepared_registration_finish(prepared);
}

// Inserts the registration, and follows its path.
static void registration_insert_all(insertion *insertion) {
  kvo_path_node *node = kvo_path_node_of(insertion->registration);
  uint64_t shortages = kvo_shortages;
  if (!registration_insert_entry(insertion, node)) {
    insertion->status =
        registration_give_up(insertion->registration, insertion->prepared, insertion->error);
    return;
  }
  registration_attach(insertion, node);
  if (kvo_shortages != shortages) insertion->status = no_memory_in_time(insertion);
}

static void registration_insert(void *opaque) {
  insertion *insertion = opaque;
  registration_insert_all(insertion);
  if (insertion->status || !insertion->frame) return;
  // Another thread has ended its group.
  if (kvo_registration_state(insertion->registration) == KVO_NOT_INSERTED) return;
  if (!kvo_deliver_initial(insertion->registration, insertion->prepared->accessors,
          insertion->frame))
    insertion->status = no_memory_in_time(insertion);
}

static void end_insertion(void *opaque) {
  const insertion *insertion = opaque;
  if (insertion->prepared->dependent_key) kvo_prepared_registration_discard(insertion->prepared);
  if (insertion->is_inserted) kvo_registration_release(insertion->registration);
  if (insertion->frame) kvo_frame_pop(insertion->frame);
}

// The registration may end during the initial call, or on another thread, so a frame protects it.
kvo_status kvo_registration_insert(kvo_registration *registration,
    kvo_prepared_registration *prepared, kvo_handle **handle, kvo_error *error) {
  insertion insertion = {
      .registration = registration, .prepared = prepared, .handle = handle, .error = error};
  if (registration->options & (KVO_INITIAL | KVO_DISTINCT)) {
    insertion.frame =
        kvo_frame_push_as(kvo_thread_current(), registration->object, KVO_FRAME_DELIVERING);
    if (!insertion.frame) return registration_give_up(registration, prepared, error);
    insertion.frame->id = kvo_registration_id(registration);
  }
  if (handle) *handle = registration;
  kvo_log_registration(registration, "added");
  kvo_unwinding(registration_insert, end_insertion, &insertion);
  if (insertion.status && handle) *handle = NULL;
  end_insertion(&insertion);
  return insertion.status;
}

// MARK: Adding

static kvo_status check_path(const request *request, const kvo_class *cls, kvo_error *error) {
  const kvo_key_path *path = request->path;
  if (path->operates || path->first_key == path->count)
    return kvo_fail(error, KVO_NOT_OBSERVABLE, cls->name, path->text,
        "\"%s\" of %s can't be observed: a key path begins with a key.", path->text, cls->name);
  return path->count > 1 ? kvo_key_path_walk(request->object, path, path->first_key, error)
                         : KVO_OK;
}

KVO_INLINE kvo_status add_along(request *request, const kvo_class *cls, kvo_handle **handle,
    kvo_error *error) {
  kvo_error cause; // filled in completely on failure
  cause.status = KVO_OK;
  kvo_prepared_registration prepared = {0};
  kvo_status status = check_path(request, cls, &cause);
  if (!status)
    status = kvo_registration_prepare(request->object,
        request->path->components[request->path->first_key].key, &prepared, &cause);
  if (status) return kvo_fail_with(error, &cause);
  kvo_registration *made = registration_make(request, prepared.accessors, handle != NULL);
  if (!made) {
    kvo_prepared_registration_discard(&prepared);
    return kvo_fail_no_memory(error, "observe", cls->name, request->key_path);
  }
  return kvo_registration_insert(made, &prepared, handle, error);
}

// A registration that calls the program's code. Object and observer are held.
typedef struct {
  request *request; // its path is NULL if it is only valid during this call
  const kvo_class *cls;
  kvo_handle **handle;
  kvo_error *error;
  kvo_status status;
} addition;

static kvo_status add_along_passing(const kvo_key_path *path, void *opaque) {
  const addition *addition = opaque;
  addition->request->path = path;
  return add_along(addition->request, addition->cls, addition->handle, addition->error);
}

static void add_held(void *opaque) {
  addition *addition = opaque;
  request *request = addition->request;
  addition->status = request->path
                         ? add_along(request, addition->cls, addition->handle, addition->error)
                         : kvo_along_path(request->key_path, addition->cls, add_along_passing,
                               addition, addition->error);
}

static void hold_observer(void *opaque) {
  const addition *addition = opaque;
  kvo_with_object_retained(addition->request->observer, add_held, opaque);
}

static __attribute__((noinline)) kvo_status add_slowly(request *request, const kvo_class *cls,
    kvo_handle **handle, kvo_error *error) {
  addition addition = {.request = request, .cls = cls, .handle = handle, .error = error};
  kvo_with_object_retained(request->object, request->observer ? hold_observer : add_held,
      &addition);
  return addition.status;
}

// A key for which everything needed is known, and whose value is not read: none of the program's code runs here.
KVO_INLINE kvo_status add_ready(const request *request, const kvo_class *cls,
    const kvo_accessors *accessors, kvo_handle **handle, kvo_error *error) {
  kvo_prepared_registration prepared = {
      .object = request->object, .accessors = accessors, .dynamic = cls->dynamic};
  kvo_retired *retired = NULL;
  kvo_registration *made = make_plain(request, kvo_this_thread, accessors, handle != NULL);
  if (made && handle) *handle = made; // first: another thread may remove it once it is inserted
  if (!made || !kvo_entry_insert(made, &prepared, &retired)) {
    if (handle) *handle = NULL;
    kvo_free(made);
    kvo_retire(retired);
    return kvo_fail_no_memory(error, "observe", accessors->cls->name, accessors->key);
  }
  if (retired) kvo_retire(retired);
  kvo_prepared_registration_finish(&prepared);
  return KVO_OK;
}

static bool calls_nothing(kvo_options options) {
  bool reads = options & (KVO_INITIAL | KVO_DISTINCT);
  return KVO_LIKELY(!reads && !kvo_log_flags && kvo_this_thread);
}

bool kvo_key_is_ready(const kvo_object *object, const char *name) {
  return calls_nothing(0) && !kvo_wants_hints() &&
         kvo_class_ready_accessors(kvo_class_of(object), name);
}

static kvo_status registration_add(request *request, kvo_handle **handle, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(request->object);
  const char *name = request->key_path;
  bool may_be_ready = calls_nothing(request->options);
  const kvo_accessors *ready = may_be_ready ? kvo_class_recent_accessors(cls, name) : NULL;
  if (KVO_LIKELY(ready != NULL)) return add_ready(request, cls, ready, handle, error);
  if (cls->is_collection) return kvo_collection_refuse_observing(request->object, name, error);
  kvo_single_path room; // a registration of one key does not store its path
  const kvo_key_path *path = request->path = kvo_key_path_known(name, &room);
  if (may_be_ready && path && path->count == 1) ready = kvo_class_ready_key(cls, path->text, name);
  return ready ? add_ready(request, cls, ready, handle, error)
               : add_slowly(request, cls, handle, error);
}

// A key that may contain a dot. Its text is not looked up as a key path.
static kvo_status add_of_key(request *request, kvo_handle **handle, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(request->object);
  if (KVO_LIKELY(kvo_key_is_plain(request->key_path)))
    return registration_add(request, handle, error);
  request->path = kvo_key_path_of_key(request->key_path);
  return request->path ? add_slowly(request, cls, handle, error)
                       : kvo_fail_no_memory(error, "observe", cls->name, request->key_path);
}

kvo_status kvo_add_callback(kvo_object *object, const char *key_path, kvo_options options,
    kvo_callback callback, void *context, void (*ended)(void *context), kvo_handle **handle,
    kvo_error *error) {
  request request = {.object = object,
      .key_path = key_path,
      .options = options,
      .callback = callback,
      .context = context,
      .ended = ended};
  if (handle) *handle = NULL;
  return registration_add(&request, handle, error);
}

kvo_status kvo_add_callback_with_words(kvo_object *object, const char *key_path,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*ended)(void *words), kvo_handle **handle, kvo_error *error) {
  request request = {.object = object,
      .key_path = key_path,
      .options = options,
      .callback = callback,
      .ended = ended,
      .words = words,
      .words_size = size};
  *handle = NULL;
  return registration_add(&request, handle, error);
}

kvo_status kvo_add_callback_of_key_with_words(kvo_object *object, const char *key,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*ended)(void *words), kvo_handle **handle, kvo_error *error) {
  request request = {.object = object,
      .key_path = key,
      .options = options,
      .callback = callback,
      .ended = ended,
      .words = words,
      .words_size = size};
  *handle = NULL;
  return add_of_key(&request, handle, error);
}

bool kvo_add_callback_by_token(kvo_object *object, const void *type, const void *token,
    kvo_options options, kvo_callback callback, const void *words, size_t size,
    void (*ended)(void *words), kvo_handle **handle) {
  // If hints are wanted, the binding may have one about the key.
  bool is_silent = calls_nothing(options) && !kvo_wants_hints();
  const kvo_accessors *ready = is_silent ? kvo_token_accessors(token, type) : NULL;
  if (KVO_UNLIKELY(!ready)) return false;
  const request request = {.object = object,
      .options = options,
      .callback = callback,
      .ended = ended,
      .words = words,
      .words_size = size};
  return add_ready(&request, ready->cls, ready, handle, NULL) == KVO_OK;
}

static bool can_observe(const kvo_class *cls) {
  return cls->operations->observe || kvo_class_find_method(cls, kvo_hooks()->observe);
}

kvo_status kvo_add_observer(kvo_object *object, kvo_object *observer, const char *key_path,
    kvo_options options, void *context, kvo_error *error) {
  const kvo_class *cls = kvo_class_of(observer);
  if (!can_observe(cls))
    return kvo_fail(error, KVO_INVALID_ARGUMENT, cls->name, key_path,
        "%s can't be an observer of \"%s\": it does not answer %s.", cls->name, key_path,
        kvo_hooks()->observe);
  request request = {.object = object,
      .observer = observer,
      .observers_class = cls,
      .key_path = key_path,
      .options = options,
      .context = context};
  return registration_add(&request, NULL, error);
}
