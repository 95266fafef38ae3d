from typing import Any, Literal, NamedTuple, Optional, Union, overload

import numpy
import numpy.typing

from ._errors import PuzzleError as PuzzleError
from ._native import Column as Column

_Array = numpy.typing.NDArray[numpy.uint8]

__all__ = [
    "CanonicalForms",
    "Checks",
    "Column",
    "Counts",
    "Generated",
    "PuzzleError",
    "Ratings",
    "Solutions",
    "canon_many",
    "check_many",
    "count_many",
    "generate",
    "rate_many",
    "solve",
    "solve_many",
]
__version__: str
NODE_LIMIT: int

class Solutions(NamedTuple):
    solutions: Any
    errors: Any

class CanonicalForms(NamedTuple):
    forms: Any
    errors: Any

class Counts(NamedTuple):
    counts: Any
    errors: Any

class Checks(NamedTuple):
    verdict: Any
    row: Any
    column: Any

class Ratings(NamedTuple):
    verdict: Any
    er: Any
    ep: Any
    ed: Any
    hardest: Any
    steps: Any
    clues: Any
    minimal: Any

class Generated(NamedTuple):
    puzzles: Any
    solutions: Any
    seed: int

def solve(
    puzzle: str,
    *,
    unique: bool = False,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> str: ...
@overload
def solve_many(
    puzzles: _Array,
    *,
    unique: bool = False,
    errors: Literal["raise"] = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> _Array: ...
@overload
def solve_many(
    puzzles: list[str],
    *,
    unique: bool = False,
    errors: Literal["raise"] = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> list[str]: ...
@overload
def solve_many(
    puzzles: Any,
    *,
    unique: bool = False,
    errors: Literal["column"],
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Solutions: ...
@overload
def solve_many(
    puzzles: Any,
    *,
    unique: bool = False,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Any: ...
@overload
def count_many(
    puzzles: Any,
    *,
    limit: int = 1_000,
    errors: Literal["column"],
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Counts: ...
@overload
def count_many(
    puzzles: list[str],
    *,
    limit: int = 1_000,
    errors: Literal["raise"] = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> list[int]: ...
@overload
def count_many(
    puzzles: Any,
    *,
    limit: int = 1_000,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Any: ...
@overload
def canon_many(
    puzzles: _Array,
    *,
    by: Optional[str] = None,
    errors: Literal["raise"] = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    alphabet: Optional[str] = None,
) -> _Array: ...
@overload
def canon_many(
    puzzles: list[str],
    *,
    by: Optional[str] = None,
    errors: Literal["raise"] = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    alphabet: Optional[str] = None,
) -> list[str]: ...
@overload
def canon_many(
    puzzles: Any,
    *,
    by: Optional[str] = None,
    errors: Literal["column"],
    threads: Optional[int] = None,
    node_limit: int = ...,
    alphabet: Optional[str] = None,
) -> CanonicalForms: ...
@overload
def canon_many(
    puzzles: Any,
    *,
    by: Optional[str] = None,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    alphabet: Optional[str] = None,
) -> Any: ...
def check_many(
    puzzles: Any,
    solutions: Any = None,
    *,
    unique: bool = False,
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Checks: ...
def rate_many(
    puzzles: Any,
    *,
    up_to: Optional[float] = None,
    techniques: Optional[str] = None,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = ...,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Ratings: ...
def generate(
    count: int,
    *,
    clues: Union[int, str, None] = None,
    minimal: bool = False,
    symmetry: str = "none",
    difficulty: str = "any",
    rating: Union[float, str, None] = None,
    technique: Optional[str] = None,
    size: int = 9,
    seed: Optional[int] = None,
    attempts: int = 1_000,
    threads: Optional[int] = None,
    arrays: bool = False,
) -> Generated: ...
