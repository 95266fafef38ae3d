// Driver for tdoku. It writes a solution only if it is asked for one, so uniqueness is answered by the count.
#include "driver.h"

#include "include/tdoku.h"

Answers answer(const char *text, size_t puzzles, size_t limit) {
  return one_by_one(text, puzzles, [=](const char *puzzle, char *to) {
    size_t guesses = 0;
    size_t solutions = TdokuSolverDpllTriadSimd(puzzle, limit, 0, to, &guesses);
    if (limit == 1 && solutions == 1) return size_t(81);
    *to = char('0' + solutions);
    return size_t(1);
  });
}
