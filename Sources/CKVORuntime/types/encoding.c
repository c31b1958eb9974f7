// A recursive-descent parser over the text itself. It builds nothing except the requested item. Struct types are made
// (struct.c) by reading the normalised text once more, member by member.
//
// Invariants: `next` never passes the NUL. For each character that is written to `normal` at least one was read, so
// the normalised text is never longer than the original. No size exceeds the limit, so arithmetic on sizes can't
// overflow.
#include "types/kvo_encoding.h"

#include "base/kvo_fail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct {
  char code;
  char normal;
  kvo_kind kind;
  size_t size;
  size_t alignment;
} scalar;

#define LAYOUT(type) sizeof(type), _Alignof(type)
static const scalar scalars[] = {
    {'c', 'c', KVO_KIND_INT8, LAYOUT(signed char)},
    {'C', 'C', KVO_KIND_UINT8, LAYOUT(unsigned char)},
    {'s', 's', KVO_KIND_INT16, LAYOUT(short)},
    {'S', 'S', KVO_KIND_UINT16, LAYOUT(unsigned short)},
    {'i', 'i', KVO_KIND_INT32, LAYOUT(int)},
    {'I', 'I', KVO_KIND_UINT32, LAYOUT(unsigned)},
#if __SIZEOF_LONG__ == 8
    {'l', 'q', KVO_KIND_INT64, LAYOUT(long)},
    {'L', 'Q', KVO_KIND_UINT64, LAYOUT(unsigned long)},
#else
    {'l', 'i', KVO_KIND_INT32, LAYOUT(long)},
    {'L', 'I', KVO_KIND_UINT32, LAYOUT(unsigned long)},
#endif
    {'q', 'q', KVO_KIND_INT64, LAYOUT(long long)},
    {'Q', 'Q', KVO_KIND_UINT64, LAYOUT(unsigned long long)},
    {'f', 'f', KVO_KIND_FLOAT, LAYOUT(float)},
    {'d', 'd', KVO_KIND_DOUBLE, LAYOUT(double)},
    {'D', 'D', KVO_KIND_LONG_DOUBLE, LAYOUT(long double)},
    {'B', 'B', KVO_KIND_BOOL, LAYOUT(bool)},
    {'*', '*', KVO_KIND_STRING, LAYOUT(char *)},
    {'@', '@', KVO_KIND_OBJECT, LAYOUT(kvo_object *)},
    {':', ':', KVO_KIND_SELECTOR, LAYOUT(void *)},
};

// Types that Objective-C's encodings can express and this runtime can't pass.
static const struct {
  char code;
  const char *cause;
} refusals[] = {
    {'b', "a bit-field ('b'), whose layout an encoding does not give"},
    {'(', "a union ('('), whose calling convention an encoding does not give"},
    {'t', "an __int128 ('t'), which libffi can't pass"},
    {'T', "an unsigned __int128 ('T'), which libffi can't pass"},
    {'!', "a vector ('!'), which libffi can't pass"},
    {'j', "a complex number ('j'), which is not supported; use a struct of two members"},
    {'A', "an atomic type ('A'), which can't be passed by value"},
    {'#', "a class ('#'), which is not a value here; use a pointer (\"^v\")"},
    {'?', "an unknown type ('?')"},
};

__attribute__((format(printf, 2, 3))) static kvo_status
encoding_refuse(const kvo_encoding_reader *reader, const char *format, ...) {
  char cause[240];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(cause, sizeof cause, format, arguments);
  va_end(arguments);
  return kvo_fail(reader->error, KVO_INVALID_ENCODING, NULL, NULL,
      "the encoding \"%.100s\" can't be used: %s, at position %td", reader->text, cause,
      reader->next - reader->text);
}

static kvo_status refuse_character(const kvo_encoding_reader *reader) {
  unsigned char code = (unsigned char)*reader->next;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (refusals[i].code == code) return encoding_refuse(reader, "it has %s", refusals[i].cause);
  if (code == ']' || code == '}')
    return encoding_refuse(reader, "it has a '%c' where a type should be", code);
  return encoding_refuse(reader,
      code > ' ' && code < 0x7f ? "it has the unknown character '%c'"
                                : "it has the unknown character 0x%02x",
      code);
}

static kvo_status refuse_end(const kvo_encoding_reader *reader) {
  if (reader->depth) return encoding_refuse(reader, "a struct or array is not closed");
  if (*reader->text) return encoding_refuse(reader, "it ends where a type should follow");
  return kvo_fail(reader->error, KVO_INVALID_ENCODING, NULL, NULL,
      "no encoding was given; scalars and pointers have one by themselves, except complex and "
      "half-precision numbers and __int128, which can't be used; a struct needs it named: "
      "KVO_STRUCT(struct point, \"{point=dd}\"), or the sixth argument of PROPERTY");
}

static void encoding_emit(kvo_encoding_reader *reader, const char *text, size_t length) {
  if (!reader->normal) return;
  memcpy(reader->normal, text, length);
  reader->normal += length;
}

