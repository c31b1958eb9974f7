/// To-many keys with elements of all kinds and accessors of all forms.
#ifndef FIXTURE_CRATE_H
#define FIXTURE_CRATE_H

#include "fixture_scalars.h"

KVO_BEGIN_DECLS
KVO_ASSUME_NONNULL_BEGIN

enum { CRATE_ROOM = 8 };

/// `names` is an ordered set of strings with narrow index types; `colours` an array of structs read in bulk;
/// `friends` a set of objects whose `memberOf` returns the member; `blobs` an array of structs larger than any
/// register; `numbers`, `crowd` and `line` are ivars without methods.
typedef struct crate {
  kvo_object object;
  size_t name_count;
  const char *KVO_NULLABLE names[CRATE_ROOM]; ///< owned
  size_t colour_count;
  rgb colours[CRATE_ROOM];
  size_t friend_count;
  tracked *KVO_NULLABLE friends[CRATE_ROOM]; ///< retained
  kvo_object *KVO_NULLABLE numbers;
  kvo_object *KVO_NULLABLE crowd;
  kvo_object *KVO_NULLABLE line;
} crate;

/// 72 bytes, the first of which distinguishes it.
typedef struct blob {
  int64_t words[9];
} blob;

const kvo_class *crate_class(void);

KVO_ASSUME_NONNULL_END
KVO_END_DECLS

#endif
