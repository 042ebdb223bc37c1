"""Why a call cannot be repeated without its Python."""

from __future__ import annotations

from ...foundations.errors import Site


class GivenUp(Exception):
    """A program cannot be traced; only raised if the caller asked for the whole program in one graph."""


class Reason:
    """Why a program cannot be repeated without its Python, and on which line.

    `passing` says that another thread is the reason, so that the next call may be traced.
    """

    def __init__(self, words: str, site: Site | None, passing: bool = False) -> None:
        self.words, self.site, self.passing = words, site, passing

    def __str__(self) -> str:
        return self.words if self.site is None else f"{self.words}, in {self.site}"
