// Driver for Schoku, which is one source file. It reads a puzzle in front of the place of its solution. "First solution" is
// its rule O, uniqueness its rule M; its default, R, relies on uniqueness.
#include "driver.h"

#define LIB_ONLY
#include "src/schoku.cpp"

alignas(64) static Schoku::GridState stack[GRIDSTATE_MAX];

Answers answer(const char *text, size_t puzzles, size_t limit) {
  using namespace Schoku;
  bmi2_support = __builtin_cpu_supports("bmi2");
  pext_support = bmi2_support && !__builtin_cpu_is("znver2");
  rules = limit > 1 ? Multiple : FindOne;
  return one_by_one(text, puzzles, [](const char *puzzle, char *to) {
    signed char both[164 + 64];
    memcpy(both, puzzle, 82);
    stack[0].initialize<VNone>(both, global_counters);
    Status status = solve<VNone>(both + 82, stack, 1, global_counters);
    memcpy(to, both + 82, 81);
    return solution_or_count(!status.solved ? 0 : status.unique ? 1 : 2, to);
  });
}
