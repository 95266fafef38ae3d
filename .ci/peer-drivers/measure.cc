// Processor time of a driver: nanoseconds a puzzle, over `calls` calls of `puzzles` puzzles each, repeated for at least
// `least` seconds after all of them have been made once.
#include "driver.h"

#include <ctime>

static double now() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

extern "C" double nanoseconds(Answers (*answer)(const char *, size_t, size_t), const char *text, size_t stride,
                              size_t puzzles, size_t calls, size_t limit, double least) {
  auto all = [&] {
    for (size_t call = 0; call < calls; call++) answer(text + call * puzzles * stride, puzzles, limit);
  };
  all();
  double begin = now(), used = 0;
  size_t passes = 0;
  do {
    all();
    passes++;
    used = now() - begin;
  } while (used < least);
  return used * 1e9 / double(passes * calls * puzzles);
}
