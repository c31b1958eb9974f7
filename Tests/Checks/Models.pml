// What `Scripts/check models` is tried on first: of each way it must say what is said here.
//
// holds:
// violated: -DWAY=1  an assertion
// violated: -DWAY=2  an end
// unknown: -DWAY=3  it goes deeper than is looked
// unknown: -DWAY=4  it is no model
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
