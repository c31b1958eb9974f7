/// A property of every kind that a value can have.
#ifndef FIXTURE_SCALARS_H
#define FIXTURE_SCALARS_H

#include "fixture_tracked.h"

typedef struct rgb {
  unsigned char red;
  unsigned char green;
  unsigned char blue;
} rgb;

typedef struct scalars {
  kvo_object object;
  bool flag;
  char letter;
  signed char int8;
  unsigned char uint8;
  short int16;
  unsigned short uint16;
  int int32;
  unsigned uint32;
  long int64;
  unsigned long uint64;
  long long longest;
  unsigned long long ulongest;
  float single;
  double real;
  long double extended;
  const char *text;
  tracked *object_;
  void *pointer;
  rgb colour;
} scalars;

#define SCALARS_PROPERTIES(PROPERTY)                                \
  PROPERTY(scalars, bool, flag, Flag, ASSIGN)                       \
  PROPERTY(scalars, char, letter, Letter, ASSIGN)                   \
  PROPERTY(scalars, signed char, int8, Int8, ASSIGN)                \
  PROPERTY(scalars, unsigned char, uint8, Uint8, ASSIGN)            \
  PROPERTY(scalars, short, int16, Int16, ASSIGN)                    \
  PROPERTY(scalars, unsigned short, uint16, Uint16, ASSIGN)         \
  PROPERTY(scalars, int, int32, Int32, ASSIGN)                      \
  PROPERTY(scalars, unsigned, uint32, Uint32, ASSIGN)               \
  PROPERTY(scalars, long, int64, Int64, ASSIGN)                     \
  PROPERTY(scalars, unsigned long, uint64, Uint64, ASSIGN)          \
  PROPERTY(scalars, long long, longest, Longest, ASSIGN)            \
  PROPERTY(scalars, unsigned long long, ulongest, Ulongest, ASSIGN) \
  PROPERTY(scalars, float, single, Single, ASSIGN)                  \
  PROPERTY(scalars, double, real, Real, ASSIGN)                     \
  PROPERTY(scalars, long double, extended, Extended, ASSIGN)        \
  PROPERTY(scalars, const char *, text, Text, COPY)                 \
  PROPERTY(scalars, tracked *, object_, Object_, RETAIN)            \
  PROPERTY(scalars, void *, pointer, Pointer, ASSIGN)               \
  PROPERTY(scalars, rgb, colour, Colour, ASSIGN, "{rgb=CCC}")

KVO_BEGIN_DECLS
KVO_CLASS_INTERFACE(scalars, SCALARS_PROPERTIES)
KVO_END_DECLS

#endif
