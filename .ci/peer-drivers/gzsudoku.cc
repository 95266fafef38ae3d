// Driver for gzSudoku.
#include "driver.h"

#include "src/gzSudoku/gzSudoku.h"

Answers answer(const char *text, size_t puzzles, size_t limit) {
  return one_by_one(text, puzzles, [=](const char *puzzle, char *to) {
    return solution_or_count(GzSudoku(puzzle, to, int(limit)), to);
  });
}