static kvo_status skip_quoted(kvo_encoding_reader *reader) {
  const char *end = strchr(reader->next + 1, '"');
  if (!end) return encoding_refuse(reader, "a quoted name is not closed");
  reader->next = end + 1;
  return KVO_OK;
}

// Skips names of members, and the qualifiers const, in, inout, out, bycopy, byref, oneway.
static kvo_status skip_decoration(kvo_encoding_reader *reader) {
  kvo_status status = KVO_OK;
  while (!status && *reader->next && strchr("\"rnNoORV", *reader->next)) {
    if (*reader->next == '"') status = skip_quoted(reader);
    else reader->next++;
  }
  return status;
}

static kvo_status encoding_enter(kvo_encoding_reader *reader) {
  if (reader->depth == KVO_ENCODING_DEPTH_LIMIT)
    return encoding_refuse(reader, "it is nested more than %d deep", KVO_ENCODING_DEPTH_LIMIT);
  reader->depth++;
  return KVO_OK;
}

static kvo_status refuse_size(const kvo_encoding_reader *reader) {
  return encoding_refuse(reader, "it describes more than %d bytes", KVO_ENCODING_SIZE_LIMIT);
}

static kvo_status read_scalar(kvo_encoding_reader *reader, kvo_encoding_role role,
    kvo_encoding_item *item) {
  const scalar *found = NULL;
  for (size_t i = 0; !found && i < sizeof scalars / sizeof *scalars; i++)
    if (scalars[i].code == *reader->next) found = &scalars[i];
  if (*reader->next == 'v') {
    static const scalar nothing = {'v', 'v', KVO_KIND_VOID, 0, 1};
    if (role != KVO_ENCODING_OF_RESULT)
      return encoding_refuse(reader, "it has void ('v') in place of a value");
    found = &nothing;
  }
  if (!found) return refuse_character(reader);
  *item = (kvo_encoding_item){found->kind, found->size, found->alignment, 1, reader->next, 1};
  encoding_emit(reader, &found->normal, 1);
  reader->next++;
  if (found->kind != KVO_KIND_OBJECT) return KVO_OK;
  if (*reader->next == '?')
    return encoding_refuse(reader, "it has a block (\"@?\"), which is not an object here");
  return *reader->next == '"' ? skip_quoted(reader) : KVO_OK;
}

// Skips from an opening bracket past its closing one. The contents are not checked.
static kvo_status skip_bracketed(kvo_encoding_reader *reader) {
  static const char opening[] = "{([", closing[] = "})]";
  char expected[KVO_ENCODING_DEPTH_LIMIT];
  size_t depth = 0;
  do {
    const char *bracket = *reader->next ? strchr(opening, *reader->next) : NULL;
    if (!*reader->next) return encoding_refuse(reader, "what a pointer points to is not closed");
    if (*reader->next == '"') {
      if (skip_quoted(reader)) return KVO_INVALID_ENCODING;
      continue;
    }
    if (bracket) {
      if (depth == sizeof expected) return encoding_refuse(reader, "it is nested too deeply");
      expected[depth++] = closing[bracket - opening];
    } else if (strchr(closing, *reader->next) && *reader->next != expected[--depth]) {
      return encoding_refuse(reader, "it has a '%c' where '%c' should be", *reader->next,
          expected[depth]);
    }
    reader->next++;
  } while (depth);
  return KVO_OK;
}

// All pointers are alike, whatever they point to; but the end of the pointee must be recognisable.
static kvo_status read_pointer(kvo_encoding_reader *reader, kvo_encoding_item *item) {
  *item = (kvo_encoding_item){KVO_KIND_POINTER, LAYOUT(void *), 1, reader->next, 0};
  encoding_emit(reader, "^v", 2);
  while (*reader->next && strchr("^rnNoORVAj", *reader->next)) reader->next++;
  char pointee = *reader->next;
  if (!pointee) return encoding_refuse(reader, "a pointer points to nothing; write \"^v\"");
  if (strchr("{([", pointee)) {
    if (skip_bracketed(reader)) return KVO_INVALID_ENCODING;
  } else if (strchr("cCsSiIlLqQfdDBtTv*:#?@", pointee)) {
    reader->next++;
    if (pointee == '@' && *reader->next == '?') reader->next++;
    if (pointee == '@' && *reader->next == '"' && skip_quoted(reader)) return KVO_INVALID_ENCODING;
  } else {
    return refuse_character(reader);
  }
  item->length = (size_t)(reader->next - item->text);
  return KVO_OK;
}

static size_t read_count(kvo_encoding_reader *reader) {
  size_t count = 0;
  for (; *reader->next >= '0' && *reader->next <= '9'; reader->next++)
    if (count <= KVO_ENCODING_SIZE_LIMIT) count = count * 10 + (size_t)(*reader->next - '0');
  return count;
}

