// Properties of types that only C++ has, and of qualified types.
enum class suit : char16_t { hearts = 7 };

#define OTHER_FIELDS \
  char16_t s;        \
  char32_t t;        \
  volatile long u;   \
  suit v;
#define OTHER_KINDS(P)                  \
  P(kinds, char16_t, s, S, ASSIGN)      \
  P(kinds, char32_t, t, T, ASSIGN)      \
  P(kinds, volatile long, u, U, ASSIGN) \
  P(kinds, suit, v, V, ASSIGN)
#define OTHER_TRIES                        \
  TRY_ENDS(char16_t, s, S, 0, 0xFFFF)      \
  TRY_ENDS(char32_t, t, T, 0, 0xFFFFFFFF)  \
  TRY_ENDS(long, u, U, LONG_MIN, LONG_MAX) \
  TRY_ENDS(suit, v, V, 0, suit::hearts)

#include "kinds.c"
