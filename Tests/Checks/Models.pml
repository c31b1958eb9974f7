// `Scripts/check models` runs on this first, and must report these results.
//
// holds:
// violated: -DWAY=1  a failed assertion
// violated: -DWAY=2  an invalid end state
// unknown: -DWAY=3  it exceeds the search depth
// unknown: -DWAY=4  it is not a model
#ifndef WAY
#define WAY 0
#endif

int number;

init {
#if WAY == 1
  number = 1;
#elif WAY == 2
  number == 1;
#elif WAY == 3
  do
  :: number < 2000000 -> number++
  :: else -> break
  od;
  number = 0;
#elif WAY == 4
  number =;
#endif
  assert(number == 0)
}
