// Driver for the batch solver of gertqin, which is one source file and makes no text of its solutions: that is added here.
// It takes sixteen puzzles at a time, 164 bytes apart as in the Kaggle set.
#include "driver.h"

#include <cstdlib>
#include <immintrin.h>

#define main main_of_gertqin
#include "C/solverAvx2.c"
#undef main

extern "C" const size_t stride = BYTES_FOR_1_SUDOKUS;

// Sixteen vectors of sixteen characters, with rows and columns exchanged.
static void transpose(__m128i *rows) {
  __m128i other[16];
  for (int half = 0; half < 8; half++) {
    other[2 * half] = _mm_unpacklo_epi8(rows[half], rows[half + 8]);
    other[2 * half + 1] = _mm_unpackhi_epi8(rows[half], rows[half + 8]);
  }
  for (int half = 0; half < 8; half++) {
    rows[2 * half] = _mm_unpacklo_epi8(other[half], other[half + 8]);
    rows[2 * half + 1] = _mm_unpackhi_epi8(other[half], other[half + 8]);
  }
  for (int half = 0; half < 8; half++) {
    other[2 * half] = _mm_unpacklo_epi8(rows[half], rows[half + 8]);
    other[2 * half + 1] = _mm_unpackhi_epi8(rows[half], rows[half + 8]);
  }
  for (int half = 0; half < 8; half++) {
    rows[2 * half] = _mm_unpacklo_epi8(other[half], other[half + 8]);
    rows[2 * half + 1] = _mm_unpackhi_epi8(other[half], other[half + 8]);
  }
}

// The characters of a cell of sixteen puzzles, each of which has one bit of nine set.
static __m128i characters(const uint16_t *cell) {
  const __m256i low = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 0, 3, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0));
  const __m256i high = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 5, 6, 0, 7, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0));
  const __m256i nibble = _mm256_set1_epi16(15), nine = _mm256_set1_epi16(256);
  __m256i bits = _mm256_loadu_si256((const __m256i *)cell);
  __m256i digits = _mm256_or_si256(_mm256_shuffle_epi8(low, _mm256_and_si256(bits, nibble)),
                                   _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bits, 4), nibble)));
  digits = _mm256_or_si256(digits, _mm256_and_si256(_mm256_cmpeq_epi16(bits, nine), _mm256_set1_epi16(9)));
  __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(digits), _mm256_extracti128_si256(digits, 1));
  return _mm_add_epi8(bytes, _mm_set1_epi8('0'));
}

static void solve_sixteen(const char *text, char *to) {
  static int first_box[9] = {0, 0, 0, 3, 3, 3, 6, 6, 6};
  static uint16_t data[DATA_LENGTH];
  transform_sudokus((const uint8_t *)text, data);
  setup_step(data, first_box);
  solve_parallel(data, first_box);
  for (int cells = 0; cells < 80; cells += 16) {
    __m128i rows[16];
    for (int cell = 0; cell < 16; cell++) rows[cell] = characters(&data[(cells + cell) << 4]);
    transpose(rows);
    for (int puzzle = 0; puzzle < 16; puzzle++) _mm_storeu_si128((__m128i *)(to + puzzle * 82 + cells), rows[puzzle]);
  }
  char last[16];
  _mm_storeu_si128((__m128i *)last, characters(&data[80 << 4]));
  for (int puzzle = 0; puzzle < 16; puzzle++) {
    to[puzzle * 82 + 80] = last[puzzle];
    to[puzzle * 82 + 81] = '\n';
  }
}

Answers answer(const char *text, size_t puzzles, size_t) {
  static std::vector<char> room;
  if (room.size() < (puzzles + 16) * 82) room.resize((puzzles + 16) * 82);
  size_t first = 0;
  for (; first + 16 <= puzzles; first += 16) solve_sixteen(text + first * stride, &room[first * 82]);
  if (first < puzzles) {
    char rest[17 * stride];
    for (size_t puzzle = 0; puzzle < 16; puzzle++) {
      memcpy(rest + puzzle * stride, text + (first + puzzle < puzzles ? first + puzzle : first) * stride, 81);
    }
    solve_sixteen(rest, &room[first * 82]);
  }
  return {room.data(), puzzles * 82};
}
