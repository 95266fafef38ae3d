"""Solves a column of puzzles with Spark, through the Python package: Arrow batches in, Arrow batches out.

    spark-submit solve_arrow.py PUZZLES.parquet OUT.parquet

PUZZLES has a column `puzzle`; OUT has all of its columns, and `solution` and `error`, the code of the
error where there is none. `sudoku-stream`, pandas and pyarrow must be on the executors. Each task uses
one thread, because Spark runs as many tasks as there are cores.
"""

import argparse

from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType


def solve(batches):
    """The batches of a partition with the answers beside the puzzles."""
    import pyarrow
    import sudoku_stream

    for batch in batches:
        # Another batch may begin with a bad puzzle, so the size is not left to detection.
        puzzles = batch.column(batch.schema.get_field_index("puzzle"))
        answers = sudoku_stream.solve_many(puzzles, errors="column", threads=1, size=9)
        names = [*batch.schema.names, "solution", "error"]
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, *answers], names=names)


def main():
    parser = argparse.ArgumentParser(description="Solve a column of puzzles with Spark.")
    parser.add_argument("puzzles", help="Parquet file or folder with a column `puzzle`")
    parser.add_argument("out", help="Parquet folder to make")
    args = parser.parse_args()
    spark = SparkSession.builder.appName("sudoku").getOrCreate()
    table = spark.read.parquet(args.puzzles)
    added = [StructField("solution", StringType()), StructField("error", StringType())]
    schema = StructType([*table.schema.fields, *added])
    table.mapInArrow(solve, schema).write.parquet(args.out)


if __name__ == "__main__":
    main()
