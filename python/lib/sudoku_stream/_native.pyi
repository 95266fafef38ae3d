from collections.abc import Iterator
from typing import Any, Optional, final

import numpy
import numpy.typing

__all__ = ["Column", "Puzzles", "VERSION", "canon", "check", "count", "make", "rate", "solve", "solve_text"]

VERSION: str

@final
class Column:
    """Results, one a puzzle. Arrow-aware libraries take it as it is: ``pyarrow.array(column)``."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: int, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def to_list(self) -> list[Any]: ...
    def to_numpy(self) -> numpy.typing.NDArray[Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...

@final
class Puzzles:
    @staticmethod
    def from_array(array: numpy.typing.NDArray[numpy.uint8]) -> Puzzles: ...
    @staticmethod
    def from_list(list: list[Any], size: Optional[int], alphabet: Optional[str]) -> Puzzles: ...
    @staticmethod
    def from_arrow(column: object, size: Optional[int], alphabet: Optional[str]) -> Puzzles: ...
    @property
    def side(self) -> int: ...
    def __len__(self) -> int: ...

def solve_text(
    puzzle: str, unique: bool, node_limit: int, size: Optional[int], alphabet: Optional[str]
) -> str: ...
def solve(
    puzzles: Puzzles, unique: bool, node_limit: int, threads: Optional[int], raises: bool, as_text: bool
) -> tuple[Any, Column]: ...
def canon(
    puzzles: Puzzles, by: Optional[str], node_limit: int, threads: Optional[int], raises: bool, as_text: bool
) -> tuple[Any, Column]: ...
def count(
    puzzles: Puzzles, limit: int, node_limit: int, threads: Optional[int], raises: bool
) -> tuple[Column, Column]: ...
def check(
    puzzles: Puzzles, solutions: Optional[Puzzles], unique: bool, node_limit: int, threads: Optional[int]
) -> tuple[Column, Column, Column]: ...
def rate(
    puzzles: Puzzles,
    up_to: Optional[str],
    techniques: Optional[str],
    node_limit: int,
    threads: Optional[int],
    raises: bool,
) -> tuple[Column, Column, Column, Column, Column, Column, Column, Column]: ...
def make(
    count: int,
    size: int,
    clues: Optional[str],
    minimal: bool,
    symmetry: str,
    difficulty: str,
    rating: Optional[str],
    technique: Optional[str],
    attempts: int,
    seed: Optional[int],
    threads: Optional[int],
    as_text: bool,
) -> tuple[Any, Any, int]: ...
