"""Solves files of puzzles with Spark: each partition goes through `sudoku solve -`.

    spark-submit solve_pipe.py PUZZLES OUT

PUZZLES is a file, a folder or a pattern, with a puzzle on each line. OUT becomes a folder of rows
with tabs between their fields: the key of the puzzle, the puzzle, its solution, and the code of
the error if it has none. The key is the number of the line over all files, from 0, in the order
in which Spark lists them. `sudoku` must be in the PATH of the executors, or named by --sudoku.

Each partition is a table of its own with a heading and an end marker, so no row is taken for a
heading, and answers that were cut off are noticed whatever the exit code is. Codes of errors do
not depend on where in a file a puzzle stands, so it does not matter how Spark cuts the files.
"""

import argparse
import shlex
from itertools import chain

from pyspark import SparkConf, SparkContext

HEADING = "key\tpuzzle"
ANSWERED_HEADING = "key\tpuzzle\tsolution\terror"
END = "end\t"
ANSWERED_END = "end\t\t\twrong_length"


def row(key, puzzle):
    """A row of the table. A tab or a quotation mark in a bad line must not end its field, and a zero
    byte, by which `sudoku` knows what is no text, must not end the task: it is written as Spark
    writes what is not UTF-8."""
    puzzle = puzzle.replace("\0", "\ufffd")
    if "\t" in puzzle or puzzle.startswith('"'):
        puzzle = '"' + puzzle.replace('"', '""') + '"'
    return f"{key}\t{puzzle}"


def framed(rows):
    """A partition as a table: never empty, and with a row of its own at the end."""
    return chain([HEADING], rows, [END])


def answers(lines):
    """The answered rows of a partition, if it is whole."""
    first = next(lines, None)
    if first != ANSWERED_HEADING:
        raise ValueError(f"the answers of a partition begin with {first!r}")
    last = next(lines, None)
    for line in lines:
        yield last
        last = line
    if last != ANSWERED_END:
        raise ValueError(f"the answers of a partition end with {last!r}")


def main():
    parser = argparse.ArgumentParser(description="Solve files of puzzles with Spark.")
    parser.add_argument("puzzles", help="file, folder or pattern, a puzzle on each line")
    parser.add_argument("out", help="folder to make")
    parser.add_argument("--partitions", type=int, default=None, help="at least so many parts")
    parser.add_argument("--sudoku", default="sudoku", help="the program on the executors")
    parser.add_argument("--options", default="", help="more options of sudoku solve")
    args = parser.parse_args()

    context = SparkContext(conf=SparkConf().setAppName("sudoku"))
    # One thread for each task, because Spark starts as many tasks as it has cores.
    command = (
        f"{shlex.quote(args.sudoku)} solve - --format tsv --column puzzle --delimiter tab --size 9"
        f" --threads 1 --quiet {args.options}"
    )
    puzzles = context.textFile(args.puzzles, args.partitions)
    (
        puzzles.zipWithIndex()
        .map(lambda pair: row(pair[1], pair[0]))
        .mapPartitions(framed)
        # Without checkCode, a program that fails would look like one with little to say.
        .pipe(command, checkCode=True)
        .mapPartitions(answers)
        .saveAsTextFile(args.out)
    )
    context.stop()


if __name__ == "__main__":
    main()
