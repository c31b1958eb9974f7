// Plain char in C++, where templates give its encoding.
#include "pixel.c"
