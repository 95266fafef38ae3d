"""Tests of the package. Every solution that is seen here is checked by ``solves``, which shares nothing with it."""

from __future__ import annotations

import array
import importlib.metadata
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import sudoku_stream as sudoku

numpy = pytest.importorskip("numpy")

PUZZLE = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
SOLUTION = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
BLANK = "." * 81


def solves(puzzle: str, solution: str) -> bool:
    """Whether a 9x9 grid keeps the clues and the rules."""
    if len(solution) != 81 or any(clue not in (".", "0", digit) for clue, digit in zip(puzzle, solution)):
        return False
    rows = [solution[9 * row : 9 * row + 9] for row in range(9)]
    columns = ["".join(column) for column in zip(*rows)]
    boxes = ["".join(rows[3 * (b // 3) + r][3 * (b % 3) : 3 * (b % 3) + 3] for r in range(3)) for b in range(9)]
    return all("".join(sorted(house)) == "123456789" for house in rows + columns + boxes)


def digits(texts: list[str]) -> Any:
    return numpy.array([[0 if c in ".0" else int(c) for c in text] for text in texts], dtype=numpy.uint8)


@pytest.fixture(scope="module")
def made() -> sudoku.Generated:
    return sudoku.generate(20_000, seed=11)


def test_one_puzzle_is_solved_in_any_notation() -> None:
    assert sudoku.solve(PUZZLE) == SOLUTION
    assert sudoku.solve("\n".join(PUZZLE[k : k + 9] for k in range(0, 81, 9))) == SOLUTION
    assert len(sudoku.solve("." * 256)) == 256
    with pytest.raises(sudoku.PuzzleError, match="^The puzzle has no solution.$") as raised:
        sudoku.solve("123...4.........")
    assert (raised.value.code, raised.value.line, raised.value.index) == ("no_solution", None, None)
    with pytest.raises(ValueError, match="solve_many"):
        sudoku.solve(PUZZLE + "\n" + PUZZLE)
    with pytest.raises(sudoku.PuzzleError) as raised:
        sudoku.solve("\ud800")
    assert raised.value.code == "wrong_length"
    with pytest.raises(sudoku.PuzzleError, match="^The puzzle has more than one solution.$"):
        sudoku.solve(BLANK, unique=True)
    with pytest.raises(sudoku.PuzzleError, match="^The puzzle was given up"):
        sudoku.solve("." * 625, node_limit=1)
    with pytest.raises(ValueError, match="^node_limit is 0: give 1 or more.$"):
        sudoku.solve(PUZZLE, node_limit=0)


def test_one_puzzle_is_read_as_the_arguments_say() -> None:
    made = sudoku.generate(1, size=16, seed=3)
    letters = str.maketrans("123456789ABCDEFG", "0123456789ABCDEF")
    puzzle, solution = made.puzzles[0].translate(letters), made.solutions[0].translate(letters)
    with pytest.raises(ValueError, match="Say which with alphabet="):
        sudoku.solve(puzzle)
    assert sudoku.solve(puzzle, alphabet="hex") == solution == sudoku.solve_many([puzzle], alphabet="hex")[0]
    rows = "\n".join(puzzle[k : k + 16] for k in range(0, 256, 16))
    assert sudoku.solve(rows, alphabet="hex", size=16, unique=True) == solution
    assert sudoku.solve("ab..\n....\n....\n....", alphabet="abcd")[:2] == "ab"
    with pytest.raises(ValueError, match="Use solve_many for 4x4 puzzles, or write a 16x16 puzzle on one line.$"):
        sudoku.solve(("." * 16 + "\n") * 16)
    with pytest.raises(ValueError, match="last 81. Leave out the first column or the last one.$"):
        sudoku.solve("".join(".," * 81 + f"{row}\n" for row in range(1, 10)))
    with pytest.raises(sudoku.PuzzleError, match="If this is a list of 1x1 puzzles, use solve_many.$"):
        sudoku.solve("1\n.\n1\n")
    with pytest.raises(sudoku.PuzzleError, match="If line 1 is the number of puzzles, delete it.$"):
        sudoku.solve(f"6\n{BLANK}\n{BLANK}\n")
    # What is detected is the alphabet of the solution, too.
    alpha = PUZZLE.translate(str.maketrans("123456789", "ABCDEFGHI"))
    assert sudoku.solve(alpha) == sudoku.solve_many([alpha])[0] == SOLUTION.translate(
        str.maketrans("123456789", "ABCDEFGHI")
    )
    with pytest.raises(sudoku.PuzzleError, match="^The puzzle has the wrong length. It has 81 cells; a 4x4"):
        sudoku.solve(PUZZLE, size=4)
    with pytest.raises(ValueError, match="^There is no size 8: "):
        sudoku.solve(PUZZLE, size=8)
    with pytest.raises(ValueError, match="alphabet"):
        sudoku.solve(PUZZLE, alphabet="runes")


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_many_are_solved_in_order_whatever_the_threads(made: sudoku.Generated, threads: int) -> None:
    solutions = sudoku.solve_many(made.puzzles, threads=threads)
    assert solutions == made.solutions
    assert all(map(solves, made.puzzles[::97], solutions[::97]))


def test_all_kinds_of_input_have_the_same_answers(made: sudoku.Generated) -> None:
    array_ = digits(made.puzzles)
    wanted = digits(made.solutions)
    for shape in [(-1, 81), (-1, 9, 9)]:
        solved = sudoku.solve_many(array_.reshape(shape))
        assert solved.dtype == numpy.uint8 and solved.shape == array_.reshape(shape).shape
        assert (solved.reshape(-1, 81) == wanted).all()
    # Views that are not contiguous, an array of texts, bytes, a tuple and a generator.
    assert (sudoku.solve_many(array_[::2]) == wanted[::2]).all()
    assert (sudoku.solve_many(numpy.asfortranarray(array_[:50])) == wanted[:50]).all()
    assert sudoku.solve_many(numpy.array(made.puzzles[:50])) == made.solutions[:50]
    assert sudoku.solve_many([text.encode() for text in made.puzzles[:50]]) == made.solutions[:50]
    assert sudoku.solve_many(tuple(made.puzzles[:50])) == made.solutions[:50]
    assert sudoku.solve_many(text for text in made.puzzles[:50]) == made.solutions[:50]


def test_an_array_is_read_where_it_is(tmp_path: Path, made: sudoku.Generated) -> None:
    array_ = digits(made.puzzles)
    array_.flags.writeable = False
    before = array_.copy()
    sudoku.solve_many(array_)
    assert (array_ == before).all()
    numpy.save(tmp_path / "puzzles.npy", array_)
    mapped = numpy.load(tmp_path / "puzzles.npy", mmap_mode="r")
    assert (sudoku.solve_many(mapped) == digits(made.solutions)).all()


def test_columns_of_pyarrow(made: sudoku.Generated) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    texts = made.puzzles[:3000]
    whole = pyarrow.array(texts)
    kinds = [whole, pyarrow.chunked_array([texts[:1], [], texts[1:1000], texts[1000:]])]
    kinds += [whole.cast(kind) for kind in (pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary())]
    kinds += [whole.cast(pyarrow.binary()).cast(pyarrow.binary(81)), pyarrow.array(["x", *texts, "y"])[1:-1]]
    kinds += [whole.dictionary_encode(), pyarrow.array(["x", *texts, "y"]).dictionary_encode()[1:-1]]
    for column in kinds:
        solved = sudoku.solve_many(column)
        assert isinstance(solved, pyarrow.Array) and solved.type == pyarrow.string()
        solved.validate(full=True)
        assert solved.to_pylist() == made.solutions[:3000], column.type
    with_nulls = pyarrow.array([texts[0], None, texts[1], "x"])
    solutions, errors = sudoku.solve_many(with_nulls, errors="column")
    solutions.validate(full=True)
    assert solutions.to_pylist() == [made.solutions[0], None, made.solutions[1], None]
    assert errors.to_pylist() == [None, "empty", None, "wrong_length"]
    categories = pyarrow.array([texts[0], None, texts[0]]).dictionary_encode()
    assert sudoku.count_many(categories, errors="column").errors.to_pylist() == [None, "empty", None]
    nulls = pyarrow.array([None, None], pyarrow.string()).dictionary_encode()
    assert sudoku.count_many(nulls, errors="column", size=9).errors.to_pylist() == ["empty", "empty"]
    # Where all are missing, the column has no type.
    for nothing in [pyarrow.nulls(2), pyarrow.chunked_array([pyarrow.nulls(2)]), pyarrow.nulls(2).dictionary_encode()]:
        solutions, errors = sudoku.solve_many(nothing, errors="column")
        assert solutions.to_pylist() == [None, None] and solutions.type == pyarrow.string()
        assert errors.to_pylist() == ["empty", "empty"]
    counts = sudoku.count_many(with_nulls, errors="column").counts
    assert counts.to_pylist() == [1, None, 1, None] and counts.type == pyarrow.uint64()
    with pytest.raises(TypeError, match="int64 holds no puzzles|Int64 holds no puzzles"):
        sudoku.solve_many(pyarrow.array([1, 2]))
    with pytest.raises(TypeError, match="a table"):
        sudoku.solve_many(pyarrow.table({"puzzle": texts}))


def test_series_of_polars(made: sudoku.Generated) -> None:
    polars = pytest.importorskip("polars")
    solved = sudoku.solve_many(polars.Series("mine", made.puzzles))
    assert isinstance(solved, polars.Series) and solved.to_list() == made.solutions and solved.name == "mine"
    categories = polars.Series(made.puzzles[:50], dtype=polars.Categorical)
    assert sudoku.solve_many(categories).to_list() == made.solutions[:50]
    solutions, errors = sudoku.solve_many(polars.Series("mine", [None, None]), errors="column")
    assert solutions.to_list() == [None, None] and errors.to_list() == ["empty", "empty"]
    frame = polars.DataFrame({"puzzle": made.puzzles[:100]})
    checks = sudoku.check_many(frame["puzzle"], polars.Series(made.solutions[:100]))
    frame = frame.with_columns(checks.verdict.alias("verdict"), checks.row.alias("row"))
    assert frame["verdict"].unique().to_list() == ["right"] and frame["row"].null_count() == 100


@pytest.mark.parametrize("dtype", ["object", "str", "string[pyarrow]", "string[python]"])
def test_series_of_pandas(made: sudoku.Generated, dtype: str) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    index = range(1000, 1500)
    series = pandas.Series(made.puzzles[:500], index=index, dtype=dtype, name="mine")
    solved = sudoku.solve_many(series)
    assert solved.dtype == series.dtype and solved.name == "mine" and list(solved.index) == list(index)
    assert solved.tolist() == made.solutions[:500]
    series = series.copy()
    series.iloc[3] = None
    solutions, errors = sudoku.solve_many(series, errors="column")
    assert solutions.isna().sum() == 1 and errors[1003] == "empty"
    counts = sudoku.count_many(series, errors="column").counts
    assert counts.dtype == "UInt64" and counts.name == "mine" and counts.isna().sum() == 1 and counts.dropna().eq(1).all()
    ratings = sudoku.rate_many(series[:20], errors="column")
    assert ratings.er.dtype == "float64" and ratings.er.isna().tolist() == [k == 3 for k in range(20)]
    # The types of the columns do not depend on what is in them.
    for part in [series.iloc[:3], series.iloc[:5], series.iloc[3:4]]:
        errors = sudoku.solve_many(part, errors="column").errors
        ratings = sudoku.rate_many(part, errors="column")
        assert errors.dtype == ratings.hardest.dtype == pandas.Series(["x"], dtype="str").dtype
        assert errors.isna().tolist() == part.notna().tolist()
        assert ratings.minimal.dtype == "boolean" and ratings.minimal.isna().equals(errors.notna())
    pyarrow = pytest.importorskip("pyarrow")
    for other in [pandas.ArrowDtype(pyarrow.string()), pandas.ArrowDtype(pyarrow.large_string())]:
        solved = sudoku.solve_many(pandas.Series(made.puzzles[:50], dtype=other))
        assert solved.dtype == other and solved.tolist() == made.solutions[:50]
    nothing = pandas.Series([None, None], dtype=pandas.ArrowDtype(pyarrow.null()))
    assert sudoku.solve_many(nothing, errors="column").errors.tolist() == ["empty", "empty"]
    solved = sudoku.solve_many(pandas.Series(made.puzzles[:50]).astype("category"))
    assert solved.dtype == object and solved.tolist() == made.solutions[:50]
    # Columns are paired by their places.
    checks = sudoku.check_many(pandas.Series([PUZZLE], index=[1]), pandas.Series([SOLUTION], index=[7]))
    assert checks.verdict.to_dict() == {1: "right"}
    assert sudoku.solve_many(pandas.Index([PUZZLE])).to_dict() == {PUZZLE: SOLUTION}
    with pytest.raises(TypeError, match="a table"):
        sudoku.solve_many(pandas.DataFrame({"puzzle": made.puzzles[:5]}))


def test_anything_that_speaks_arrow() -> None:
    class Wrapped:
        def __init__(self, column: Any) -> None:
            self.column = column

        def __arrow_c_array__(self, requested_schema: object = None) -> Any:
            return self.column.__arrow_c_array__(requested_schema)

    solutions, errors = sudoku.solve_many([PUZZLE, "x"], errors="column")
    assert (solutions, errors) == ([SOLUTION, None], [None, "wrong_length"])
    pyarrow = pytest.importorskip("pyarrow")
    solved = sudoku.solve_many(Wrapped(pyarrow.array([PUZZLE] * 3)))
    assert isinstance(solved, sudoku.Column) and len(solved) == 3
    assert solved[0] == solved[-1] == SOLUTION and solved.to_list() == list(solved)
    with pytest.raises(IndexError):
        solved[3]
    # What comes out goes in again.
    assert sudoku.check_many(solved).verdict.to_list() == ["right"] * 3
    assert pyarrow.array(solved).to_pylist() == [SOLUTION] * 3


def test_the_first_error_is_raised_with_its_code_and_line(made: sudoku.Generated) -> None:
    cases = {
        "x": ("wrong_length", "Line 12346 has the wrong length. It has 1 cell; a 9x9 puzzle has 81."),
        "": ("wrong_length", "Line 12346 has the wrong length. It has 0 cells; a 9x9 puzzle has 81."),
        "q" + BLANK[1:]: ("invalid_character", "Line 12346 has an invalid character. It is 'q' in column 1."),
        "11" + BLANK[2:]: ("rule_broken", "Line 12346 breaks the rules: 1 appears twice in row 1."),
        "12345678........." + "9" + BLANK[18:]: ("no_solution", "Line 12346 has no solution."),
    }
    for bad, (code, sentence) in cases.items():
        texts = made.puzzles.copy()
        texts[12345] = bad
        texts[19999] = "y"
        for kind in [texts, tuple(texts)]:
            with pytest.raises(sudoku.PuzzleError) as raised:
                sudoku.solve_many(kind, threads=4)
            error = raised.value
            assert (str(error), error.code, error.line, error.index) == (sentence, code, 12346, 12345)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.code, again.line) == (sentence, code, 12346)
        solutions, errors = sudoku.solve_many(texts, errors="column")
        assert [k for k in range(20_000) if errors[k] is not None] == [12345, 19999]
        assert errors[12345] == code and solutions[12345] is None
        assert solutions[:12345] == made.solutions[:12345] and solutions[-2] == made.solutions[-2]


def test_errors_of_arrays() -> None:
    grids = digits([PUZZLE, PUZZLE, BLANK])
    grids[1, 5] = 10
    with pytest.raises(sudoku.PuzzleError, match="Line 2 has an invalid character. The value 10 is outside 1 to 9."):
        sudoku.solve_many(grids)
    solutions, errors = sudoku.solve_many(grids, unique=True, errors="column")
    assert errors.tolist() == [None, "invalid_character", "not_unique"]
    assert (solutions[1:] == 0).all() and (solutions[0] == digits([SOLUTION])[0]).all()
    # ASCII codes are not taken for digits.
    codes = numpy.frombuffer(PUZZLE.encode(), dtype=numpy.uint8).reshape(1, 81)
    assert sudoku.solve_many(codes, errors="column").errors.tolist() == ["invalid_character"]
    for shape in [(81,), (9, 9), (2, 80), (2, 9, 8), (2, 3, 3, 9), ()]:
        with pytest.raises(ValueError, match="shape"):
            sudoku.solve_many(numpy.zeros(shape, dtype=numpy.uint8))
    for dtype in ["int64", "float32", "int8", "bool"]:
        with pytest.raises(TypeError, match=f"{dtype}.*astype"):
            sudoku.solve_many(numpy.zeros((2, 81), dtype=dtype))
    for dtype in ["<U1", "object"]:
        with pytest.raises(TypeError, match=rf"type {dtype} and the shape \(2, 81\): pass texts in one dimension"):
            sudoku.solve_many(numpy.full((2, 81), ".", dtype=dtype))
    with pytest.raises(TypeError, match="one dimension"):
        sudoku.solve_many(numpy.array(PUZZLE))
    with pytest.raises(ValueError, match=r"the shape \(\)"):
        sudoku.solve_many(numpy.array(1, dtype=numpy.uint8))
    masked = numpy.ma.masked_equal(digits([PUZZLE]), 5)
    with pytest.raises(TypeError, match="masked cells"):
        sudoku.solve_many(masked)
    assert sudoku.count_many(masked.filled(0), limit=1).tolist() == [1]
    with pytest.raises(ValueError, match="^size is 4, and the array has puzzles of size 9.$"):
        sudoku.solve_many(grids, size=4)


def test_what_holds_no_puzzles_is_refused() -> None:
    with pytest.raises(TypeError, match="one text"):
        sudoku.solve_many(PUZZLE)
    with pytest.raises(TypeError, match="Item 1 is of type int, not a text. Read .*dtype=str"):
        sudoku.solve_many([PUZZLE, 3])
    with pytest.raises(TypeError):
        sudoku.solve_many(5)
    with pytest.raises(ValueError, match="errors="):
        sudoku.solve_many([PUZZLE], errors="ignore")
    for size in [8, 0, -9]:
        with pytest.raises(ValueError, match=f"^There is no size {size}: "):
            sudoku.solve_many([PUZZLE], size=size)
    for threads in [0, -1]:
        with pytest.raises(ValueError, match=f"^threads is {threads}: give 1 or more, or None.$"):
            sudoku.solve_many([PUZZLE], threads=threads)
    with pytest.raises(ValueError, match="alphabet"):
        sudoku.solve_many(["." * 16], size=4, alphabet="ab")
    for limit in [0, -1]:
        with pytest.raises(ValueError, match=f"^limit is {limit}: give 1 or more.$"):
            sudoku.count_many([BLANK], limit=limit)
        for name in ["solve_many", "count_many", "check_many", "canon_many", "rate_many"]:
            with pytest.raises(ValueError, match=f"^node_limit is {limit}: give 1 or more.$"):
                getattr(sudoku, name)([PUZZLE], node_limit=limit)
        with pytest.raises(ValueError, match=f"^attempts is {limit}: give 1 or more.$"):
            sudoku.generate(1, attempts=limit)
    for name in ["count", "clues", "seed"]:
        arguments: Any = {"count": 1, name: -1}
        with pytest.raises(ValueError, match=f"^{name} is -1: give 0 or more.$"):
            sudoku.generate(**arguments)
    with pytest.raises(ValueError, match=f"^seed is {2**64}: give less than 2\\*\\*64.$"):
        sudoku.generate(1, seed=2**64)
    with pytest.raises(ValueError, match=f"^limit is {2**64}: give less than 2\\*\\*64.$"):
        sudoku.count_many([BLANK], limit=2**64)
    with pytest.raises(TypeError, match="node_limit"):
        sudoku.solve_many([PUZZLE], node_limit="many")  # type: ignore[call-overload]
    polars = pytest.importorskip("polars")
    with pytest.raises(TypeError, match="collect it"):
        sudoku.solve_many(polars.LazyFrame({"puzzle": [PUZZLE]}))


def test_what_is_ambiguous_is_refused_with_what_to_do_here() -> None:
    rows = ("." * 16 + "\n") * 16
    cells = "".join("." + ",." * 80 + f",{row}\n" for row in range(1, 10))
    for text, advice in [
        ("1\n.\n1\n", "If this is a list of 1x1 puzzles, use solve_many."),
        (f"6\n{PUZZLE}\n{PUZZLE}\n", "is the number of puzzles, delete it."),
        ("F0" + "." * 254, 'Say which with alphabet="hex" or alphabet="letters".'),
        (rows, "Use solve_many for 4x4 puzzles, or write a 16x16 puzzle on one line."),
        (cells, "Leave out the first column or the last one."),
    ]:
        with pytest.raises(ValueError) as raised:
            sudoku.solve(text)
        assert str(raised.value).endswith(advice)
        assert "--" not in str(raised.value)


def test_nothing_is_something_too() -> None:
    assert sudoku.solve_many([]) == []
    assert sudoku.solve_many(numpy.zeros((0, 81), dtype=numpy.uint8)).shape == (0, 81)
    assert sudoku.check_many([]) == ([], [], [])
    assert sudoku.generate(0).puzzles == []
    pyarrow = pytest.importorskip("pyarrow")
    assert len(sudoku.solve_many(pyarrow.chunked_array([], type=pyarrow.string()))) == 0


def test_texts_in_a_list_are_one_puzzle_each_whatever_they_contain() -> None:
    texts = [PUZZLE, PUZZLE[:40] + "\n" + PUZZLE[40:], "# a comment", PUZZLE + " # easy", "  ", PUZZLE + "\n"]
    errors = sudoku.solve_many(texts, errors="column").errors
    assert errors == [None, "wrong_length", "wrong_length", None, "wrong_length", None]
    assert sudoku.solve_many(["", PUZZLE], errors="column").errors == ["wrong_length", None]
    missing = [None, float("nan"), numpy.float32("nan")]
    assert sudoku.solve_many([*missing, PUZZLE], errors="column").errors == ["empty"] * 3 + [None]
    assert sudoku.solve_many(["\udc80", PUZZLE], errors="column").errors == ["wrong_length", None]
    pandas = pytest.importorskip("pandas")
    assert sudoku.solve_many([pandas.NA, pandas.NaT, PUZZLE], errors="column").errors == ["empty"] * 2 + [None]


def test_other_sizes_and_alphabets() -> None:
    four = ["12..34..........", "1..............."]
    assert all(len(text) == 16 for text in sudoku.solve_many(four))
    assert sudoku.count_many(["................", four[0]], limit=100) == [100, sudoku.count_many([four[0]])[0]]
    sixteen = sudoku.generate(4, size=16, seed=1)
    assert sudoku.solve_many(sixteen.puzzles) == sixteen.solutions
    arrays = sudoku.generate(4, size=16, seed=1, arrays=True)
    assert arrays.puzzles.shape == (4, 256)
    assert (sudoku.solve_many(arrays.puzzles.reshape(4, 16, 16)) == arrays.solutions.reshape(4, 16, 16)).all()
    hexed = [text.translate(str.maketrans("123456789ABCDEFG", "0123456789ABCDEF")) for text in sixteen.puzzles]
    solved = sudoku.solve_many(hexed, alphabet="hex")
    back = str.maketrans("0123456789ABCDEF", "123456789ABCDEFG")
    assert [text.translate(back) for text in solved] == sixteen.solutions


def test_checks_find_what_is_wrong() -> None:
    wrong = SOLUTION[:40] + ("1" if SOLUTION[40] != "1" else "2") + SOLUTION[41:]
    changed = "1" + SOLUTION[1:]
    rows = [
        (PUZZLE, SOLUTION, ("right", None, None)),
        (PUZZLE, wrong, ("wrong", 5, 5)),
        (PUZZLE, changed, ("wrong", 1, 1)),
        (PUZZLE, PUZZLE, ("incomplete", None, None)),
        (PUZZLE, "x", ("wrong_solution", None, None)),
        (PUZZLE, None, ("incomplete", None, None)),
        (PUZZLE, "", ("incomplete", None, None)),
        (PUZZLE, "  ", ("incomplete", None, None)),
        ("x", SOLUTION, ("wrong_length", None, None)),
        ("55" + PUZZLE[2:], SOLUTION, ("rule_broken", None, None)),
        (BLANK, SOLUTION, ("right", None, None)),
    ]
    puzzles, solutions, wanted = zip(*rows)
    checks = sudoku.check_many(puzzles, solutions)
    assert list(zip(*checks)) == list(wanted)
    unique = sudoku.check_many(puzzles, solutions, unique=True)
    assert unique.verdict == [verdict for verdict, _, _ in wanted[:-1]] + ["not_unique"]
    by_array = sudoku.check_many(digits([PUZZLE] * 3), digits([SOLUTION, wrong, changed]))
    assert by_array.verdict.tolist() == ["right", "wrong", "wrong"]
    assert by_array.row.tolist() == [0, 5, 1] and by_array.column.tolist() == [0, 5, 1]
    # Kinds may be mixed, and the solutions may have blanks by another character.
    assert sudoku.check_many(digits([PUZZLE]), [SOLUTION]).verdict.tolist() == ["right"]
    with pytest.raises(ValueError, match="2 puzzles and 1 solution:"):
        sudoku.check_many([PUZZLE] * 2, [SOLUTION])
    with pytest.raises(ValueError, match="9x9.*4x4"):
        sudoku.check_many([PUZZLE], numpy.zeros((1, 16), dtype=numpy.uint8))


def disguised(puzzle: str, random: Any) -> str:
    """The puzzle under a random symmetry, by nothing but indices."""
    lines = [[3 * band + row for band in random.permutation(3) for row in random.permutation(3)] for _ in range(2)]
    labels = dict(zip("123456789", map(str, 1 + random.permutation(9))))
    cells = [(row, column) for row in lines[0] for column in lines[1]]
    if random.integers(2):
        cells = [(column, row) for row, column in cells]
    return "".join(labels.get(puzzle[9 * row + column], ".") for row, column in cells)


def test_disguises_have_one_canonical_form(made: sudoku.Generated) -> None:
    random = numpy.random.default_rng(5)
    # The third has several solutions.
    puzzles = [*made.puzzles[:60], BLANK, "12345678." + BLANK[9:]]
    forms = sudoku.canon_many(puzzles)
    assert len(set(forms)) == 62
    for _ in range(20):
        others = [disguised(puzzle, random) for puzzle in puzzles]
        assert others != puzzles and sudoku.canon_many(others) == forms
    assert (sudoku.canon_many(digits(puzzles)) == digits(forms)).all()
    # A form is a disguise itself.
    assert sudoku.canon_many(forms) == forms
    assert [form.count(".") for form in forms] == [puzzle.count(".") for puzzle in puzzles]
    by_puzzle = sudoku.canon_many(puzzles, by="puzzle")
    assert by_puzzle[-2:] == forms[-2:] and by_puzzle[0] != forms[0]
    found, errors = sudoku.canon_many([PUZZLE, BLANK, "x"], by="solution", errors="column")
    assert errors == [None, "not_unique", "wrong_length"] and found[1:] == [None, None]
    with pytest.raises(sudoku.PuzzleError, match="Line 2 has more than one solution."):
        sudoku.canon_many([PUZZLE, BLANK], by="solution")
    with pytest.raises(ValueError, match="9x9 puzzles; these are 4x4"):
        sudoku.canon_many(numpy.zeros((1, 16), dtype=numpy.uint8))
    with pytest.raises(ValueError, match="no basis"):
        sudoku.canon_many([PUZZLE], by="grid")


def test_ratings_are_those_of_the_program(made: sudoku.Generated) -> None:
    texts = made.puzzles[:40]
    ratings = sudoku.rate_many(texts)
    assert ratings.verdict == ["rated"] * 40
    assert all(1.0 <= er < 12 and er >= ep >= ed for er, ep, ed in zip(ratings.er, ratings.ep, ratings.ed))
    assert ratings.clues == [81 - text.count(".") for text in texts]
    assert ratings.minimal == [True] * 40
    limited = sudoku.rate_many(digits(texts), up_to=1.5)
    assert limited.verdict.tolist() == ["rated" if er <= 1.5 else "above" for er in ratings.er]
    assert numpy.isnan(limited.er).tolist() == [er > 1.5 for er in ratings.er]
    with pytest.raises(sudoku.PuzzleError, match="Line 2 has more than one solution."):
        sudoku.rate_many([PUZZLE, BLANK])
    bad = sudoku.rate_many([PUZZLE, BLANK, "x"], errors="column")
    assert bad.verdict == ["rated", "not_unique", "wrong_length"]
    assert bad.clues == [30, 0, None] and bad.er == [1.2, None, None] and bad.minimal[1:] == [None, None]
    with pytest.raises(ValueError, match="rating"):
        sudoku.rate_many([PUZZLE], up_to=99)
    with pytest.raises(ValueError, match='^"1.16" is no rating: .* one decimal'):
        sudoku.rate_many([PUZZLE], up_to=1.16)
    with pytest.raises(TypeError, match="^up_to is '1.2': give a number"):
        sudoku.rate_many([PUZZLE], up_to="1.2")  # type: ignore[arg-type]
    for up_to in [1.1 + 0.1, numpy.float32(1.2), 2]:
        assert sudoku.rate_many([PUZZLE], up_to=up_to).verdict == ["rated"]
    with pytest.raises(ValueError, match='^"no-such-wing" is no technique and no family[^.]*. Families are [^.]*fish[^.]*.$'):
        sudoku.rate_many([PUZZLE], techniques="no-such-wing")
    with pytest.raises(ValueError, match="^No technique is named.$"):
        sudoku.rate_many([PUZZLE], techniques=" , ")


def test_making_puzzles_is_reproducible(made: sudoku.Generated) -> None:
    assert sudoku.generate(20_000, seed=11, threads=1) == made
    assert all(map(solves, made.puzzles[:200], made.solutions[:200]))
    arrays = sudoku.generate(200, seed=11, arrays=True)
    assert (arrays.puzzles == digits(made.puzzles[:200])).all()
    assert (arrays.solutions == digits(made.solutions[:200])).all()
    assert sudoku.generate(1).seed != sudoku.generate(1).seed
    assert sudoku.generate(50, clues="26", seed=2) == sudoku.generate(50, clues=26, seed=2)
    counts = {81 - text.count(".") for text in sudoku.generate(50, clues="25..27", seed=2).puzzles}
    assert counts == {25, 26, 27}
    assert sudoku.rate_many(sudoku.generate(2, rating=1.5, seed=2).puzzles).er == [1.5, 1.5]
    with pytest.raises(ValueError, match="fewer than 17 clues"):
        sudoku.generate(1, clues=16)
    with pytest.raises(ValueError, match="^`few` is no range of clues"):
        sudoku.generate(1, clues="few")
    with pytest.raises(ValueError, match="no symmetry"):
        sudoku.generate(1, symmetry="round")
    with pytest.raises(ValueError, match='^"fish" names several techniques: give one of x-wing, swordfish, jellyfish.$'):
        sudoku.generate(1, technique="fish")
    with pytest.raises(ValueError, match='^"foo" is no technique: give one of last-cell, .*x-wing'):
        sudoku.generate(1, technique="foo")
    with pytest.raises(RuntimeError, match="Gave up after 1 attempt:"):
        sudoku.generate(50, clues=22, minimal=True, attempts=1, seed=1)


def test_other_threads_go_on_meanwhile() -> None:
    ticks = 0
    stop = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not stop.wait(0.001):
            ticks += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        began = time.monotonic()
        sudoku.count_many(["." * 625] * 2, limit=10**9, node_limit=20_000, errors="column", threads=1)
        assert time.monotonic() - began < 0.05 or ticks > before
    finally:
        stop.set()
        thread.join()


def test_ctrl_c_ends_a_long_run() -> None:
    code = (
        "import sudoku_stream as s\n"
        "print('begun', flush=True)\n"
        "s.count_many(['.' * 625] * 64, limit=10**12, node_limit=10**12, threads=1)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode != 0 and "KeyboardInterrupt" in errors


def test_lists_need_no_numpy() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import sudoku_stream as s\n"
        f"print(s.solve_many([{PUZZLE!r}])[0], s.check_many([{SOLUTION!r}]).verdict)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{SOLUTION} ['right']\n"


@pytest.mark.parametrize(
    "call",
    [
        # Refused before it makes puzzles for hours.
        "s.generate(10**9, arrays=True)",
        "s._native.solve(read([PUZZLE], None, None)[0], False, 1000, 1, True, True)[0].to_numpy()",
        "s._native.solve(read([PUZZLE], None, None)[0], False, 1000, 1, True, True)[1].to_numpy()",
        "s._native.solve(read([PUZZLE], None, None)[0], False, 1000, 1, True, False)",
        "s._native.canon(read([PUZZLE], 9, None)[0], None, 1000, 1, True, False)",
        "s._native.Puzzles.from_array([PUZZLE])",
    ],
)
def test_arrays_without_numpy_are_an_import_error(call: str) -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "import sudoku_stream as s\n"
        "from sudoku_stream._kinds import read\n"
        f"PUZZLE = {PUZZLE!r}\n"
        "try:\n"
        f"    {call}\n"
        "except ModuleNotFoundError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "Arrays need NumPy, which is not installed: pip install numpy.\n", done.stderr


def test_an_array_that_is_written_to_meanwhile_is_read_as_some_array() -> None:
    grids = digits([PUZZLE] * 50_000)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            grids[:, 3] = 200
            grids[:, 3] = 0

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(3):
            solutions, errors = sudoku.solve_many(grids, errors="column")
            good = errors == None  # noqa: E711
            assert (solutions[good] == digits([SOLUTION])).all()
            assert set(errors[~good]) <= {"invalid_character"}
    finally:
        stop.set()
        thread.join()


def test_the_program_gives_the_same_answers(made: sudoku.Generated) -> None:
    program = os.environ.get("SUDOKU")
    if not program:
        pytest.skip("SUDOKU names no program")
    texts = [*made.puzzles[:2000], "x", BLANK, "55" + BLANK[2:], *made.puzzles[2000:3000]]
    text = "".join(line + "\n" for line in texts)
    run = [program, "solve", "-", "--question", "unique", "--notation", "lines"]
    done = subprocess.run(run, input=text, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    solutions, errors = sudoku.solve_many(texts, unique=True, errors="column")
    assert len(lines) == len(texts)
    for k, line in enumerate(lines):
        if errors[k] is None:
            assert line == solutions[k]
            continue
        with pytest.raises(sudoku.PuzzleError) as raised:
            sudoku.solve_many([PUZZLE] * k + [texts[k]], unique=True)
        assert line == f"error: {raised.value}"
    assert [code for code in errors if code] == ["wrong_length", "not_unique", "rule_broken"]


def test_buffers_of_other_kinds_are_no_puzzles() -> None:
    with pytest.raises(TypeError):
        sudoku.solve_many(array.array("B", bytes(81)))


def test_the_package_shows_what_it_means_to() -> None:
    shown = [name for name in dir(sudoku) if not name.startswith("_")]
    assert shown == sorted(["NODE_LIMIT", *sudoku.__all__])
    assert all(hasattr(sudoku, name) for name in dir(sudoku))


def test_the_package_has_its_licences_and_a_readme_without_dead_links() -> None:
    package = importlib.metadata.distribution("sudoku-stream")
    licences = [path.name for path in package.files or [] if "licenses" in path.parts]
    assert sorted(licences) == ["LICENSE-APACHE", "LICENSE-MIT"]
    metadata = package.read_text("METADATA") or ""
    assert metadata.count("License-File: ") == 2 and "# sudoku-stream for Python" in metadata
    # A package index has no other files of the repository.
    assert [link for link in re.findall(r"\]\(([^)]+)\)", metadata) if not link.startswith("https://")] == []
