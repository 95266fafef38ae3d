#!/usr/bin/env python3
"""Prepares a data set of Sudoku puzzles for publication: from a raw CSV file to clean, rated and split Parquet files.

    pip install ../../python pyarrow
    python prepare.py raw.csv out/

It drops every row whose solution is wrong, missing or not the only one, and every puzzle that another one is but for
symmetry; adds clues, rating and the canonical form; splits into training and test sets by that form, so that no puzzle
of one is a disguise of one of the other; and reports what was wrong, row by row.

OUT gets train.parquet and test.parquet, rejected.csv, and report.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Optional

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

import sudoku_stream as sudoku

PUZZLE_NAMES = ("puzzle", "puzzles", "quiz", "quizzes", "question")
SOLUTION_NAMES = ("solution", "solutions", "answer", "answers")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="From a raw CSV file to a clean, rated, split data set.")
    parser.add_argument("raw", type=Path, help="CSV file with a heading; .gz and the like too")
    parser.add_argument("out", type=Path, help="folder of the results")
    parser.add_argument("--puzzle", help="column of the puzzles [default: by its name]")
    parser.add_argument("--solution", help="column of the solutions [default: by its name; solved if there is none]")
    parser.add_argument("--test", type=float, default=0.1, help="share of the test set [default: 0.1]")
    parser.add_argument("--rate-up-to", type=float, metavar="ER", help="rate no harder steps, which saves time")
    parser.add_argument("--threads", type=int, default=None, help="threads [default: one for each core]")
    return parser.parse_args()


def column_of(table: pa.Table, given: Optional[str], names: tuple[str, ...]) -> Optional[str]:
    """The name of a column: the one given, or the one that has one of these names."""
    if given is not None:
        if given not in table.column_names:
            sys.exit(f"There is no column {given}. The columns are: {', '.join(table.column_names)}.")
        return given
    return next((name for name in table.column_names if name.lower() in names), None)


def read(path: Path, args: argparse.Namespace) -> tuple[pa.Table, str, Optional[str]]:
    """The raw table, puzzles and solutions as texts, because 81 digits are no number."""
    with pyarrow.csv.open_csv(path) as probe:
        names = probe.schema.names
    # Other columns keep the type that they have by themselves.
    texts = {args.puzzle, args.solution} | {name for name in names if name.lower() in PUZZLE_NAMES + SOLUTION_NAMES}
    types = {name: pa.string() for name in names if name in texts}
    table = pyarrow.csv.read_csv(path, convert_options=pyarrow.csv.ConvertOptions(column_types=types))
    puzzle = column_of(table, args.puzzle, PUZZLE_NAMES)
    if puzzle is None:
        columns = ", ".join(table.column_names)
        sys.exit(f"None of the columns {columns} is known to hold puzzles: name it with --puzzle.")
    return table, puzzle, column_of(table, args.solution, SOLUTION_NAMES)


def with_column(table: pa.Table, name: str, column: Any) -> pa.Table:
    """The table with a further column. One that has its name already gets another."""
    taken = name
    while taken in table.column_names:
        taken += "_given"
    table = table.rename_columns([taken if old == name else old for old in table.column_names])
    return table.append_column(name, column)


def first_places(forms: list[str]) -> list[int]:
    """For each form the place of the first one that is equal."""
    seen: dict[str, int] = {}
    return [seen.setdefault(form, place) for place, form in enumerate(forms)]


def is_test(form: str, share: float) -> bool:
    """Whether a puzzle is in the test set: a function of its form alone, so that later versions agree."""
    number = int.from_bytes(hashlib.sha256(form.encode()).digest()[:8], "big")
    return number < share * 2**64


def main() -> None:
    args = arguments()
    if not 0 < args.test < 1:
        sys.exit("--test is a share between 0 and 1.")
    begin = time.monotonic()
    # What cannot work ends the run before the work.
    try:
        sudoku.rate_many([], up_to=args.rate_up_to, threads=args.threads)
        table, puzzle, solution = read(args.raw, args)
        args.out.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    rows = table.num_rows
    # The row of the file, below its heading, whatever is dropped.
    table = with_column(table, "row", pa.array(range(1, rows + 1), pa.int64()))
    rejected: list[tuple[int, str, str]] = []
    cells = [""] * rows

    # Right, and the only one?
    if solution is None:
        solution = "solution"
        solved = sudoku.solve_many(table[puzzle], unique=True, errors="column", threads=args.threads, size=9)
        table = with_column(table, solution, solved.solutions)
        verdict = pc.fill_null(solved.errors, "right")
    else:
        checks = sudoku.check_many(table[puzzle], table[solution], unique=True, threads=args.threads, size=9)
        verdict = checks.verdict
        where = zip(checks.row.to_pylist(), checks.column.to_pylist())
        cells = [f"row {row}, column {column}" if row else "" for row, column in where]
    is_right = pc.equal(verdict, "right")
    wrong = pc.indices_nonzero(pc.invert(is_right)).to_pylist()
    codes = verdict.to_pylist()
    for place in wrong:
        rejected.append((place + 1, codes[place], cells[place]))
    table = table.filter(is_right)

    # Each puzzle once, whatever its disguise.
    forms: Any = sudoku.canon_many(table[puzzle], threads=args.threads)
    texts, numbers = forms.to_pylist(), table["row"].to_pylist()
    first = first_places(texts)
    puzzles = table[puzzle].to_pylist()
    for place, other in enumerate(first):
        if place != other:
            same = puzzles[place] == puzzles[other]
            rejected.append((numbers[place], "same_text" if same else "same_but_for_symmetry", f"row {numbers[other]}"))
    is_first = pa.array([place == other for place, other in enumerate(first)], pa.bool_())
    table = with_column(table, "canonical", forms).filter(is_first)

    # How hard?
    ratings = sudoku.rate_many(table[puzzle], up_to=args.rate_up_to, errors="column", threads=args.threads)
    added = {
        "clues": ratings.clues.cast(pa.uint8()),
        "minimal": ratings.minimal,
        "rating": ratings.er,
        "hardest": ratings.hardest,
    }
    for name, column in added.items():
        table = with_column(table, name, column)

    # Two sets without a common puzzle.
    test = pa.array([is_test(form, args.test) for form in table["canonical"].to_pylist()], pa.bool_())
    sets = {"train": table.filter(pc.invert(test)), "test": table.filter(test)}

    for name, part in sets.items():
        pyarrow.parquet.write_table(part, args.out / f"{name}.parquet", compression="zstd", row_group_size=100_000)
    rejected.sort()
    columns = zip(*rejected) if rejected else ([], [], [])
    report_rows = pa.table(dict(zip(("row", "reason", "detail"), map(list, columns))))
    pyarrow.csv.write_csv(report_rows, args.out / "rejected.csv")
    levels = Counter("none" if er is None else f"{int(er)}.0..{int(er)}.9" for er in table["rating"].to_pylist())
    report = {
        "raw": {"file": args.raw.name, "rows": rows},
        "rejected": dict(sorted(Counter(reason for _, reason, _ in rejected).items())),
        "kept": {name: part.num_rows for name, part in sets.items()},
        "clues": dict(sorted(Counter(table["clues"].to_pylist()).items())),
        "rating": dict(sorted(levels.items())),
        "made_with": {"sudoku-stream": sudoku.__version__, "test": args.test, "rate_up_to": args.rate_up_to},
    }
    (args.out / "report.json").write_text(json.dumps(report, indent=2) + "\n")

    print(f"{rows:,} rows in {args.raw}")
    for reason, count in report["rejected"].items():
        print(f"  {count:>10,} rejected: {reason}")
    for name, part in sets.items():
        print(f"  {part.num_rows:>10,} in {args.out / name}.parquet")
    print(f"{time.monotonic() - begin:.1f} s. Rows rejected: {args.out / 'rejected.csv'}; figures: {args.out / 'report.json'}")


if __name__ == "__main__":
    main()
