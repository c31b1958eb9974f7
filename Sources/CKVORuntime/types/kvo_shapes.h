/// Structs of one to four numbers of one type, for which C functions can be written as for scalars: points, sizes,
/// rectangles, ranges. A struct's name and nesting make no difference to calling conventions.
#ifndef KVO_SHAPES_H
#define KVO_SHAPES_H

#include "kvo_base.h"

#define KVO_SHAPED_STRUCTS_(of, type) \
  typedef struct kvo_##of##_1 {       \
    type a;                           \
  } kvo_##of##_1;                     \
  typedef struct kvo_##of##_2 {       \
    type a, b;                        \
  } kvo_##of##_2;                     \
  typedef struct kvo_##of##_3 {       \
    type a, b, c;                     \
  } kvo_##of##_3;                     \
  typedef struct kvo_##of##_4 {       \
    type a, b, c, d;                  \
  } kvo_##of##_4;
KVO_SHAPED_STRUCTS_(doubles, double)
KVO_SHAPED_STRUCTS_(floats, float)
KVO_SHAPED_STRUCTS_(longs, uint64_t)
KVO_SHAPED_STRUCTS_(ints, uint32_t)
#undef KVO_SHAPED_STRUCTS_

#define KVO_SHAPES_OF_(SHAPE, OF, of) \
  SHAPE(OF##_1, kvo_##of##_1)         \
  SHAPE(OF##_2, kvo_##of##_2)         \
  SHAPE(OF##_3, kvo_##of##_3)         \
  SHAPE(OF##_4, kvo_##of##_4)
/// `SHAPE(shape, C type)` for each: `shape` as in `KVO_SHAPE_DOUBLES_2`.
#define KVO_SHAPES(SHAPE)                 \
  KVO_SHAPES_OF_(SHAPE, DOUBLES, doubles) \
  KVO_SHAPES_OF_(SHAPE, FLOATS, floats)   \
  KVO_SHAPES_OF_(SHAPE, LONGS, longs)     \
  KVO_SHAPES_OF_(SHAPE, INTS, ints)

typedef enum kvo_shape {
  KVO_SHAPE_NONE, ///< any other type
#define KVO_SHAPE_CASE_(shape, c_type) KVO_SHAPE_##shape,
  KVO_SHAPES(KVO_SHAPE_CASE_)
#undef KVO_SHAPE_CASE_
      KVO_SHAPE_COUNT
} kvo_shape;
enum { KVO_SHAPE_LARGEST = 4 };

#endif
