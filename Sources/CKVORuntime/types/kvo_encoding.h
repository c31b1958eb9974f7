/// Reading type encodings, the texts with which Objective-C describes C types.
///
/// The reader accepts: the scalars `c C s S i I l L q Q f d D B`, `*` strings, `@` objects, `:` selectors, `^`
/// pointers to anything, `{name=…}` structs, and inside structs `[n…]` arrays. It skips names of members in quotes,
/// class names after `@`, and qualifiers such as `r` (const).
///
/// It also normalises the text: skipped parts are left out, `l` becomes `q`, and every pointer becomes `^v`, so that
/// types which behave the same have the same text. A struct keeps its name: structs with equal members and different
/// names are different types.
#ifndef KVO_ENCODING_H
#define KVO_ENCODING_H

#include "kvo_value.h"

KVO_ASSUME_NONNULL_BEGIN
#pragma GCC visibility push(hidden)

/// The largest type: passing a larger one by value would endanger the stack.
enum { KVO_ENCODING_SIZE_LIMIT = 64 * 1024, KVO_ENCODING_DEPTH_LIMIT = 32 };

/// The context of a type, which determines the types that are allowed.
typedef enum kvo_encoding_role {
  KVO_ENCODING_OF_VALUE,  ///< a property or an argument: anything that can be passed
  KVO_ENCODING_OF_RESULT, ///< also void
  KVO_ENCODING_OF_MEMBER, ///< also an array
} kvo_encoding_role;

/// A type that was read. For an array, `kind`, `text` and `length` describe the element, `size` and `alignment` the
/// whole array.
typedef struct kvo_encoding_item {
  kvo_kind kind;
  size_t size;
  size_t alignment;
  size_t count; ///< the number of elements, over all dimensions; 1 if it is not an array
  const char *text;
  size_t length;
} kvo_encoding_item;

/// A position in an encoding. Made by `kvo_encoding_start`.
typedef struct kvo_encoding_reader {
  const char *text;
  const char *next;
  char *KVO_NULLABLE normal; ///< where the next normalised character goes
  unsigned depth;
  kvo_error *KVO_NULLABLE error;
} kvo_encoding_reader;

/// Makes a reader at the beginning of `text`.
/// - normal: NULL, or a buffer of the size of `text`, including its NUL.
/// - error: filled in by the call that refuses; the message has text, cause and position.
kvo_encoding_reader kvo_encoding_start(const char *text, char *KVO_NULLABLE normal,
    kvo_error *KVO_NULLABLE error);
/// Reads one type. This function and the following ones return KVO_OK or KVO_INVALID_ENCODING.
kvo_status kvo_encoding_read(kvo_encoding_reader *reader, kvo_encoding_role role,
    kvo_encoding_item *item);
/// Checks that the whole text was read, and ends the normalised text.
kvo_status kvo_encoding_finish(kvo_encoding_reader *reader);
/// Whether the whole text was read.
bool kvo_encoding_at_end(const kvo_encoding_reader *reader);
/// Skips the stack offset that compilers write after each type of a method.
void kvo_encoding_skip_offset(kvo_encoding_reader *reader);

/// Steps from the `{` of a struct to its first member.
kvo_status kvo_encoding_enter_struct(kvo_encoding_reader *reader);
/// Reads a member, or the `}` after the last one, which gives KVO_KIND_VOID.
kvo_status kvo_encoding_next_member(kvo_encoding_reader *reader, kvo_encoding_item *member);
/// Adds a member to a struct's layout, in which `whole->size` has no padding at the end yet. Returns the member's
/// offset.
size_t kvo_encoding_add_member(kvo_encoding_item *whole, const kvo_encoding_item *member);
/// Adds the padding at the end of a struct's layout.
void kvo_encoding_close_struct(kvo_encoding_item *whole);

#pragma GCC visibility pop
KVO_ASSUME_NONNULL_END

#endif
