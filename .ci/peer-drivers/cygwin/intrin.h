// The header of this name on Cygwin, as far as Schoku needs it.
#pragma once

#include <x86intrin.h>

static inline unsigned char _bittestandreset64(long long *word, long long bit) {
  unsigned char was = *word >> bit & 1;
  *word &= ~(1LL << bit);
  return was;
}

static inline unsigned char _bittestandreset(int *word, int bit) {
  unsigned char was = *word >> bit & 1;
  *word &= ~(1 << bit);
  return was;
}

static inline int __popcnt16(unsigned short word) { return __builtin_popcount(word); }
