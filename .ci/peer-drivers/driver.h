// Drivers of .ci/peers: one shared library for each solver, with `answer`, and `stride` if its puzzles are not 82 bytes
// apart.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

struct Answers {
  const char *text;
  size_t bytes;
};

// Answers puzzles of 81 characters, a line for each: the solution, or the number of solutions up to `limit`.
// The text is the driver's and holds until the next call.
extern "C" Answers answer(const char *text, size_t puzzles, size_t limit);

// Answers one puzzle after another by `solve(puzzle, to)`, which returns how many characters it has written.
template <class Solve> Answers one_by_one(const char *text, size_t puzzles, Solve solve) {
  static std::vector<char> room;
  // Some solvers write a little beyond the 81 characters.
  if (room.size() < puzzles * 82 + 64) room.resize(puzzles * 82 + 64);
  char *to = room.data();
  for (size_t puzzle = 0; puzzle < puzzles; puzzle++) {
    to += solve(text + puzzle * 82, to);
    *to++ = '\n';
  }
  return {room.data(), size_t(to - room.data())};
}

// The characters of an answer: the solution that the solver has written to `to`, or the number of solutions.
inline size_t solution_or_count(int solutions, char *to) {
  if (solutions == 1) return 81;
  *to = char('0' + (solutions < 0 ? 0 : solutions));
  return 1;
}
