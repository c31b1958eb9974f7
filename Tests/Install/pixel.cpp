// Plain char in C++, where templates tell its encoding.
#include "pixel.c"
