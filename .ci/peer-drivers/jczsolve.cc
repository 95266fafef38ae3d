// Driver for JCZSolve.
#include "driver.h"

#include "others/jczslover/JCZSolve.h"

// JCZSolve counts its guesses here.
extern "C" size_t JCZSolve_guesses;
size_t JCZSolve_guesses;

Answers answer(const char *text, size_t puzzles, size_t limit) {
  return one_by_one(text, puzzles, [=](const char *puzzle, char *to) {
    return solution_or_count(JCZSolver(puzzle, to, int(limit)), to);
  });
}
