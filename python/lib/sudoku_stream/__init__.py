"""Sudoku puzzles in bulk: solve, check, count, rate and make millions of them.

Every function takes puzzles as they are: a list of texts, a NumPy array of ``uint8`` of shape
``(N, 81)`` or ``(N, 9, 9)`` with 0 for a blank, a Series of pandas or polars, or any column of strings
that speaks Arrow. Results come back as the same kind. Arrays and Arrow columns are read where they are,
without a copy, and while the work runs on all cores other Python threads go on.

>>> import sudoku_stream as sudoku
>>> puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
>>> sudoku.solve(puzzle)
'534678912672195348198342567859761423426853791713924856961537284287419635345286179'
>>> sudoku.count_many([puzzle, puzzle.replace("5", ".")], limit=10)
[1, 1]

Sizes 1x1, 4x4, 9x9, 16x16 and 25x25 work everywhere. In texts, blanks are ``.``, ``0``, ``_``, ``*``,
``-``, ``?``, ``x``, ``X`` or a middle dot, and values from 10 on are ``A``, ``B`` and so on.

A bad puzzle raises :class:`PuzzleError` with its exact sentence, its code and its line; with
``errors="column"`` the codes come back beside the results instead.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple, Optional, Union

from . import _native
from ._errors import PuzzleError
from ._kinds import Kind, read, read_sized
from ._native import Column

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

__version__: str = _native.VERSION

NODE_LIMIT = 1_000_000
"""The default of ``node_limit``: a puzzle that takes more nodes of a search is given up."""


def __dir__() -> list[str]:
    # What a console completes, and not what this file imports.
    return sorted([*__all__, "NODE_LIMIT", "__doc__", "__version__"])


class Solutions(NamedTuple):
    """What :func:`solve_many` returns with ``errors="column"``."""

    solutions: Any
    """The solutions; missing (zeros in an array) where there is an error."""
    errors: Any
    """The codes of errors; ``None`` where there is none."""


class CanonicalForms(NamedTuple):
    """What :func:`canon_many` returns with ``errors="column"``."""

    forms: Any
    """The puzzles in their canonical form; missing (zeros in an array) where there is an error."""
    errors: Any
    """The codes of errors; ``None`` where there is none."""


class Counts(NamedTuple):
    """What :func:`count_many` returns with ``errors="column"``."""

    counts: Any
    """The numbers of solutions; missing (0 in an array) where there is an error."""
    errors: Any
    """The codes of errors; ``None`` where there is none."""


class Checks(NamedTuple):
    """What :func:`check_many` returns: a verdict for each row, and where it is wrong."""

    verdict: Any
    """``right``, ``wrong``, ``incomplete``, ``no_solution``, ``not_unique``, ``gave_up``, or the code of
    an error."""
    row: Any
    """The row of the wrong cell, from 1; missing (0 in an array) unless the verdict is ``wrong``."""
    column: Any
    """Its column, from 1."""


class Ratings(NamedTuple):
    """What :func:`rate_many` returns. Ratings are on the scale of Sudoku Explainer."""

    verdict: Any
    """``rated``; ``above`` where a step is harder than ``up_to``; ``beyond`` where the techniques do not
    lead to the solution; or the code of an error."""
    er: Any
    """The rating of the hardest step; missing (``nan``) unless the verdict is ``rated``, as the next
    four."""
    ep: Any
    """The hardest step up to the first digit."""
    ed: Any
    """The first step."""
    hardest: Any
    """The technique of the hardest step."""
    steps: Any
    """The number of steps."""
    clues: Any
    """The number of clues; missing if the puzzle cannot be read."""
    minimal: Any
    """Whether every clue is needed; missing if the puzzle has not one solution."""


class Generated(NamedTuple):
    """What :func:`generate` returns."""

    puzzles: Any
    """The puzzles."""
    solutions: Any
    """Their solutions."""
    seed: int
    """The seed that makes the same puzzles again."""


def _raises(errors: str) -> bool:
    if errors not in ("raise", "column"):
        raise ValueError(f'errors={errors!r} is neither "raise" nor "column".')
    return errors == "raise"


def _at_least(least: int, **arguments: Union[int, str, None]) -> None:
    """Refuses a number out of range; what is no whole number is left to the native function."""
    for name, number in arguments.items():
        if isinstance(number, Integral) and number < least:
            raise ValueError(f"{name} is {number}: give {least} or more.")
        if isinstance(number, Integral) and number >= 2**64:
            raise ValueError(f"{name} is {number}: give less than 2**64.")


def _rating(number: float, name: str) -> str:
    """The text of a rating, without what arithmetic leaves behind its one decimal."""
    try:
        text = f"{number:.1f}"
    except (TypeError, ValueError):
        raise TypeError(f"{name} is {number!r}: give a number, such as 4.5.") from None
    return text if abs(float(text) - float(number)) < 1e-6 else str(number)


def solve(
    puzzle: str,
    *,
    unique: bool = False,
    node_limit: int = NODE_LIMIT,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> str:
    """Solves one puzzle, in any notation: cells on one line or in rows, with or without rulers.

    The solution is on one line, in the symbols of the puzzle.

    - ``unique``: it is an error if there is a second solution.
    - ``node_limit``: a search that takes more nodes is given up.
    - ``size``: the side of the puzzle: 1, 4, 9, 16 or 25; default: detected.
    - ``alphabet``: the symbols: ``letters``, ``ascii``, ``alpha``, ``hex``, or all of them in order;
      default: detected.

    Raises :class:`PuzzleError`; ``ValueError`` for what is not one puzzle, or can be read in two ways.

    >>> import sudoku_stream as sudoku
    >>> print(sudoku.solve('''
    ... 12|..
    ... ..|..
    ... --+--
    ... 2.|..
    ... ..|.1'''))
    1234341221434321
    >>> sudoku.solve("12..34..........", unique=True)
    Traceback (most recent call last):
    sudoku_stream._errors.PuzzleError: The puzzle has more than one solution.
    """
    _at_least(1, node_limit=node_limit)
    return _native.solve_text(puzzle, unique, node_limit, size, alphabet)


def solve_many(
    puzzles: Any,
    *,
    unique: bool = False,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = NODE_LIMIT,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Any:
    """Solves every puzzle. Returns the solutions in the same order, as the same kind.

    - ``unique``: a puzzle with a second solution is an error (``not_unique``).
    - ``errors``: ``"raise"`` raises the first error, in the order of the puzzles; ``"column"`` returns
      :class:`Solutions` with a column of codes.
    - ``threads``: default: one for each core.
    - ``node_limit``: a puzzle that takes more nodes is given up (``gave_up``).
    - ``size``: the side of the puzzles: 1, 4, 9, 16 or 25; default: that of most of the first texts.
    - ``alphabet``: the symbols of texts: ``letters``, ``ascii``, ``alpha``, ``hex``, or all of them in
      order; default: detected. An array has none.

    Raises :class:`PuzzleError`; ``TypeError`` and ``ValueError`` for what holds no puzzles.

    >>> import numpy, sudoku_stream as sudoku
    >>> puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> sudoku.solve_many([puzzle, puzzle[:80]])
    Traceback (most recent call last):
    sudoku_stream._errors.PuzzleError: Line 2 has the wrong length. It has 80 cells; a 9x9 puzzle has 81.
    >>> sudoku.solve_many([puzzle, puzzle[:80]], errors="column").errors
    [None, 'wrong_length']
    >>> grids = numpy.zeros((1000, 9, 9), dtype=numpy.uint8)
    >>> sudoku.solve_many(grids).shape
    (1000, 9, 9)
    """
    raises = _raises(errors)
    _at_least(1, node_limit=node_limit)
    read_puzzles, kind = read_sized(puzzles, size, alphabet)
    solutions, codes = _native.solve(read_puzzles, unique, node_limit, threads, raises, not kind.is_array)
    found = kind.grids(solutions)
    return found if raises else Solutions(found, kind.column(codes))


def count_many(
    puzzles: Any,
    *,
    limit: int = 1_000,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = NODE_LIMIT,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Any:
    """Counts the solutions of every puzzle, up to ``limit``.

    A puzzle without a solution is no error: its count is 0. The other arguments are those of
    :func:`solve_many`; with ``errors="column"`` it returns :class:`Counts`.

    >>> import sudoku_stream as sudoku
    >>> sudoku.count_many(["................", "1234341221434321", "123...4........."])
    [288, 1, 0]
    """
    raises = _raises(errors)
    _at_least(1, limit=limit, node_limit=node_limit)
    read_puzzles, kind = read_sized(puzzles, size, alphabet)
    counts, codes = _native.count(read_puzzles, limit, node_limit, threads, raises)
    found = kind.column(counts)
    return found if raises else Counts(found, kind.column(codes))


def check_many(
    puzzles: Any,
    solutions: Any = None,
    *,
    unique: bool = False,
    threads: Optional[int] = None,
    node_limit: int = NODE_LIMIT,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Checks:
    """Checks every solution against its puzzle, or every grid by itself.

    Puzzles and solutions are paired by their places, whatever index a Series has.
    With ``unique``, a puzzle must have no second solution, which takes a search for each. A bad puzzle
    is no exception here: its verdict is the code of its error. A solution that is missing or blank is
    ``incomplete``.

    >>> import sudoku_stream as sudoku
    >>> puzzles = ["12..3..........1", "12..34.........1", "1..............1"]
    >>> solutions = ["1234341221434321", "1234341221434321", "12343412214343.."]
    >>> sudoku.check_many(puzzles, solutions)
    Checks(verdict=['right', 'right', 'incomplete'], row=[None, None, None], column=[None, None, None])
    >>> sudoku.check_many(["1234341221434322"])
    Checks(verdict=['wrong'], row=[4], column=[4])
    """
    _at_least(1, node_limit=node_limit)
    read_puzzles, kind = read_sized(puzzles, size, alphabet)
    given = None
    if solutions is not None:
        # Of the size of the puzzles, because a solution may have another number of cells by mistake.
        given, _ = read(solutions, read_puzzles.side, alphabet)
    columns = _native.check(read_puzzles, given, unique, node_limit, threads)
    return Checks(*(kind.column(column) for column in columns))


def canon_many(
    puzzles: Any,
    *,
    by: Optional[str] = None,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = NODE_LIMIT,
    alphabet: Optional[str] = None,
) -> Any:
    """Brings every 9x9 puzzle into its canonical form: the same for all that are the same but for symmetry.

    Two puzzles are the same in this sense if transposing, permuting rows, columns, bands and stacks, and
    relabelling digits makes one of the other. So equal forms are what to drop, or to keep out of both
    training and test sets.

    - ``by``: ``"solution"`` puts the solution in its least form, which takes a single one; ``"puzzle"`` the
      text of the clues; default: the solution where there is exactly one, else the clues.
    - ``errors``: with ``"column"`` it returns :class:`CanonicalForms`.

    The other arguments are those of :func:`solve_many`. The forms are those of ``sudoku canon``.

    >>> import sudoku_stream as sudoku
    >>> puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> relabelled = puzzle.translate(str.maketrans("123456789", "234567891"))
    >>> first, second = sudoku.canon_many([puzzle, relabelled])
    >>> first == second
    True
    """
    raises = _raises(errors)
    _at_least(1, node_limit=node_limit)
    read_puzzles, kind = read(puzzles, 9, alphabet)
    forms, codes = _native.canon(read_puzzles, by, node_limit, threads, raises, not kind.is_array)
    found = kind.grids(forms)
    return found if raises else CanonicalForms(found, kind.column(codes))


def rate_many(
    puzzles: Any,
    *,
    up_to: Optional[float] = None,
    techniques: Optional[str] = None,
    errors: str = "raise",
    threads: Optional[int] = None,
    node_limit: int = NODE_LIMIT,
    size: Optional[int] = None,
    alphabet: Optional[str] = None,
) -> Ratings:
    """Rates how hard every puzzle is for a person, by the hardest step that its solution takes.

    - ``up_to``: the highest rating that is told apart, such as 4.5: no time is spent on harder ones.
    - ``techniques``: names of techniques or families that may be used, with commas; default: all.
    - ``errors``: ``"raise"`` raises the first error, which a puzzle without a single solution is too;
      ``"column"`` has its code as the verdict.

    The other arguments are those of :func:`solve_many`.

    >>> import sudoku_stream as sudoku
    >>> puzzle = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> rated = sudoku.rate_many([puzzle])
    >>> rated.er, rated.hardest, rated.clues
    ([1.2], ['hidden-single'], [30])
    """
    raises = _raises(errors)
    _at_least(1, node_limit=node_limit)
    read_puzzles, kind = read_sized(puzzles, size, alphabet)
    highest = None if up_to is None else _rating(up_to, "up_to")
    *columns, minimal = _native.rate(read_puzzles, highest, techniques, node_limit, threads, raises)
    return Ratings(*(kind.column(column) for column in columns), kind.flags(minimal))


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
) -> Generated:
    """Makes puzzles with a single solution each.

    - ``clues``: the number of clues, or a range such as ``"24..26"``; default: as few as removals reach.
    - ``minimal``: only puzzles in which every clue is needed.
    - ``symmetry``: of the pattern of clues: ``none``, ``rotational``, ``rotational90``, ``horizontal``,
      ``vertical``, ``diagonal``, ``antidiagonal`` or ``full``.
    - ``difficulty``: ``any``, ``easy``, ``medium``, ``hard``, or a range of guesses such as ``"3..10"``.
    - ``rating``: one rating of :func:`rate_many`, or a range such as ``"3.0..4.5"``.
    - ``technique``: one that the solution takes, such as ``"x-wing"``.
    - ``seed``: the same seed makes the same puzzles, on any number of threads, and those of
      ``sudoku generate``; default: random.
    - ``attempts``: the full grids that are tried for one puzzle.
    - ``arrays``: NumPy arrays of shape ``(count, cells)`` instead of lists of texts.

    Raises ``ValueError`` for what nothing can meet, and ``RuntimeError`` if a puzzle was given up.

    >>> import sudoku_stream as sudoku
    >>> made = sudoku.generate(3, clues=26, seed=7)
    >>> [81 - puzzle.count(".") for puzzle in made.puzzles]
    [26, 26, 26]
    >>> sudoku.solve_many(made.puzzles, unique=True) == made.solutions
    True
    """
    _at_least(0, count=count, clues=clues, seed=seed)
    _at_least(1, attempts=attempts)
    puzzles, solutions, used_seed = _native.make(
        count,
        size,
        None if clues is None else str(clues),
        minimal,
        symmetry,
        difficulty,
        rating if rating is None or isinstance(rating, str) else _rating(rating, "rating"),
        technique,
        attempts,
        seed,
        threads,
        not arrays,
    )
    kind = Kind()
    if arrays:
        return Generated(puzzles, solutions, used_seed)
    return Generated(kind.column(puzzles), kind.column(solutions), used_seed)
