"""Writes the files of this folder, from puzzles.txt, with pyarrow, pandas and polars."""
from datetime import date, datetime, time, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

print(pa.__version__, pd.__version__, pl.__version__)
lines = open("puzzles.txt").read().split()
some = list(lines)
some[3], some[5] = None, "12x"
pd.DataFrame({
    "id": range(100),
    "rating": np.linspace(0, 10, 100),
    "board": some,
    "note": ['a,b "q"\nx'] * 100,
    "flag": [True, None] * 50,
    "ts": pd.Timestamp("2024-01-02 03:04:05"),
}).to_parquet("pandas.parquet")
pl.DataFrame({"id": list(range(100)), "puzzle": some, "l": [[1, 2]] * 100}).write_parquet("polars.parquet")
cells = np.array([[0 if cell == "." else int(cell) for cell in line] for line in lines], dtype=np.uint8)
binary = pa.binary(81)
values = pa.array([bytes(row) for row in cells], type=binary)
pq.write_table(pa.table({"id": range(100), "puzzle": values}), "fixed.parquet")
text = pa.array([line.encode() for line in lines], type=binary)
pq.write_table(pa.table({"puzzle": text}), "fixedtext.parquet")
rows = pa.array([list(row) if i != 7 else None for i, row in enumerate(cells)], type=pa.list_(pa.uint8()))
pq.write_table(pa.table({"id": range(100), "cells": rows}), "list.parquet", row_group_size=30)
fixed = pa.FixedSizeListArray.from_arrays(pa.array(cells.ravel()), 81)
pq.write_table(pa.table({"cells": fixed}), "fsl.parquet", compression="gzip")
board = pa.table({"board": lines})
pq.write_table(board, "lz4.parquet", compression="lz4", data_page_version="2.0")
pq.write_table(board, "brotli.parquet", compression="brotli")
blanks = [None, -1, 0]
rows = [[cell or blanks[i % 3] for cell in row] if i != 7 else None for i, row in enumerate(cells.tolist())]
pages = pa.table({"id": range(100), "cells": pa.array(rows, type=pa.list_(pa.int8()))})
pq.write_table(pages, "pages.parquet", data_page_size=300, write_batch_size=5)
when = datetime(2024, 1, 2, 3, 4, 5, 678901)
types = pa.table({
    "puzzle": lines[:3],
    "price": pa.array([Decimal("8253734.92"), Decimal("-0.05"), None], type=pa.decimal128(9, 2)),
    "whole": pa.array([Decimal(5), Decimal(-5), None], type=pa.decimal128(30, 0)),
    "half": pa.array([np.float16(1.5), np.float16(-2), None], type=pa.float16()),
    "us": pa.array([when, None, None], type=pa.timestamp("us")),
    "ns": pa.array([when, None, None], type=pa.timestamp("ns")),
    "utc": pa.array([when.replace(tzinfo=timezone.utc), None, None], type=pa.timestamp("ns", "UTC")),
    "date": [date(1969, 12, 31), None, None],
    "time": pa.array([time(3, 4, 5, 678901), None, None], type=pa.time64("ns")),
    "text": ["", "a,b", None],
    "steps": pa.array([[12, None, -1, 1000], [], None], type=pa.list_(pa.int32())),
    "floats": [[0.5], None, None],
})
pq.write_table(types, "types.parquet", compression="none", write_page_checksum=True)
other = pa.table({"id": [1, 2], "name": ["one", "two"], "grid": [list(lines[0]), list(lines[1])]})
pq.write_table(other, "other.parquet", compression="none")
