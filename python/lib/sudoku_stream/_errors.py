"""The exception of a bad puzzle."""

from __future__ import annotations

from typing import Optional

__all__ = ["PuzzleError"]


class PuzzleError(ValueError):
    """What is wrong with one puzzle.

    ``str(error)`` is the exact sentence, as all parts of sudoku-stream write it.
    """

    code: str
    """The stable code, such as ``no_solution`` or ``invalid_character``."""
    line: Optional[int]
    """The number of the puzzle in its list, from 1; ``None`` for a puzzle by itself."""

    def __init__(self, message: str, code: str, line: Optional[int] = None) -> None:
        super().__init__(message)
        self.code = code
        self.line = line

    @property
    def index(self) -> Optional[int]:
        """The place of the puzzle in its list, from 0; ``None`` for a puzzle by itself."""
        return None if self.line is None else self.line - 1

    def __reduce__(self) -> tuple[type[PuzzleError], tuple[str, str, Optional[int]]]:
        return (type(self), (str(self), self.code, self.line))
