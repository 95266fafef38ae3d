"""Reads what `sudoku` writes with pyarrow, pandas and polars: check.py PROGRAM."""
import pathlib
import subprocess
import sys
import tempfile

import pandas as pd
import polars as pl
import pyarrow.parquet as pq

program, here = sys.argv[1], pathlib.Path(__file__).parent
puzzles = (here / "puzzles.txt").read_text().split()
added = "solution,solutions,error,clues,minimal,rating,technique"
types = ["string", "int64", "string", "int64", "bool", "double", "string"]


def solves(solution, puzzle):
    rows = [solution[i * 9:i * 9 + 9] for i in range(9)]
    columns = ["".join(row[i] for row in rows) for i in range(9)]
    boxes = ["".join(rows[i // 3 * 3 + k][i % 3 * 3:i % 3 * 3 + 3] for k in range(3)) for i in range(9)]
    return all(sorted(house) == list("123456789") for house in rows + columns + boxes) and all(
        clue in (".", cell) for clue, cell in zip(puzzle, solution))


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder, "out.parquet")
    for name in ["pandas", "polars", "fixed", "fixedtext", "list", "fsl", "lz4", "pages", "puzzles"]:
        source = here / (name + (".txt" if name == "puzzles" else ".parquet"))
        subprocess.run([program, "solve", "-q", source, "-o", out, "--add", added], check=True)
        table = pq.read_table(out)
        kept = ["puzzle"]
        if name != "puzzles":
            before = pq.read_table(source)
            kept = before.column_names
            for column in kept:
                assert table[column].to_pylist() == before[column].to_pylist(), (name, column)
        # A name that is taken gets a number.
        names = [column + "_2" if column in kept else column for column in added.split(",")]
        assert table.column_names == kept + names, table.column_names
        assert [str(table.schema.field(column).type) for column in names] == types, table.schema
        bad = 0
        for puzzle, row in zip(puzzles, table.to_pylist(), strict=True):
            if row["error"] is None:
                assert solves(row["solution"], puzzle), (name, row)
                assert row["clues"] == 81 - puzzle.count(".") and row["solutions"] == 1, row
            else:
                bad += 1
                assert row["error"] == "wrong_length" and row["solution"] is None, row
        other = pl.read_parquet(out)
        assert other["solution"].to_list() == table["solution"].to_pylist(), name
        assert other[names[5]].to_list() == table[names[5]].to_pylist(), name
        frame = pd.read_parquet(out)
        if name != "puzzles":
            assert frame.index.equals(pd.read_parquet(source).index), (name, frame.index)
        assert frame["solution"].notna().sum() == 100 - bad, name
        print(f"{name}: {table.num_rows} rows, {bad} without a puzzle, equal in pyarrow, pandas and polars")
