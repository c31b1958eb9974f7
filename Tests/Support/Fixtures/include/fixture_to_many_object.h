/// To-many keys with elements of all kinds and accessors of all forms.
#ifndef FIXTURE_TO_MANY_OBJECT_H
#define FIXTURE_TO_MANY_OBJECT_H

#include "fixture_scalars.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

enum { TO_MANY_OBJECT_ROOM = 8 };

/// `names` is an ordered set of strings with narrow index types; `colours` an array of structs read in bulk;
/// `friends` a set of objects whose `memberOf` returns the member; `blobs` an array of structs larger than any
/// register; `numbers`, `crowd` and `line` are ivars without methods.
typedef struct to_many_object {
  kvo_object object;
  size_t name_count;
  const char *KVO_NULLABLE names[TO_MANY_OBJECT_ROOM]; ///< owned
  size_t colour_count;
  rgb colours[TO_MANY_OBJECT_ROOM];
  size_t friend_count;
  tracked *KVO_NULLABLE friends[TO_MANY_OBJECT_ROOM]; ///< retained
  kvo_object *KVO_NULLABLE numbers;
  kvo_object *KVO_NULLABLE crowd;
  kvo_object *KVO_NULLABLE line;
} to_many_object;

/// 72 bytes, the first of which distinguishes it.
typedef struct blob {
  int64_t words[9];
} blob;

const kvo_class *to_many_object_class(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
