"""Every nesting to third order of the ways to differentiate, on every curve: how many are right here, and in PyTorch.

    python -W ignore -m comparing.nesting_counts           # from the folder tests/, or as `make nestings`

Each derivative is compared with differences of the curve. The counts go into docs/derivatives.md. The curves for which
PyTorch gives a wrong number, without an error, go into docs/differences.md with the right number. Every derivative that
is wrong here is printed, and the command fails.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from functools import cache
from multiprocessing import get_context
from typing import Any, NamedTuple

import torch

import retrograd
from comparing.curves import at, derivative
from comparing.derivatives import PAGE
from comparing.nestings import NESTINGS, X, is_near, nested, order, ways
from comparing.subgradients import replaced, rows

LIBRARIES: dict[str, Any] = {"retrograd": retrograd, "PyTorch": torch}
DIFFERENCES = PAGE.with_name("differences.md")
ORDERS = {1: "first", 2: "second", 3: "third"}


class Found(NamedTuple):
    """What a nesting gives for a curve: a number, or None where the library raised an error."""

    curve: str
    nesting: tuple[str, ...]
    number: float | None
    right: float

    @property
    def said(self) -> str:
        if self.number is None:
            return "refused"
        return "right" if is_near(self.number, self.right, order(self.nesting)) else "wrong"


def derivatives(library: str, text: str, nestings: Iterable[tuple[str, ...]] = NESTINGS) -> list[Found]:
    """What a library gives for a curve, by every nesting."""
    t = LIBRARIES[library]
    curve, library_ways = at(t, ours=t is retrograd)[text], ways(t)
    found = []
    for nesting in nestings:
        try:
            number = nested(library_ways, nesting, curve)(t.tensor(X, dtype=t.float64)).item()
        except Exception:
            number = None
        found.append(Found(text, nesting, number, by_differences(text, order(nesting))))
    return found


@cache
def by_differences(text: str, degree: int) -> float:
    curve = at(retrograd, ours=True)[text]
    return derivative(lambda x: curve(retrograd.tensor(x, dtype=retrograd.float64)).item(), X, degree)


def _task(task: tuple[str, str]) -> tuple[str, list[Found]]:
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    return task[0], derivatives(*task)


def counts(found: dict[str, list[Found]]) -> str:
    """The table of orders: how many derivatives there are, and what each library makes of them."""
    lines = []
    for degree, name in ORDERS.items():
        of = {library: Counter(each.said for each in every if order(each.nesting) == degree)
              for library, every in found.items()}
        nestings = sum(order(nesting) == degree for nesting in NESTINGS)
        theirs, mine = of["PyTorch"], of["retrograd"]
        lines.append((name, *(f"{number:,}" for number in (
            nestings, mine.total(), mine["right"], theirs["right"], theirs["refused"], theirs["wrong"]))))
    return rows(("order", "nestings", "derivatives", "right in retrograd", "right in PyTorch", "refused by PyTorch",
                 "wrong in PyTorch"), *lines)


def wrong_curves(found: list[Found]) -> str:
    """The table of curves for which PyTorch is wrong: how many nestings are, and one of the lowest order."""
    lines = []
    for text in dict.fromkeys(each.curve for each in found):
        of = [each for each in found if each.curve == text]
        wrong = sorted((each for each in of if each.said == "wrong"), key=lambda each: order(each.nesting))
        if wrong:
            first = wrong[0]
            shares = [f"{sum(order(each.nesting) == degree for each in wrong)}" for degree in ORDERS]
            lines.append((f"`{text}`", *shares, " of ".join(reversed([f"`{way}`" for way in first.nesting])),
                          _shown(first.number), _shown(first.right)))
    return rows(("function of `x`", *(f"wrong at {name} order" for name in ORDERS.values()), "for example", "PyTorch",
                 "right"), *lines)


def _shown(number: float | None) -> str:
    assert number is not None
    return "nan" if math.isnan(number) else f"{number:.5g}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="compute only with retrograd, and write no pages")
    options = parser.parse_args()
    libraries = ["retrograd"] if options.check else [*LIBRARIES]
    found: dict[str, list[Found]] = {library: [] for library in libraries}
    with get_context("spawn").Pool(options.processes) as pool:
        tasks = [(library, text) for text in at(retrograd, ours=True) for library in libraries]
        for library, some in pool.imap(_task, tasks):
            found[library] += some
            for each in some:
                if library == "retrograd" and each.said != "right":
                    print(each.said, each, flush=True)
    if not options.check:
        write(found)
    mine = found["retrograd"]
    print(f"{sum(each.said == 'right' for each in mine):,} of {len(mine):,} derivatives are right")
    return int(any(each.said != "right" for each in mine))


def write(found: dict[str, list[Found]]) -> None:
    """Bring the two pages up to date."""
    wrong = wrong_curves(found["PyTorch"])
    for page, name, table in ((PAGE, "nestings", counts(found)), (DIFFERENCES, "wrong", wrong)):
        page.write_text(replaced(page.read_text(encoding="utf-8"), {name: table}), encoding="utf-8")
        print(table)


if __name__ == "__main__":
    sys.exit(main())
