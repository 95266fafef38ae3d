"""Kinds of input: what puzzles came as, so that results go back as the same."""

from __future__ import annotations

import sys
from typing import Any, Optional

from ._native import Column, Puzzles


def _module(name: str) -> Any:
    """A module that the caller has imported, or ``None``: whoever passes a Series has its library."""
    return sys.modules.get(name)


class Kind:
    """A kind of input. This one: a list, or anything else that can be iterated over."""

    is_array = False

    def column(self, column: Column) -> Any:
        """The results, one a puzzle, as the same kind."""
        return column.to_list()

    def grids(self, grids: Any) -> Any:
        """The results that are grids."""
        return self.column(grids)

    def flags(self, column: Column) -> Any:
        """The results that are true, false or missing."""
        return self.column(column)


class _Array(Kind):
    is_array = True

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def column(self, column: Column) -> Any:
        return column.to_numpy()

    def grids(self, grids: Any) -> Any:
        return grids.reshape(self.shape)


class _Pandas(Kind):
    def __init__(self, series: Any) -> None:
        self.series = series

    def column(self, column: Column) -> Any:
        pandas = _module("pandas")
        values: Any = column.to_numpy()
        if values.dtype == object:
            # The type is not left to what happens to be there: with nothing but `None` it would be another.
            return self.of(column.to_list(), "str")
        if values.dtype.kind == "u":
            # Counts may be missing, which pandas has a type for.
            values = pandas.array(column.to_list(), dtype="UInt64")
        return self.of(values)

    def grids(self, grids: Any) -> Any:
        pandas, pyarrow = _module("pandas"), _module("pyarrow")
        dtype = self.series.dtype
        if str(dtype) == "null[pyarrow]":
            # A column of nothing but nulls has no place for texts.
            dtype = pandas.ArrowDtype(pyarrow.string())
        if pyarrow is not None and getattr(dtype, "storage", None) == "pyarrow":
            # No text becomes an object of its own.
            values = dtype.construct_array_type()._from_sequence(pyarrow.array(grids), dtype=dtype)
            return self.of(values)
        # A category has no place for new texts.
        is_text = dtype == object or isinstance(dtype, pandas.StringDtype)
        is_text = is_text or "string" in str(getattr(dtype, "pyarrow_dtype", ""))
        return self.of(grids.to_list(), dtype if is_text else object)

    def flags(self, column: Column) -> Any:
        return self.of(column.to_list(), "boolean")

    def of(self, values: Any, dtype: Any = None) -> Any:
        """A Series that fits beside the puzzles, with their name."""
        return _module("pandas").Series(values, index=self.series.index, name=self.series.name, dtype=dtype)


class _Polars(Kind):
    def __init__(self, series: Any) -> None:
        self.series = series

    def column(self, column: Column) -> Any:
        return _module("polars").Series(column).alias(self.series.name)


class _PyArrow(Kind):
    def column(self, column: Column) -> Any:
        return _module("pyarrow").array(column)


class _Arrow(Kind):
    def column(self, column: Column) -> Any:
        return column


def read_sized(puzzles: Any, size: Optional[int], alphabet: Optional[str]) -> tuple[Puzzles, Kind]:
    """As :func:`read`, for a size that the caller has given, which an array may not have."""
    found, kind = read(puzzles, size, alphabet)
    if size is not None and size != found.side:
        raise ValueError(f"size is {size}, and the array has puzzles of size {found.side}.")
    return found, kind


def read(puzzles: Any, size: Optional[int], alphabet: Optional[str]) -> tuple[Puzzles, Kind]:
    """The puzzles of an argument, and what they came as."""
    if isinstance(puzzles, (str, bytes)):
        raise TypeError("This is one text: use solve(puzzle), or pass a list of texts.")
    numpy = _module("numpy")
    is_array = numpy is not None and isinstance(puzzles, numpy.ndarray)
    if is_array and puzzles.dtype.kind in "OUST" and puzzles.ndim != 1:
        raise TypeError(
            f"The array has the type {puzzles.dtype} and the shape {puzzles.shape}: "
            "pass texts in one dimension, or digits as numpy.uint8."
        )
    if is_array and puzzles.dtype.kind not in "OUST":
        if puzzles.dtype != numpy.uint8:
            raise TypeError(f"The array has the type {puzzles.dtype}: convert it by .astype(numpy.uint8).")
        if numpy.ma.is_masked(puzzles):
            raise TypeError("The array has masked cells: make them blank by .filled(0).")
        # A copy only if the cells of a puzzle, or the puzzles, are not next to each other.
        array = numpy.asarray(puzzles, order="C")
        return Puzzles.from_array(array), _Array(puzzles.shape)
    pandas = _module("pandas")
    if pandas is not None and isinstance(puzzles, (pandas.Series, pandas.DataFrame, pandas.Index)):
        if isinstance(puzzles, pandas.DataFrame):
            raise TypeError("This is a table: pass the column that holds the puzzles.")
        if isinstance(puzzles, pandas.Index):
            puzzles = puzzles.to_series()
        if hasattr(puzzles, "__arrow_c_stream__") and getattr(puzzles.dtype, "storage", None) == "pyarrow":
            return Puzzles.from_arrow(puzzles, size, alphabet), _Pandas(puzzles)
        texts = puzzles.tolist()
        if puzzles.hasnans:
            texts = [None if missing else text for text, missing in zip(texts, puzzles.isna())]
        return Puzzles.from_list(texts, size, alphabet), _Pandas(puzzles)
    polars, pyarrow = _module("polars"), _module("pyarrow")
    if polars is not None and isinstance(puzzles, polars.LazyFrame):
        raise TypeError("This is a query: collect it, and pass the column that holds the puzzles.")
    if hasattr(puzzles, "__arrow_c_stream__") or hasattr(puzzles, "__arrow_c_array__"):
        kind: Kind = _Arrow()
        if polars is not None and isinstance(puzzles, polars.Series):
            kind = _Polars(puzzles)
        elif pyarrow is not None and isinstance(puzzles, (pyarrow.Array, pyarrow.ChunkedArray)):
            kind = _PyArrow()
        return Puzzles.from_arrow(puzzles, size, alphabet), kind
    if hasattr(puzzles, "tolist"):
        puzzles = puzzles.tolist()
    return Puzzles.from_list(puzzles if isinstance(puzzles, list) else list(puzzles), size, alphabet), Kind()