static kvo_status read_array(kvo_encoding_reader *reader, kvo_encoding_role role,
    kvo_encoding_item *item) {
  if (role != KVO_ENCODING_OF_MEMBER)
    return encoding_refuse(reader, "it is an array ('['), which C can't pass by value; "
                                   "put it into a struct or use a pointer");
  if (encoding_enter(reader)) return KVO_INVALID_ENCODING;
  reader->next++;
  size_t count = read_count(reader);
  if (!count) return encoding_refuse(reader, "an array has no number of elements, or none");
  char digits[24];
  encoding_emit(reader, digits, (size_t)snprintf(digits, sizeof digits, "[%zu", count));
  if (kvo_encoding_read(reader, KVO_ENCODING_OF_MEMBER, item) || skip_decoration(reader))
    return KVO_INVALID_ENCODING;
  if (*reader->next != ']')
    return *reader->next ? encoding_refuse(reader, "an array has more than one type")
                         : refuse_end(reader);
  if (count > KVO_ENCODING_SIZE_LIMIT / item->size) return refuse_size(reader);
  item->size *= count;
  item->count *= count;
  encoding_emit(reader, "]", 1);
  reader->next++;
  reader->depth--;
  return KVO_OK;
}

kvo_status kvo_encoding_enter_struct(kvo_encoding_reader *reader) {
  const char *name = reader->next + 1;
  size_t length = strcspn(name, "={}");
  if (name[length] != '=')
    return encoding_refuse(reader, "the members of the struct \"%.*s\" are missing; write {%.*s=…}",
        (int)(length < 60 ? length : 60), name, (int)(length < 60 ? length : 60), name);
  if (encoding_enter(reader)) return KVO_INVALID_ENCODING;
  encoding_emit(reader, reader->next, length + 2);
  reader->next += length + 2;
  return KVO_OK;
}

kvo_status kvo_encoding_next_member(kvo_encoding_reader *reader, kvo_encoding_item *member) {
  if (skip_decoration(reader)) return KVO_INVALID_ENCODING;
  if (*reader->next != '}') return kvo_encoding_read(reader, KVO_ENCODING_OF_MEMBER, member);
  *member = (kvo_encoding_item){KVO_KIND_VOID, 0, 1, 0, reader->next, 1};
  encoding_emit(reader, "}", 1);
  reader->next++;
  reader->depth--;
  return KVO_OK;
}

static size_t encoding_align(size_t size, size_t alignment) {
  return (size + alignment - 1) & ~(alignment - 1);
}

size_t kvo_encoding_add_member(kvo_encoding_item *whole, const kvo_encoding_item *member) {
  size_t offset = encoding_align(whole->size, member->alignment);
  whole->size = offset + member->size;
  if (member->alignment > whole->alignment) whole->alignment = member->alignment;
  return offset;
}

void kvo_encoding_close_struct(kvo_encoding_item *whole) {
  whole->size = encoding_align(whole->size, whole->alignment);
}

static kvo_status read_struct(kvo_encoding_reader *reader, kvo_encoding_item *item) {
  *item = (kvo_encoding_item){KVO_KIND_STRUCT, 0, 1, 1, reader->next, 0};
  if (kvo_encoding_enter_struct(reader)) return KVO_INVALID_ENCODING;
  for (;;) {
    kvo_encoding_item member;
    if (kvo_encoding_next_member(reader, &member)) return KVO_INVALID_ENCODING;
    if (member.kind == KVO_KIND_VOID) break;
    kvo_encoding_add_member(item, &member);
    if (item->size > KVO_ENCODING_SIZE_LIMIT) return refuse_size(reader);
  }
  if (!item->size) return encoding_refuse(reader, "a struct has no members");
  kvo_encoding_close_struct(item);
  if (item->size > KVO_ENCODING_SIZE_LIMIT) return refuse_size(reader);
  item->length = (size_t)(reader->next - item->text);
  return KVO_OK;
}

kvo_encoding_reader kvo_encoding_start(const char *text, char *normal, kvo_error *error) {
  return (kvo_encoding_reader){text, text, normal, 0, error};
}

kvo_status kvo_encoding_read(kvo_encoding_reader *reader, kvo_encoding_role role,
    kvo_encoding_item *item) {
  if (skip_decoration(reader)) return KVO_INVALID_ENCODING;
  switch (*reader->next) {
  case 0: return refuse_end(reader);
  case '{': return read_struct(reader, item);
  case '[': return read_array(reader, role, item);
  case '^': return read_pointer(reader, item);
  default: return read_scalar(reader, role, item);
  }
}

kvo_status kvo_encoding_finish(kvo_encoding_reader *reader) {
  if (*reader->next) return encoding_refuse(reader, "something follows after the type");
  encoding_emit(reader, "", 1);
  return KVO_OK;
}

bool kvo_encoding_at_end(const kvo_encoding_reader *reader) { return !*reader->next; }

void kvo_encoding_skip_offset(kvo_encoding_reader *reader) {
  if ((*reader->next == '+' || *reader->next == '-') && reader->next[1] >= '0' &&
      reader->next[1] <= '9')
    reader->next++;
  read_count(reader);
}
