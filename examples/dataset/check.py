#!/usr/bin/env python3
"""Runs prepare.py over a file with known faults, and looks at what comes out: `.ci/python` calls it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas
import polars
import pyarrow.csv
import pyarrow.parquet

import sudoku_stream as sudoku

made = sudoku.generate(3_000, seed=9)
rows = [[str(k), puzzle, solution, "x"] for k, (puzzle, solution) in enumerate(zip(made.puzzles, made.solutions))]
rows[10][2] = rows[11][2]
rows[20][1] = rows[20][1][:-1]
rows[30][1] = "." * 81
rows[40][2] = rows[40][2][:80] + "."
rows[50][1:3] = rows[49][1:3]
rows[60][1:3] = [text[::-1] for text in rows[59][1:3]]
swap = str.maketrans("12", "21")
rows[70][1:3] = [text.translate(swap) for text in rows[69][1:3]]
wanted = {
    "incomplete": 1,
    "not_unique": 1,
    "same_but_for_symmetry": 2,
    "same_text": 1,
    "wrong": 1,
    "wrong_length": 1,
}

with TemporaryDirectory() as folder:
    raw, out = Path(folder) / "raw.csv", Path(folder) / "out"
    with raw.open("w", newline="") as file:
        csv.writer(file).writerows([["id", "quizzes", "solutions", "source"], *rows])
    prepare = Path(__file__).with_name("prepare.py")
    subprocess.run([sys.executable, prepare, raw, out, "--rate-up-to", "4.5", "--test", "0.2"], check=True)
    report = json.loads((out / "report.json").read_text())
    assert report["rejected"] == wanted, report
    rejected = list(csv.reader((out / "rejected.csv").open()))[1:]
    assert [int(row) for row, _, _ in rejected] == [11, 21, 31, 41, 51, 61, 71], rejected
    assert [detail for _, _, detail in rejected][4:] == ["row 50", "row 60", "row 70"], rejected

    # Everybody reads it, and all see the same.
    parts = {name: out / f"{name}.parquet" for name in ("train", "test")}
    tables = {name: pyarrow.parquet.read_table(path) for name, path in parts.items()}
    for name, path in parts.items():
        by_pandas, by_polars = pandas.read_parquet(path), polars.read_parquet(path)
        columns = tables[name].to_pydict()
        assert by_polars.to_dict(as_series=False) == columns
        assert by_pandas["quizzes"].tolist() == columns["quizzes"] and list(by_pandas.columns) == list(columns)
        assert set(sudoku.check_many(columns["quizzes"], columns["solutions"], unique=True).verdict) == {"right"}
    train, test = (set(tables[name]["canonical"].to_pylist()) for name in ("train", "test"))
    assert not train & test and len(train) + len(test) == 3_000 - sum(wanted.values())
    assert 0.15 < len(test) / 3_000 < 0.25, len(test)
    kept = [row for table in tables.values() for row in table["row"].to_pylist()]
    rated = {str(er) for table in tables.values() for er in table["rating"].to_pylist() if er is not None}
    assert "1.2" in rated and all(len(er) == 3 for er in rated), rated
    assert sorted(kept) == [k + 1 for k in range(3_000) if (k + 1) not in {11, 21, 31, 41, 51, 61, 71}]

    # Without solutions they are added, and a table without puzzles is refused.
    bare = Path(folder) / "bare.csv"
    with bare.open("w", newline="") as file:
        csv.writer(file).writerows([["puzzle"], *([row[1]] for row in rows[:200])])
    subprocess.run([sys.executable, prepare, bare, out, "--rate-up-to", "1.5"], check=True)
    tables = [pyarrow.parquet.read_table(path) for path in parts.values()]
    for table in tables:
        assert set(sudoku.check_many(table["puzzle"], table["solution"]).verdict.to_pylist()) <= {"right"}
    assert sum(table.num_rows for table in tables) == 200 - 5

    # What it has written can be prepared once more: columns of its names are kept under others.
    again = Path(folder) / "again.csv"
    pyarrow.csv.write_csv(tables[0], again)
    subprocess.run([sys.executable, prepare, again, out, "--rate-up-to", "1.5"], check=True)
    tables = [pyarrow.parquet.read_table(path) for path in parts.values()]
    assert {"row", "row_given", "canonical", "canonical_given"} <= set(tables[0].column_names)
    assert len({row for table in tables for row in table["row_given"].to_pylist()}) == len(tables[0]) + len(tables[1])

    # Nothing may be left, and nothing may be there.
    for text, reasons in [("puzzle\n123\n", {"wrong_length": 1}), ("puzzle\n", {})]:
        bare.write_text(text)
        subprocess.run([sys.executable, prepare, bare, out, "--rate-up-to", "1.5"], check=True)
        assert json.loads((out / "report.json").read_text())["rejected"] == reasons
        assert all(pyarrow.parquet.read_table(path).num_rows == 0 for path in parts.values())
    bare.write_text("a,b\n1,2\n")
    done = subprocess.run([sys.executable, prepare, bare, out], capture_output=True, text=True)
    assert done.returncode == 1 and "name it with --puzzle" in done.stderr, done.stderr

    # What cannot work is one line, before any work.
    for words, wrong in [
        ("missing.csv", [raw.with_name("missing.csv"), out]),
        ("raw.csv", [raw, raw]),
        ("is no rating", [raw, out, "--rate-up-to", "0.5"]),
    ]:
        done = subprocess.run([sys.executable, prepare, *wrong], capture_output=True, text=True)
        assert done.returncode == 1 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
print("prepare.py finds what is wrong with a data set, and pandas, polars and pyarrow read what it writes")
