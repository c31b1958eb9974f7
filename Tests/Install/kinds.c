// Properties of every scalar type: getter, observer and key-value coding agree at both ends of each range.
#include <CKVORuntime.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <wchar.h>

#ifndef __cplusplus
#define OTHER_FIELDS
#define OTHER_KINDS(P)
#define OTHER_TRIES
#endif

typedef struct kinds {
  kvo_object object;
  bool b;
  char c;
  signed char d;
  unsigned char e;
  short f;
  unsigned short g;
  int h;
  unsigned i;
  long j;
  unsigned long k;
  long long l;
  unsigned long long m;
  float n;
  double o;
  long double p;
  wchar_t q;
  volatile int r;
  OTHER_FIELDS
} kinds;

#define KINDS(P)                             \
  P(kinds, bool, b, B, ASSIGN)               \
  P(kinds, char, c, C, ASSIGN)               \
  P(kinds, signed char, d, D, ASSIGN)        \
  P(kinds, unsigned char, e, E, ASSIGN)      \
  P(kinds, short, f, F, ASSIGN)              \
  P(kinds, unsigned short, g, G, ASSIGN)     \
  P(kinds, int, h, H, ASSIGN)                \
  P(kinds, unsigned, i, I, ASSIGN)           \
  P(kinds, long, j, J, ASSIGN)               \
  P(kinds, unsigned long, k, K, ASSIGN)      \
  P(kinds, long long, l, L, ASSIGN)          \
  P(kinds, unsigned long long, m, M, ASSIGN) \
  P(kinds, float, n, N, ASSIGN)              \
  P(kinds, double, o, O, ASSIGN)             \
  P(kinds, long double, p, P, ASSIGN)        \
  P(kinds, wchar_t, q, Q, ASSIGN)            \
  P(kinds, volatile int, r, R, ASSIGN)       \
  OTHER_KINDS(P)
KVO_CLASS_INTERFACE(kinds, KINDS)
KVO_CLASS_IMPLEMENTATION(kinds, "Kinds", kvo_root_class, KINDS, NULL)

static long double delivered;

static void changed(void *context, kvo_object *object, const char *key, const kvo_change *change) {
  kvo_value wide;
  (void)context, (void)object, (void)key;
  kvo_value_convert(&wide, kvo_type_for_encoding("D", NULL), kvo_change_get_new(change));
  delivered = *(const long double *)kvo_value_bytes(&wide);
  // Not asked for: a missing value reads as nothing.
  if (kvo_value_get_int(kvo_change_get_old(change))) puts("an old value");
}

static long double by_key(kvo_object *object, const char *key) {
  kvo_value value, wide;
  kvo_value_for_key(object, key, &value, NULL);
  kvo_value_convert(&wide, kvo_type_for_encoding("D", NULL), &value);
  return *(const long double *)kvo_value_bytes(&wide);
}

// Sets the property, and compares what getter, observer and key-value coding give.
#define TRY(type, key, Key, value)                                                    \
  kinds_set##Key(one, (type)(value));                                                 \
  if (kinds_##key(one) != (type)(value) || delivered != (long double)(type)(value) || \
      by_key(&one->object, #key) != (long double)(type)(value))                       \
    printf("%s: %s differs\n", #key, #value), wrong++;
#define TRY_ENDS(type, key, Key, low, high)                                                     \
  if (kvo_add_callback(&one->object, #key, options, changed, NULL, NULL, NULL, NULL)) return 1; \
  TRY(type, key, Key, low)                                                                      \
  TRY(type, key, Key, high)

int main(void) {
  kinds *one = (kinds *)kvo_object_create(kinds_class());
  kvo_options options = KVO_OLD;
  int wrong = 0;
  options |= KVO_NEW;
  options &= ~KVO_OLD;
  TRY_ENDS(bool, b, B, 0, 1)
  TRY_ENDS(char, c, C, CHAR_MIN, CHAR_MAX)
  TRY_ENDS(signed char, d, D, SCHAR_MIN, SCHAR_MAX)
  TRY_ENDS(unsigned char, e, E, 0, UCHAR_MAX)
  TRY_ENDS(short, f, F, SHRT_MIN, SHRT_MAX)
  TRY_ENDS(unsigned short, g, G, 0, USHRT_MAX)
  TRY_ENDS(int, h, H, INT_MIN, INT_MAX)
  TRY_ENDS(unsigned, i, I, 0, UINT_MAX)
  TRY_ENDS(long, j, J, LONG_MIN, LONG_MAX)
  TRY_ENDS(unsigned long, k, K, 0, LONG_MAX)
  TRY_ENDS(long long, l, L, LLONG_MIN, LLONG_MAX)
  TRY_ENDS(unsigned long long, m, M, 0, LLONG_MAX)
  TRY_ENDS(float, n, N, -FLT_MAX, FLT_MAX)
  TRY_ENDS(double, o, O, -DBL_MAX, DBL_MAX)
  TRY_ENDS(long double, p, P, -LDBL_MAX, LDBL_MAX)
  TRY_ENDS(wchar_t, q, Q, WCHAR_MIN, WCHAR_MAX)
  TRY_ENDS(int, r, R, INT_MIN, INT_MAX)
  OTHER_TRIES
  printf("%d differ\n", wrong);
  kvo_object_release(&one->object);
}
